// A plot of curves over a common axis, or of a histogram: ranges, drawing, and the points nearest to a position.

import { tone } from "./drawing.js";
import { PlotAxis, drawAxisTexts, drawPlotGrid, placeAxes } from "./plot_axes.js";
import { PlotRange, chosenBand, nearestIndex, plotCurves, plotNumbers } from "./plot_data.js";
import { drawBeyond, drawHistogram, drawLimits, drawPlaces, drawPlotBand, drawPlotCurve, drawPlotLine } from "./plot_marks.js";

const NEAR = 8; // distance (pixels) within which a marker belongs to the read-out
const FAR = 3; // a limit is included if the range grows by less than this factor

export class CurveView {
  constructor(spec) {
    this.spec = spec;
    this.curves = plotCurves(spec.curves);
    this.histogram = spec.histogram && { ...spec.histogram, counts: plotNumbers(spec.histogram.counts) };
    this.x = new PlotAxis(spec.x);
    this.y = new PlotAxis(spec.y);
  }

  // curves that are switched on
  shown(hidden) {
    return this.curves.filter(({ name }) => !hidden.has(name));
  }

  setBand(band) {
    for (const curve of this.curves) curve.chosen = curve.band ? null : chosenBand(curve, band);
  }

  get whole() {
    if (this.spec.x.range) return this.spec.x.range;
    const range = new PlotRange(this.x.log);
    for (const { x } of this.curves) range.includeAll(x);
    if (this.histogram) {
      const { start, width, counts } = this.histogram;
      for (const place of [start - 0.5 * width, start + (counts.length + 0.5) * width, ...(this.spec.marks || [])]) range.include(place);
    }
    return [range.low, range.high];
  }

  setRanges(shown, zoom) {
    this.x.setRange(...(zoom || this.whole));
    const { low, high } = this.x, range = new PlotRange(this.y.log);
    for (const { x, y, error, band, chosen } of shown) {
      for (const values of [y, band?.lower, band?.upper, chosen?.lower, chosen?.upper]) if (values) range.includeAll(values, x, low, high);
      if (error) for (const sign of [-1, 1]) range.includeAll(y.map((value, k) => value + sign * error[k]), x, low, high);
    }
    if (this.histogram) for (const number of [0, ...this.histogram.counts]) range.include(number);
    for (const limit of this.spec.limits || []) {
      const all = Math.max(range.high, limit) - Math.min(range.low, limit);
      if (all < FAR * (range.high - range.low)) range.include(limit);
    }
    const [bottom, top] = range.padded;
    this.y.setRange(this.histogram ? 0 : bottom, top);
  }

  draw(pen, look, size, hidden, zoom) {
    const { spec, x, y } = this, shown = this.shown(hidden);
    this.setRanges(shown, zoom);
    const ticks = placeAxes(pen, size, x, y);
    drawPlotGrid(pen, look, x, y, ticks);
    drawAxisTexts(pen, look, x, y, ticks, size.height);
    pen.save();
    pen.beginPath();
    pen.rect(x.from - 4, y.to - 4, x.to - x.from + 8, y.from - y.to + 8); // markers at the ends are not clipped
    pen.clip();
    if (spec.until !== undefined && spec.until !== null) drawBeyond(pen, x, y, spec.until, look.soft);
    drawPlaces(pen, x, y, spec.marks || [], look.soft);
    if (this.histogram) drawHistogram(pen, x, y, this.histogram, tone(this.histogram.colour));
    for (const curve of shown) for (const band of [curve.band, curve.chosen]) if (band) drawPlotBand(pen, x, y, curve.x, band, tone(curve.colour));
    drawLimits(pen, x, y, spec.limits || [], look.bad);
    for (const curve of shown) drawPlotCurve(pen, x, y, curve, tone(curve.colour));
    pen.restore();
  }

  // the points nearest to a position in pixels: {x, points: [{curve, index, x, y}]}, or {x, bin}; null if there are none
  at(px, py, hidden) {
    const { x, y } = this, shown = this.shown(hidden), number = x.number(px);
    if (this.histogram) {
      const bin = Math.floor((number - this.histogram.start) / this.histogram.width);
      return bin >= 0 && bin < this.histogram.counts.length ? { x: number, bin, points: [] } : null;
    }
    const inside = (curve, k) => curve.x[k] >= x.low && curve.x[k] <= x.high;
    let best = null;
    const consider = (curve, k, distance) => {
      if (inside(curve, k) && (!best || distance < best.distance)) best = { curve, index: k, distance };
    };
    for (const curve of shown.filter((c) => c.x.length)) {
      if (this.spec.nearest !== "point") consider(curve, nearestIndex(curve.x, number), Math.abs(x.pixel(curve.x[nearestIndex(curve.x, number)]) - px));
      else for (let k = 0; k < curve.x.length; k++) consider(curve, k, Math.hypot(x.pixel(curve.x[k]) - px, y.pixel(curve.y[k]) - py));
    }
    return best && this.around(best.curve, best.index, shown);
  }

