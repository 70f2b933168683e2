// The drawing board: the mechanism as an SVG drawing, in a view that pans and zooms.

import { niceLength } from "./camera.js";

const SPACE = "http://www.w3.org/2000/svg";
const HIT = 14; // distance (pixels) within which a point is hit
const CELL = 28; // smallest distance (pixels) between grid lines

export function svg(kind, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// outline of a spring from the origin to (length, 0)
function springPath(length) {
  const turns = Math.max(3, Math.round(length / 14)), lead = Math.min(10, length / 6), step = (length - 2 * lead) / (2 * turns);
  const teeth = Array.from({ length: 2 * turns }, (_, k) => `L${lead + (k + 0.5) * step} ${k % 2 ? 7 : -7}`);
  return `M0 0L${lead} 0${teeth.join("")}L${length - lead} 0L${length} 0`;
}

function damperPath(length) {
  const middle = length / 2;
  return `M0 0H${middle}M${middle} -6V6M${middle - 10} -8H${middle + 10}M${middle - 10} 8H${middle + 10}M${middle + 10} -8V8M${middle + 10} 0H${length}`;
}

export class Board {
  constructor(place) {
    Object.assign(this, { place, scale: 1200, centre: [0.15, 0.1], drawing: null, chosen: null, moved: new Map() });
    this.layers = Object.fromEntries(["grid", "items", "preview"].map((name) => [name, svg("g", { class: name })]));
    place.replaceChildren(...Object.values(this.layers));
    new ResizeObserver(() => this.draw()).observe(place);
  }

  get step() {
    return niceLength((CELL * 2.5) / this.scale);
  }

  // pixels of a position (m), and the inverse
  seen([x, y]) {
    const { clientWidth, clientHeight } = this.place;
    return [clientWidth / 2 + (x - this.centre[0]) * this.scale, clientHeight / 2 - (y - this.centre[1]) * this.scale];
  }

  placeAt([u, v]) {
    const { clientWidth, clientHeight } = this.place;
    return [this.centre[0] + (u - clientWidth / 2) / this.scale, this.centre[1] - (v - clientHeight / 2) / this.scale];
  }

  pan(dx, dy) {
    this.centre = [this.centre[0] - dx / this.scale, this.centre[1] + dy / this.scale];
    this.draw();
  }

  zoom(factor, at) {
    const before = this.placeAt(at);
    this.scale = Math.max(1, Math.min(1e6, this.scale * factor));
    const after = this.placeAt(at);
    this.centre = this.centre.map((c, k) => c + before[k] - after[k]);
    this.draw();
  }

  // shows the whole drawing
  fit() {
    const places = this.drawing ? this.drawing.nodes.map((n) => n.place) : [];
    if (places.length > 1) {
      const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((k) => f(...places.map((p) => p[k]))));
      this.centre = low.map((x, k) => (x + high[k]) / 2);
      const room = [this.place.clientWidth, this.place.clientHeight];
      this.scale = Math.min(...room.map((pixels, k) => (0.65 * pixels) / Math.max(high[k] - low[k], 1e-3)));
    }
    this.draw();
  }

  setData(drawing) {
    this.drawing = drawing;
    this.nodes = new Map(drawing.nodes.map((n) => [n.name, n]));
    this.moved.clear();
    if (this.chosen && !this.find(this.chosen)) this.chosen = null;
    this.draw();
  }

  find({ kind, name }) {
    const { nodes, links, sliders, forces } = this.drawing;
    return { point: nodes, link: links, slider: sliders, force: forces }[kind].find((each) => each.name === name);
  }

  where(name) {
    return this.moved.get(name) || (this.nodes.get(name) || {}).place;
  }

  // the point under the pointer: moving points first, because links are joined at these
  nodeAt(at, except = null) {
    const near = (node) => Math.hypot(...this.seen(node.place).map((x, k) => x - at[k]));
    const hit = this.drawing.nodes.filter((node) => node.name !== except && near(node) < HIT);
    return hit.sort((a, b) => near(a) - near(b) || a.fixed - b.fixed)[0] || null;
  }

  draw() {
    this.drawGrid();
    const { drawing, layers } = this;
    if (!drawing) return;
    const wrong = new Set(drawing.findings.map((f) => f.at));
    const shown = [...drawing.links.map((l) => this.link(l, wrong)), ...drawing.forces.map((f) => this.force(f)), ...drawing.sliders.map((s) => this.slider(s, wrong)),
      ...drawing.drivers.map((d) => this.driver(d)), ...drawing.nodes.map((n) => this.node(n, wrong))];
    layers.items.replaceChildren(...[...shown, ...drawing.findings.map((f) => this.note(f))].filter(Boolean));
  }

  // missing items, at the positions where they belong
  note({ message, at }) {
    const link = this.drawing.links.find((l) => l.name === at), slider = this.drawing.sliders.find((s) => s.name === at);
    const places = (link ? link.ends : [slider ? slider.node : at]).map((name) => this.where(name));
    if (places.some((p) => !p)) return null;
    const [x, y] = this.seen([0, 1].map((k) => places.reduce((sum, p) => sum + p[k], 0) / places.length));
    return svg("text", { class: "note", x, y: y + 42, "text-anchor": "middle" }, message.split(":")[0]);
  }

  drawGrid() {
    const { clientWidth: width, clientHeight: height } = this.place, step = this.step;
    const [low, high] = [this.placeAt([0, height]), this.placeAt([width, 0])], lines = [];
    for (let k = Math.ceil(low[0] / step); k * step < high[0]; k++) lines.push(svg("path", { d: `M${this.seen([k * step, 0])[0]} 0V${height}`, class: k ? "" : "axis" }));
    for (let k = Math.ceil(low[1] / step); k * step < high[1]; k++) lines.push(svg("path", { d: `M0 ${this.seen([0, k * step])[1]}H${width}`, class: k ? "" : "axis" }));
    const text = svg("text", { x: 12, y: height - 12 }, `grid ${Number((step * 1e3).toPrecision(3))} mm`);
    this.layers.grid.replaceChildren(...lines, text);
  }

  group(kind, name, wrong, ...children) {
    const chosen = this.chosen && this.chosen.kind === kind && this.chosen.name === name;
    return svg("g", { class: `${kind}${chosen ? " chosen" : ""}${wrong && wrong.has(name) ? " wrong" : ""}`, "data-kind": kind, "data-name": name }, ...children);
  }

  link({ name, ends, points }, wrong) {
    const places = ends.map((end) => this.where(end));
    if (places.some((p) => !p)) return null;
    const [[x0, y0], [x1, y1]] = places.map((p) => this.seen(p)), d = `M${x0} ${y0}L${x1} ${y1}`;
    const arms = points.map((point) => this.where(point)).filter(Boolean).map((p) => this.seen(p));
    const plates = arms.map(([x, y]) => svg("path", { d: `${d}L${x} ${y}Z`, class: "plate" }));
    const long = Math.hypot(x1 - x0, y1 - y0) || 1, aside = x1 < x0 ? -18 : 18; // beside the link, below or to its right
    const label = svg("text", { x: (x0 + x1) / 2 - ((y1 - y0) / long) * aside, y: (y0 + y1) / 2 + ((x1 - x0) / long) * aside, "text-anchor": "middle", dy: "0.35em" }, name);
    return this.group("link", name, wrong, ...plates, svg("path", { d, class: "body" }), label);
  }

  force({ name, kind, ends }) {
    const places = ends.map((end) => this.where(end));
    if (places.some((p) => !p)) return null;
    const [[x0, y0], [x1, y1]] = places.map((p) => this.seen(p)), length = Math.hypot(x1 - x0, y1 - y0);
    const turn = `translate(${x0} ${y0}) rotate(${(Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI})`;
    return this.group("force", name, null, svg("path", { d: kind === "spring" ? springPath(length) : damperPath(length), transform: turn }));
  }

  slider({ name, node, axis }, wrong) {
    if (!this.where(node)) return null;
    const [x, y] = this.seen(this.where(node)), turn = `translate(${x} ${y}) rotate(${(-Math.atan2(axis[1], axis[0]) * 180) / Math.PI})`;
    return this.group("slider", name, wrong, svg("path", { d: "M-70 14H70", class: "rail", transform: turn }), svg("rect", { x: -20, y: -12, width: 40, height: 24, rx: 4, transform: turn }));
  }

  driver({ body }) {
    const link = this.drawing.links.find((l) => l.name === body);
    const start = link && this.where(link.ends[0]);
    if (!start) return null;
    const [x, y] = this.seen(start);
    return svg("path", { class: "driver", d: `M${x} ${y + 24}A24 24 0 1 0 ${x - 24} ${y}m-6 -7l6 8l8 -6` });
  }

  node({ name, fixed }, wrong) {
    const [x, y] = this.seen(this.where(name)), parts = [];
    if (fixed) parts.push(svg("path", { class: "ground", d: `M${x} ${y}l-11 18h22zM${x - 16} ${y + 18}h32` }));
    parts.push(svg("circle", { cx: x, cy: y, r: 6 }), svg("text", { x: x + 10, y: y - 10 }, name));
    return this.group("point", name, wrong, ...parts);
  }
}
