// A plot of horizontal bars, the first on top; several series are grouped by name.

import { tone } from "./drawing.js";
import { PLOT_FONT, PlotAxis, drawAxisTexts, drawPlotGrid, placeAxes, shortened } from "./plot_axes.js";
import { PlotRange, plotNumbers } from "./plot_data.js";
import { drawPlotLine } from "./plot_marks.js";
import { readable } from "./plot_units.js";

const FILLED = 0.64; // fraction of its row that a group of bars fills

export class BarView {
  constructor(spec) {
    this.spec = spec;
    this.series = spec.series.map((series) => ({ ...series, values: plotNumbers(series.values) }));
    this.x = new PlotAxis(spec.x);
    this.y = new PlotAxis({});
  }

  setBand() {} // bars have none

  shown(hidden) {
    return this.series.filter(({ name }) => !hidden.has(name));
  }

  draw(pen, look, size, hidden) {
    const { spec, x, y } = this, shown = this.shown(hidden);
    pen.font = PLOT_FONT;
    const widest = Math.max(0, ...spec.names.map((name) => pen.measureText(name).width)), left = Math.min(widest + 14, 0.45 * size.width);
    this.setRange(pen, shown, size.width - left - 16);
    const ticks = placeAxes(pen, size, x, y, left);
    drawPlotGrid(pen, look, x, y, ticks);
    drawAxisTexts(pen, look, x, y, ticks, size.height);
    this.height = (y.from - y.to) / Math.max(1, spec.names.length);
    spec.names.forEach((name, k) => {
      pen.fillStyle = look.ink;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText(shortened(pen, name, left - 12), left - 8, y.to + (k + 0.5) * this.height);
      shown.forEach((series, s) => this.drawBar(pen, look, series, k, s, shown.length));
    });
    drawPlotLine(pen, [x.pixel(0), y.from], [x.pixel(0), y.to], look.soft, 1);
  }

  // both ends with space for the numbers beside the bars
  setRange(pen, shown, width) {
    const range = new PlotRange(false);
    range.include(0);
    for (const { values } of shown) range.includeAll(values);
    this.x.setRange(range.low, range.high);
    const widest = Math.max(0, ...shown.flatMap(({ values }) => Array.from(values, (value) => pen.measureText(this.text(value)).width)));
    const space = ((range.high - range.low) * (widest + 10)) / Math.max(40, width - 2 * (widest + 10));
    this.x.setRange(range.low < 0 ? range.low - space : 0, range.high > 0 || range.low === 0 ? range.high + (space || 1) : 0);
  }

  text(value) {
    return readable(value / this.x.factor);
  }

  drawBar(pen, look, series, k, s, count) {
    const { x, y, height } = this, value = series.values[k], thick = (FILLED * height) / count;
    const top = y.to + k * height + ((1 - FILLED) / 2) * height + s * thick, zero = x.pixel(0), end = x.pixel(value);
    if (!Number.isFinite(end)) return;
    pen.fillStyle = tone(value < 0 && series.negative ? series.negative : series.colour);
    pen.fillRect(Math.min(zero, end), top, Math.abs(end - zero), Math.max(1, thick - (count > 1 ? 1 : 0)));
    pen.fillStyle = look.ink;
    pen.textAlign = value < 0 ? "right" : "left";
    if (thick >= 11) pen.fillText(this.text(value), end + (value < 0 ? -5 : 5), top + thick / 2);
  }

  at(px, py) {
    const k = Math.floor((py - this.y.to) / this.height);
    return k >= 0 && k < this.spec.names.length ? { row: k, points: [] } : null;
  }

  step(found, steps) {
    const count = this.spec.names.length, from = found ? found.row : steps > 0 ? -1 : count;
    return count ? { row: Math.max(0, Math.min(count - 1, from + steps)), points: [] } : null;
  }

  readout({ row }) {
    const { x, spec } = this, unit = x.shownUnit ? ` ${x.shownUnit}` : "";
    if (spec.notes && spec.notes[row]) return { head: spec.notes[row], rows: [] };
    return { head: spec.names[row], rows: this.series.map(({ name, colour, values }) => ({ name, colour, text: `${this.text(values[row])}${unit}` })) };
  }

  drawFound(pen, look, { row }) {
    pen.fillStyle = look.soft;
    pen.globalAlpha = 0.12;
    pen.fillRect(this.x.from, this.y.to + row * this.height, this.x.to - this.x.from, this.height);
    pen.globalAlpha = 1;
  }

  legend() {
    return this.series.length > 1 ? this.series.map(({ name, colour }) => ({ name, colour, mode: "band" })) : [];
  }

  rows() {
    return this.series.flatMap(({ name, values }) => Array.from(values, (value, k) => [name, this.spec.names[k], value]));
  }
}
