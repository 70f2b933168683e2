// Tolerances: standard deviations and contributions immediately, distributions from samples a moment later.

import { Plot } from "./plot.js";
import { quantity, quantityOf, typed } from "./studio_units.js";

const COLOUR = "#1f5fbf";
const LIMIT_NEAR = 3; // a limit is drawn if the range of the histogram grows by less than this factor

// fraction of sorted values that are below `low` or above `high`; null means no limit
export function failing(values, [low, high]) {
  let count = 0;
  for (const value of values) if ((low !== null && value < low) || (high !== null && value > high)) count++;
  return values.length ? count / values.length : NaN;
}

function add(parent, name, className, text = "") {
  return parent.appendChild(Object.assign(document.createElement(name), { className, textContent: text }));
}

// cost of a tolerance, interpolated between the available ones, which are equally spaced on a logarithmic scale
export function costOf({ widths, costs }, width) {
  const last = widths.length - 1;
  const place = Math.min(last, Math.max(0, (last * Math.log(width / widths[0])) / Math.log(widths[last] / widths[0])));
  const k = Math.min(last - 1, Math.floor(place));
  return costs[k] + (place - k) * (costs[k + 1] - costs[k]);
}

export class Tolerances {
  constructor(place, link) {
    Object.assign(this, { place, link, cards: new Map(), names: null, units: new Map() });
    this.widths = add(place, "div", "widths");
    this.cost = add(place, "p", "cost");
    this.job = add(place, "div", "jobs");
    this.allocate = this.action("Allocate", "The cheapest tolerances for the risk that studies: allocate: of the text states", () => link.send("job", { what: "allocate" }));
    this.cancel = this.action("Cancel", "End the computation", () => link.send("cancel"));
    this.take = this.action("Take over", "Write these tolerances into the text; this can be undone", () => link.send("take_result"));
    this.progress = add(this.job, "progress", "");
    this.result = add(this.job, "pre", "result");
    this.setJob(null);
    this.list = add(place, "div", "");
    this.hint = add(place, "p", "soft", "No parameter has a tolerance yet: type one above. Objectives stand under studies: objectives: in the text.");
  }

  action(textContent, title, onclick) {
    return Object.assign(add(this.job, "button", ""), { type: "button", textContent, title, onclick });
  }

  // an allocation: its progress, and the resulting tolerances
  setJob(job) {
    const running = Boolean(job) && job.status === "running", own = Boolean(job) && job.kind === "allocate";
    this.allocate.disabled = running;
    this.cancel.hidden = this.progress.hidden = !(running && own);
    this.take.hidden = !(own && job.status === "done");
    this.result.textContent = own ? job.text || job.note : "";
    this.result.hidden = !this.result.textContent;
    if (own && job.share !== null) this.progress.value = job.share;
    else this.progress.removeAttribute("value");
  }

  // total cost of all tolerances that can be chosen
  showCost() {
    const costs = [...this.chosen.values()].map(({ choice, width }) => costOf(choice, width));
    this.job.hidden = costs.length === 0;
    this.cost.textContent = costs.length ? `cost of the tolerances: ${costs.reduce((a, b) => a + b).toPrecision(4)}` : "";
  }

  // a slider from the finest tolerance to the widest one, with its cost
  slider(parameter, field) {
    const { name, tolerance, choice } = parameter;
    const slider = document.createElement("input"), cost = document.createElement("output"), last = choice.widths.length - 1;
    const show = (width) => {
      this.chosen.set(name, { choice, width });
      cost.textContent = `costs ${costOf(choice, width).toPrecision(3)}`;
      this.showCost();
    };
    Object.assign(slider, { type: "range", min: 0, max: last, step: 1 });
    slider.value = Math.round((last * Math.log(tolerance / choice.widths[0])) / Math.log(choice.widths[last] / choice.widths[0]));
    slider.setAttribute("aria-label", `Tolerance of ${name}, finer to wider`);
    slider.oninput = () => {
      const width = choice.widths[slider.valueAsNumber];
      field.value = quantityOf(parameter, width);
      show(width);
    };
    slider.onchange = () => {
      this.link.send("tolerance", { name, width: choice.widths[slider.valueAsNumber] });
      slider.blur();
    };
    show(tolerance);
    return [slider, cost];
  }

