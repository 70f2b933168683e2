// One plot in an element of the page: sharp at any resolution, drawn when it is visible, at most once in each screen frame.

import { tone } from "./drawing.js";
import { BarView } from "./plot_bars.js";
import { CurveView } from "./plot_curves.js";
import { connectPlot } from "./plot_pointer.js";

const PRINTED = 3; // resolution of a printed plot relative to the screen: 288 pixels an inch

function addTo(parent, name, className) {
  return parent.appendChild(Object.assign(document.createElement(name), { className }));
}

export class Plot {
  // `onTime` is called with the time of a click, `onHover` with the content of the read-out: {x, points: [{curve, index, x, y}]}, or null
  constructor(area, spec, { onTime = null, onHover = null } = {}) {
    Object.assign(this, { area, onTime, onHover, time: 0, band: null, zoom: null, found: null, selection: null, hidden: new Set() });
    Object.assign(this, { size: null, inView: false, stale: true, wanted: false, ratio: 0 });
    this.legend = addTo(area, "ul", "plot-legend");
    this.box = addTo(area, "div", "plot-box");
    this.canvas = addTo(this.box, "canvas", "");
    this.overlay = addTo(this.box, "canvas", "plot-overlay");
    this.cursor = spec.over_time && onTime ? addTo(this.box, "div", "cursor") : null;
    this.card = addTo(this.box, "div", "readout");
    this.card.setAttribute("role", "status");
    this.card.hidden = true;
    area.tabIndex = 0;
    this.setData(spec);
    this.theme();
    connectPlot(this);
    new ResizeObserver(() => this.resize()).observe(this.box);
    new IntersectionObserver((entries) => {
      this.inView = entries[entries.length - 1].isIntersecting;
      if (this.stale) this.redraw();
    }, { rootMargin: "200px" }).observe(area);
  }

  // replace all data; zoom, bands and curves that were switched off remain
  setData(spec) {
    this.spec = spec;
    this.view = spec.kind === "bars" ? new BarView(spec) : new CurveView(spec);
    this.view.setBand(this.band);
    if (this.found) this.hover(null); // it refers to the previous data
    this.showLegend();
    this.redraw();
  }

  // `band` is null, {deviations: number} or {parameter: index, change: number}
  setBand(band) {
    this.band = band;
    this.view.setBand(band);
    this.redraw();
  }

  setTime(time) {
    this.time = time;
    this.moveCursor();
  }

  setZoom(zoom) {
    this.zoom = zoom;
    this.redraw();
  }

  theme() {
    const style = getComputedStyle(this.area), get = (name) => style.getPropertyValue(name).trim();
    this.look = { ink: get("--ink"), soft: get("--soft"), grid: get("--line"), strong: get("--strong-grid"), card: get("--card"), bad: get("--bad"), accent: get("--accent") };
    this.legendKey = "";
    this.showLegend();
    this.redraw();
  }

  resize() {
    this.redraw();
  }

  // paper has a higher resolution
  print(on) {
    this.ratio = on ? PRINTED : 0;
    this.theme();
    this.draw();
  }

  redraw() {
    this.stale = true;
    if (!this.inView || this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      this.draw();
    });
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (!width || !height) return; // folded
    this.stale = false;
    this.size = { width, height };
    const pen = this.cleared(this.canvas);
    this.view.draw(pen, this.look, this.size, this.hidden, this.zoom);
    this.moveCursor();
    this.drawOverlay();
  }

  cleared(canvas) {
    const ratio = this.ratio || window.devicePixelRatio || 1, pen = canvas.getContext("2d");
    const [width, height] = [this.size.width, this.size.height].map((length) => Math.round(length * ratio));
    if (canvas.width !== width || canvas.height !== height) {
      Object.assign(canvas, { width, height });
      Object.assign(canvas.style, { width: `${this.size.width}px`, height: `${this.size.height}px` }); // avoids scaling by fractions of a pixel
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return pen;
  }

  moveCursor() {
    if (!this.cursor || !this.size) return;
    const { x, y } = this.view, at = x.pixel(this.time), inside = at >= x.from - 1 && at <= x.to + 1;
    Object.assign(this.cursor.style, { transform: `translateX(${at}px)`, top: `${y.to}px`, height: `${y.from - y.to}px`, display: inside ? "block" : "none" });
  }

  // show the read-out at a position, or none; `selection` is a range in pixels that is being dragged
  hover(found, selection = null) {
    this.found = found;
    this.selection = selection;
    this.drawOverlay();
    if (this.onHover) this.onHover(found);
  }

  drawOverlay() {
    const { view, found, selection, look } = this, pen = this.cleared(this.overlay);
    this.card.hidden = !found;
    if (selection) {
      pen.fillStyle = look.accent;
      pen.globalAlpha = 0.16;
      pen.fillRect(selection[0], view.y.to, selection[1] - selection[0], view.y.from - view.y.to);
      pen.globalAlpha = 1;
    }
    if (!found) return;
    view.drawFound(pen, look, found);
    this.showCard(view.readout(found));
  }

  // beside the position that it describes, on the side with more space, and within the plot
  showCard({ head, rows }) {
    const { card, found, view, size } = this;
    card.replaceChildren();
    addTo(card, "div", "readout-head").textContent = head;
    for (const { name, colour, text } of rows) {
      const row = addTo(card, "div", "readout-row");
      addTo(row, "i", "").style.background = tone(colour);
      addTo(row, "span", "").textContent = name;
      addTo(row, "b", "").textContent = text;
    }
    const at = found.x === undefined ? (view.x.from + view.x.to) / 2 : view.x.pixel(found.x), width = card.offsetWidth, left = at < size.width / 2 ? at + 12 : at - 12 - width;
    Object.assign(card.style, { left: `${Math.max(0, Math.min(size.width - width, left))}px`, top: found.row === undefined ? "12px" : `${view.y.to + (found.row + 1) * view.height}px` });
  }

  // a button for each curve, to switch it on and off
  showLegend() {
    const entries = this.view.legend(), key = JSON.stringify(entries);
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.legend.replaceChildren();
    this.legend.hidden = !entries.length;
    for (const { name, colour, dash, mode } of entries) {
      const part = addTo(addTo(this.legend, "li", ""), mode === "band" ? "span" : "button", "");
      const sample = addTo(part, "i", mode === "band" ? "sample-band" : mode === "markers" ? "sample-marker" : `sample-${dash}`);
      sample.style.color = tone(colour);
      addTo(part, "span", "").textContent = name;
      if (mode !== "band") this.connectSwitch(part, name);
    }
  }

  connectSwitch(button, name) {
    const show = () => button.setAttribute("aria-pressed", String(!this.hidden.has(name)));
    button.type = "button";
    button.onclick = () => {
      if (!this.hidden.delete(name)) this.hidden.add(name);
      show();
      this.redraw();
    };
    show();
  }

  // rows of comma-separated values: plot, curve, axis, x, y, unit of y
  csv() {
    const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`, { x, y } = this.view, bars = this.spec.kind === "bars";
    const axis = x.unit && !bars ? `${x.label} (${x.unit})` : x.label;
    return this.view.rows().map(([name, place, value]) => [quoted(this.spec.title), quoted(name), quoted(axis), bars ? quoted(place) : place, value, quoted((bars ? x : y).unit)].join(","));
  }
}