  // a point, and the points of the other curves at the same x
  around(main, index, shown) {
    const place = main.x[index];
    if (this.spec.nearest === "point") return { x: place, points: [{ curve: main, index, x: place, y: main.y[index] }] };
    const points = shown.flatMap((curve) => {
      if (curve === main) return [{ curve, index, x: place, y: main.y[index] }];
      const k = nearestIndex(curve.x, place);
      if (curve.mode === "markers") return Math.abs(this.x.pixel(curve.x[k]) - this.x.pixel(place)) < NEAR ? [{ curve, index: k, x: curve.x[k], y: curve.y[k] }] : [];
      return within(curve.x, place) ? [{ curve, index: k, x: place, y: interpolated(curve, k, place) }] : [];
    });
    return { x: place, points };
  }

  // the point a number of steps further; the first or last point if there is none yet
  step(found, steps, hidden) {
    const shown = this.shown(hidden), { histogram: bars } = this;
    if (bars) {
      const from = found ? found.bin : steps > 0 ? -1 : bars.counts.length, bin = Math.max(0, Math.min(bars.counts.length - 1, from + steps));
      return { x: bars.start + (bin + 0.5) * bars.width, bin, points: [] };
    }
    const main = shown.reduce((longest, curve) => (longest && longest.x.length >= curve.x.length ? longest : curve), null);
    if (!main || !main.x.length) return null;
    const seen = [nearestIndex(main.x, this.x.low), nearestIndex(main.x, this.x.high)].sort((a, b) => a - b);
    const from = found ? nearestIndex(main.x, found.x) : steps > 0 ? seen[0] - 1 : seen[1] + 1;
    return this.around(main, Math.max(seen[0], Math.min(seen[1], from + steps)), shown);
  }

  // {head, rows: [{name, colour, text}]}
  readout(found) {
    const { x, y, histogram: bars } = this, unit = (axis) => (axis.shownUnit ? ` ${axis.shownUnit}` : "");
    if (bars) {
      const [from, to] = [found.bin, found.bin + 1].map((k) => x.text(bars.start + k * bars.width));
      return { head: `${from} to ${to}${unit(x)}`, rows: [{ name: bars.name, colour: bars.colour, text: y.text(bars.counts[found.bin]).replace(/\.0+$/, "") }] };
    }
    const rows = found.points.map(({ curve, index, y: value }) => {
      const band = curve.band || curve.chosen, half = band ? Math.max(band.upper[index] - value, value - band.lower[index]) : 0;
      return { name: curve.name, colour: curve.colour, text: `${y.text(value)}${half > 0 ? ` ± ${y.text(half)}` : ""}${unit(y)}` };
    });
    return { head: `${x.label} ${x.text(found.x)}${unit(x)}`, rows };
  }

  drawFound(pen, look, found) {
    const { x, y } = this, px = x.pixel(found.x);
    drawPlotLine(pen, [px, y.from], [px, y.to], look.soft, 1);
    for (const { curve, x: place, y: value } of found.points) {
      if (!Number.isFinite(y.pixel(value))) continue;
      pen.beginPath();
      pen.arc(x.pixel(place), y.pixel(value), 4, 0, 2 * Math.PI);
      pen.fillStyle = tone(curve.colour);
      pen.strokeStyle = look.card;
      pen.lineWidth = 1.5;
      pen.fill();
      pen.stroke();
    }
  }

  legend() {
    const entries = this.curves.flatMap(({ name, colour, dash, mode, band }) => [
      ...(name ? [{ name, colour, dash, mode }] : []), ...(band && band.name ? [{ name: band.name, colour, mode: "band" }] : []),
    ]);
    return entries.length > 1 ? entries : [];
  }

  // [series, x, y] of all points
  rows() {
    const { histogram: bars } = this;
    const bins = bars ? Array.from(bars.counts, (count, k) => [bars.name, bars.start + (k + 0.5) * bars.width, count]) : [];
    return [...bins, ...this.curves.flatMap(({ name, x, y }) => Array.from(y, (value, k) => [name, x[k], value]))];
  }
}

function within(x, place) {
  const ends = [x[0], x[x.length - 1]];
  return place >= Math.min(...ends) && place <= Math.max(...ends);
}

// the value at a position next to the point k
function interpolated({ x, y }, k, place) {
  const next = x[k] === place ? k : k > 0 && (place - x[k]) * (x[k - 1] - x[k]) > 0 ? k - 1 : Math.min(k + 1, x.length - 1);
  return next === k || x[next] === x[k] ? y[k] : y[k] + ((place - x[k]) / (x[next] - x[k])) * (y[next] - y[k]);
}
