// Parameters as sliders, with fields for values with units.

import { quantityOf, typed } from "./studio_units.js";

export class Sliders {
  constructor(place, link) {
    Object.assign(this, { place, link, rows: new Map(), held: null, typing: null });
  }

  // `parameters`: as the session lists them
  update(parameters) {
    const names = parameters.map((p) => p.name).join("\n");
    if (names !== this.names) {
      this.names = names;
      this.rows.clear();
      this.place.replaceChildren(...parameters.map((p) => this.build(p)));
    }
    for (const p of parameters) this.show(p);
  }

  build({ name }) {
    const row = document.createElement("div");
    row.className = "slider";
    row.innerHTML = '<header><input type="checkbox" class="follows" checked><span class="name"></span><button type="button" class="reset">reset</button><input class="value" inputmode="decimal"></header>'
      + '<input type="range" step="any"><div class="range"><span class="low"></span><span class="tolerance"></span><span class="high"></span></div>';
    const part = (selector) => row.querySelector(selector), range = part("input[type=range]"), value = part(".value");
    part(".name").textContent = name;
    Object.assign(part(".follows"), { title: `${name} follows handles`, ariaLabel: `${name} follows handles` });
    range.setAttribute("aria-label", name);
    value.setAttribute("aria-label", `Value of ${name}`);
    range.oninput = () => {
      this.held = name;
      this.write(name, Number(range.value));
      this.link.sendNewest("set", { values: { [name]: Number(range.value) } });
    };
    range.onchange = () => {
      this.held = null;
      this.link.sendLast("set", { values: { [name]: Number(range.value) }, final: true });
    };
    value.oninput = () => (this.typing = name);
    value.onchange = () => {
      this.typing = null;
      this.link.sendLast("set", { values: { [name]: typed(this.rows.get(name).p, value.value) }, final: true }, value);
    };
    value.onblur = () => (this.typing = null);
    value.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      this.typing = null;
      this.write(name, this.rows.get(name).p.now);
    };
    part(".reset").onclick = () => this.link.sendLast("set", { values: { [name]: this.rows.get(name).p.value }, final: true });
    this.rows.set(name, { row, range, value, part, p: null });
    return row;
  }

  // names of parameters that handles may change
  following() {
    return [...this.rows].filter(([, { part }]) => part(".follows").checked).map(([name]) => name);
  }

  show(p) {
    const entry = this.rows.get(p.name), { range, part } = entry;
    entry.p = p;
    range.min = Math.min(p.low, p.now);
    range.max = Math.max(p.high, p.now);
    part(".low").textContent = quantityOf(p, p.low);
    part(".high").textContent = quantityOf(p, p.high);
    part(".tolerance").textContent = p.tolerance === null ? "" : `± ${quantityOf(p, p.tolerance)}`;
    part(".reset").classList.toggle("on", p.now !== p.value);
    part(".reset").title = `Back to ${quantityOf(p, p.value)}`;
    if (this.held === p.name) return; // the slider is being dragged
    range.value = p.now;
    if (this.typing !== p.name) this.write(p.name, p.now);
  }

  write(name, number) {
    const { value, p } = this.rows.get(name);
    value.value = quantityOf(p, number, 5);
    value.removeAttribute("aria-invalid");
  }
}