  // a field for the tolerance of each parameter
  setParameters(parameters) {
    if (this.widths.contains(document.activeElement)) return; // do not replace a value that is being typed
    this.chosen = new Map();
    this.widths.replaceChildren(...parameters.map((parameter) => {
      const { name, tolerance, varies, choice } = parameter;
      const label = document.createElement("label"), field = document.createElement("input");
      add(label, "span", "", `${name} ±`);
      field.value = tolerance === null ? (varies ? "distribution" : "") : quantityOf(parameter, tolerance);
      field.disabled = varies && tolerance === null; // the text defines another distribution
      field.placeholder = "none";
      field.setAttribute("aria-label", `Tolerance of ${name}`);
      field.onchange = () => {
        this.link.send("tolerance", { name, width: typed(parameter, field.value) }, field);
        field.blur();
      };
      if (choice) label.append(...this.slider(parameter, field));
      label.append(field);
      return label;
    }));
    this.showCost();
  }

  // first-order moments: name, unit, value, deviation, shares, limits
  setMoments(objectives) {
    const names = objectives.map((o) => o.name).join("\n");
    if (names !== this.names) {
      this.names = names;
      this.cards.clear();
      this.list.replaceChildren(...objectives.map((o) => this.build(o)));
    }
    this.hint.hidden = objectives.length > 0;
    for (const objective of objectives) this.showMoments(this.cards.get(objective.name), objective);
  }

  build({ name, limits }) {
    const card = document.createElement("div");
    card.className = "number";
    add(card, "div", "name", name);
    const entry = { card, moments: add(card, "strong", ""), shares: add(card, "div", "effect"), plot: null, limits: [...limits], samples: null };
    entry.area = add(card, "div", "plot-area histogram");
    const row = add(card, "div", "limits");
    entry.fields = ["at least", "at most"].map((text, k) => {
      const label = add(row, "label", "", `${text} `), field = label.appendChild(document.createElement("input"));
      field.value = limits[k] === null ? "" : String(limits[k]);
      field.inputMode = "decimal";
      field.oninput = () => {
        entry.limits[k] = field.value.trim() === "" || !Number.isFinite(Number(field.value)) ? null : Number(field.value);
        if (entry.samples) this.showSamples(entry);
      };
      return field;
    });
    entry.failing = add(row, "b", "failing");
    entry.quantiles = add(card, "p", "soft");
    this.cards.set(name, entry);
    return card;
  }

  showMoments(entry, { value, unit, deviation, shares }) {
    entry.unit = unit;
    entry.moments.textContent = `${quantity(value, unit, 5)} ± ${quantity(3 * deviation, unit, 3)}`;
    entry.moments.title = "Value ± three standard deviations, to first order";
    entry.shares.replaceChildren();
    for (const [name, share] of Object.entries(shares).sort((a, b) => b[1] - a[1])) {
      add(entry.shares, "span", "", name);
      add(add(entry.shares, "span", "bar-area shares"), "i", "").style.cssText = `left: 0; width: ${Math.max(0, 100 * share)}%`;
      add(entry.shares, "span", "", `${(100 * share).toFixed(1)} %`);
    }
  }

  // distributions of samples: name, values (sorted), histogram, quantiles
  setSamples(objectives) {
    for (const samples of objectives) {
      const entry = this.cards.get(samples.name);
      if (!entry || !samples.histogram) continue;
      entry.samples = samples;
      const [low, , median, , high] = samples.quantiles.map((q) => quantity(q.value, entry.unit));
      entry.quantiles.textContent = `${samples.count} samples${samples.failed ? ` (${samples.failed} more could not be run)` : ""}: median ${median}; 99.73 % between ${low} and ${high}; σ ${quantity(samples.deviation, entry.unit, 3)}`;
      this.showSamples(entry);
    }
  }

  // limits that are near the samples are drawn
  marks({ limits, samples: { histogram: { start, width, counts } } }) {
    const end = start + counts.length * width;
    return limits.filter((limit) => limit !== null && Math.max(end, limit) - Math.min(start, limit) < LIMIT_NEAR * (end - start));
  }

  showSamples(entry) {
    const { samples, unit, area } = entry;
    const spec = { title: samples.name, over_time: false, x: { label: samples.name, unit }, y: { label: "samples" }, curves: [], marks: this.marks(entry), histogram: { name: "samples", colour: COLOUR, ...samples.histogram } };
    if (entry.plot) entry.plot.setData(spec);
    else entry.plot = new Plot(area, spec);
    this.showFailing(entry);
  }

  showFailing({ samples, limits, failing: place }) {
    const none = !samples || limits.every((limit) => limit === null);
    place.textContent = none ? "" : `fails: ${(100 * failing(samples.values, limits)).toFixed(2)} %`;
  }

  theme() {
    for (const { plot } of this.cards.values()) if (plot) plot.theme();
  }
}
