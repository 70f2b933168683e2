// Comparison of designs, and long computations that produce designs.

import { quantity, quantityOf } from "./studio_units.js";

function cell(row, name, text, className = "") {
  return row.appendChild(Object.assign(document.createElement(name), { textContent: text, className }));
}

function action(text, title, onclick) {
  return Object.assign(document.createElement("button"), { type: "button", textContent: text, title, onclick });
}

export class Designs {
  constructor(place, link) {
    Object.assign(this, { place, link, kept: [], ghost: null, parameters: [] });
    this.keep = action("Keep this design", "Keep it beside others, to compare it or to come back", () => link.send("keep", { name: this.nextName() }));
    this.table = document.createElement("table");
    this.table.className = "designs";
    this.jobs = document.createElement("div");
    this.jobs.className = "jobs";
    this.optimise = action("Optimise", "The optimize study of the text", () => link.send("job", { what: "optimize" }));
    this.allocate = action("Allocate", "The allocate study of the text: the cheapest tolerances", () => link.send("job", { what: "allocate" }));
    this.fit = action("Fit", "The fit study of the text: parameters for which the motion meets measured data", () => link.send("job", { what: "fit" }));
    this.certify = action("Certify", "How many digits of the gradient can be trusted", () => link.send("job", { what: "certify" }));
    this.cancel = action("Cancel", "End the computation", () => link.send("cancel"));
    this.take = action("Take over", "Go on with the design that was found; this can be undone", () => link.send("take_result"));
    this.progress = document.createElement("progress");
    this.note = Object.assign(document.createElement("p"), { className: "soft" });
    this.result = Object.assign(document.createElement("pre"), { className: "result" });
    this.jobs.append(this.optimise, this.allocate, this.fit, this.certify, this.cancel, this.take, this.progress, this.note, this.result);
    place.append(this.keep, this.table, this.jobs);
  }

  // A, B, …, Z, then numbers
  nextName() {
    const names = Array.from({ length: 26 }, (_, k) => String.fromCharCode(65 + k));
    return names.find((name) => !this.kept.includes(name)) || String(this.kept.length + 1);
  }

  setState({ kept, ghost, parameters, job }) {
    Object.assign(this, { kept, ghost, parameters });
    const running = Boolean(job) && job.status === "running";
    this.optimise.disabled = this.allocate.disabled = this.fit.disabled = this.certify.disabled = running;
    this.cancel.hidden = this.progress.hidden = !running;
    this.take.hidden = !(job && job.status === "done" && job.values);
    this.result.hidden = !(job && job.text);
    this.result.textContent = (job && job.text) || "";
    this.note.textContent = job ? [job.kind, job.status, `${job.seconds.toFixed(0)} s`, job.note].filter(Boolean).join(", ") : "";
    if (job && job.share !== null) this.progress.value = job.share;
    else this.progress.removeAttribute("value");
  }

  // numbers of all designs, the current one first
  setDesigns(designs) {
    const [now, ...others] = designs, rows = [];
    const head = document.createElement("tr");
    cell(head, "th", "");
    cell(head, "th", "now");
    for (const { name } of others) head.append(this.heading(name));
    rows.push(head);
    for (const { name, value, unit } of now.objectives || []) {
      rows.push(this.row(name, value, (number, digits) => quantity(number, unit, digits), others.map(({ objectives }) => objectives && (objectives.find((o) => o.name === name) || {}).value), "objective"));
    }
    for (const parameter of this.parameters) {
      const { name } = parameter;
      rows.push(this.row(name, now.values[name], (number, digits) => quantityOf(parameter, number, digits), others.map(({ values }) => values && values[name])));
    }
    this.table.replaceChildren(...rows);
  }

  heading(name) {
    const place = document.createElement("th"), shown = this.ghost === name;
    place.append(name, " ");
    place.append(action("take", `Go on with design ${name}`, () => this.link.send("take", { name })));
    const ghost = action("ghost", `Draw design ${name} behind this one`, () => this.link.send("compare", { name: shown ? null : name }));
    ghost.setAttribute("aria-pressed", String(shown));
    place.append(ghost, action("×", `Keep design ${name} no longer`, () => this.link.send("forget", { name })));
    return place;
  }

  row(name, value, written, others, className = "") {
    const row = document.createElement("tr");
    row.className = className;
    cell(row, "th", name);
    cell(row, "td", written(value, 5));
    for (const other of others) {
      const place = cell(row, "td", written(other, 5)), change = other - value;
      if (Number.isFinite(change) && change !== 0) cell(place, "small", ` ${change > 0 ? "+" : ""}${written(change, 3)}`);
    }
    return row;
  }
}
