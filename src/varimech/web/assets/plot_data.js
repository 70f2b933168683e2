// Data of plots: arrays from base64 or typed arrays, ranges, bands, the points nearest to a position.

import { decode } from "./tracks.js";

// typed arrays (studio) are returned unchanged, texts {f8} or {f4} (reports) decoded
export function plotNumbers(given) {
  if (!given || given.length !== undefined) return given;
  return given.f8 === undefined ? decode(given.f4) : new Float64Array(decode(given.f8).buffer);
}

// curves with arrays; a curve whose x is a number shares the x values of the curve of that index
export function plotCurves(given) {
  const curves = [];
  for (const curve of given || []) {
    const band = curve.band && { ...curve.band, lower: plotNumbers(curve.band.lower), upper: plotNumbers(curve.band.upper) };
    const x = typeof curve.x === "number" ? curves[curve.x].x : plotNumbers(curve.x);
    const derivatives = curve.derivatives && [...curve.derivatives]; // decoded on demand
    curves.push({ dash: "solid", mode: "lines", ...curve, x, y: plotNumbers(curve.y), error: plotNumbers(curve.error), band, derivatives, chosen: null });
  }
  return curves;
}

// bounds of a curve for {deviations: number} or {parameter: index, change: number}; null for no band
export function chosenBand(curve, band) {
  if (!band) return null;
  const { parameter } = band, which = "deviations" in band ? "deviation" : "derivatives";
  if (!curve[which]) return null;
  if (which === "deviation") curve.deviation = plotNumbers(curve.deviation);
  else curve.derivatives[parameter] = plotNumbers(curve.derivatives[parameter]);
  const slope = which === "deviation" ? curve.deviation : curve.derivatives[parameter], factor = band.deviations ?? band.change;
  if (!slope) return null;
  const lower = new Float64Array(curve.y.length), upper = new Float64Array(curve.y.length);
  for (let k = 0; k < lower.length; k++) {
    const half = Math.abs(slope[k] * factor);
    lower[k] = curve.y[k] - half;
    upper[k] = curve.y[k] + half;
  }
  return { lower, upper };
}

// smallest and largest number of arrays for x within [from, to]; on logarithmic axes only positive numbers
export class PlotRange {
  constructor(log) {
    Object.assign(this, { log, low: Infinity, high: -Infinity });
  }

  include(number) {
    if (!Number.isFinite(number) || (this.log && number <= 0)) return;
    if (number < this.low) this.low = number;
    if (number > this.high) this.high = number;
  }

  includeAll(values, x = null, from = 0, to = 0) {
    for (let k = 0; k < values.length; k++) if (!x || (x[k] >= from && x[k] <= to)) this.include(values[k]);
  }

  // with space at both ends
  get padded() {
    if (this.log) {
      const share = (this.high / this.low) ** 0.05;
      return [this.low / share, this.high * share];
    }
    const space = 0.06 * (this.high - this.low);
    return [this.low - space, this.high + space];
  }
}

// index of the point nearest to a number, of sorted numbers (rising or falling)
export function nearestIndex(x, number) {
  let low = 0, high = x.length - 1;
  const rising = x[high] >= x[low];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x[middle] <= number === rising) low = middle;
    else high = middle;
  }
  return Math.abs(x[low] - number) <= Math.abs(x[high] - number) ? low : high;
}
