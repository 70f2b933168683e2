// Axes of plots: conversion of numbers to pixels and back, ticks at round numbers, grid and labels.

import { engineeringUnit, fixed, readable, superscript } from "./plot_units.js";

export const PLOT_FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
const FINEST = 1e-9; // smallest range relative to its numbers; smaller ranges are widened, because ticks would have too many digits

export class PlotAxis {
  constructor({ label = "", unit = "", log = false }) {
    Object.assign(this, { label, unit, log, low: 0, high: 1, from: 0, to: 1, factor: 1, shownUnit: unit });
  }

  // numbers at both ends
  setRange(low, high) {
    if (!(low <= high)) [low, high] = this.log ? [0.1, 1] : [0, 1];
    const middle = (low + high) / 2;
    if (this.log && low === high) [low, high] = [low / 10, high * 10];
    else if (high - low <= FINEST * Math.abs(middle) || low === high) {
      const half = Math.abs(middle) / 10 || 1;
      [low, high] = [middle - half, middle + half];
    }
    Object.assign(this, { low, high });
    const { factor, unit } = this.log ? { factor: 1, unit: this.unit } : engineeringUnit(Math.max(Math.abs(low), Math.abs(high)), this.unit);
    Object.assign(this, { factor, shownUnit: unit });
  }

  // pixels of both ends
  setPixels(from, to) {
    Object.assign(this, { from, to });
  }

  get title() {
    return this.shownUnit ? `${this.label} (${this.shownUnit})`.trim() : this.label;
  }

  inner(number) {
    return this.log ? Math.log10(number) : number;
  }

  pixel(number) {
    const low = this.inner(this.low);
    return this.from + ((this.inner(number) - low) / (this.inner(this.high) - low)) * (this.to - this.from);
  }

  number(pixel) {
    const low = this.inner(this.low), inner = low + ((pixel - this.from) / (this.to - this.from)) * (this.inner(this.high) - low);
    return this.log ? 10 ** inner : inner;
  }

  // a number for the read-out, without its unit, with the digits that the plot resolves
  text(number) {
    if (this.log || !Number.isFinite(number)) return readable(number);
    const finest = (this.high - this.low) / this.factor / 1e4;
    return fixed(number / this.factor, -Math.floor(Math.log10(finest)));
  }

  // [{at, text}], about `count` of them
  ticks(count) {
    if (this.log && this.high / this.low > 30) return this.decades(count);
    const step = niceStep((this.high - this.low) / this.factor, count), decimals = -Math.floor(Math.log10(step) + 1e-9);
    const first = Math.ceil(this.low / this.factor / step - 1e-9), last = Math.floor(this.high / this.factor / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, k) => ({ at: (first + k) * step * this.factor, text: fixed((first + k) * step, decimals) }));
  }

  decades(count) {
    const first = Math.ceil(Math.log10(this.low) - 1e-9), last = Math.floor(Math.log10(this.high) + 1e-9);
    const every = Math.max(1, Math.ceil((last - first) / count)), ticks = [];
    for (let k = Math.ceil(first / every) * every; k <= last; k += every) ticks.push({ at: 10 ** k, text: `10${superscript(k)}` });
    return ticks;
  }
}

// the round number (1, 2 or 5 times a power of ten) that divides a span into about `count` parts
export function niceStep(span, count) {
  const rough = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough)), share = rough / power;
  return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

// place the axes in a box; returns their ticks. `left` is the space for names beside the vertical axis, if any
export function placeAxes(pen, { width, height }, x, y, left = null) {
  pen.font = PLOT_FONT;
  const top = 8, bottom = height - (x.title ? 40 : 24);
  y.setPixels(bottom, top);
  const yTicks = left === null ? y.ticks(Math.max(2, Math.floor((bottom - top) / 44))) : [];
  const widest = Math.max(0, ...yTicks.map(({ text }) => pen.measureText(text).width));
  x.setPixels(left ?? Math.max(52, 8 * Math.ceil((widest + 32) / 8)), width - 16); // in steps, so that it does not move while data change
  return { xTicks: x.ticks(Math.max(2, Math.floor((x.to - x.from) / 76))), yTicks };
}

export function drawPlotGrid(pen, look, x, y, { xTicks, yTicks }) {
  pen.lineWidth = 1;
  const crisp = (pixel) => Math.round(pixel) + 0.5;
  const stroke = (colour, x0, y0, x1, y1) => {
    pen.strokeStyle = colour;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
  };
  for (const { at } of xTicks) stroke(at === 0 ? look.strong : look.grid, crisp(x.pixel(at)), y.to, crisp(x.pixel(at)), y.from);
  for (const { at } of yTicks) stroke(at === 0 ? look.strong : look.grid, x.from, crisp(y.pixel(at)), x.to, crisp(y.pixel(at)));
  stroke(look.strong, x.from, crisp(y.from), x.to, crisp(y.from));
  stroke(look.strong, crisp(x.from), y.from, crisp(x.from), y.to);
}

export function drawAxisTexts(pen, look, x, y, { xTicks, yTicks }, height) {
  pen.font = PLOT_FONT;
  pen.fillStyle = look.soft;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (const { at, text } of yTicks) pen.fillText(text, x.from - 6, y.pixel(at));
  pen.textAlign = "center";
  for (const { at, text } of xTicks) pen.fillText(text, x.pixel(at), y.from + 13);
  pen.fillText(shortened(pen, x.title, x.to - x.from + 40), (x.from + x.to) / 2, height - 9);
  if (!yTicks.length) return;
  pen.save();
  pen.translate(10, (y.from + y.to) / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(shortened(pen, y.title, y.from - y.to + 40), 0, 0);
  pen.restore();
}

// a text truncated to a width in pixels
export function shortened(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let cut = text;
  while (cut && pen.measureText(`${cut}…`).width > width) cut = cut.slice(0, -1);
  return `${cut}…`;
}
