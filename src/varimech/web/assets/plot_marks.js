// Content between the axes: curves, bands, error bars, markers, bars of a histogram, limits and marks.

export const PLOT_DASHES = { solid: [], dash: [7, 4], dot: [2, 3], dashdot: [7, 3, 2, 3], longdash: [12, 4] };

// a line through all points; numbers that are not finite interrupt it
export function tracePoints(pen, x, y, xs, ys) {
  let drawing = false;
  for (let k = 0; k < ys.length; k++) {
    const px = x.pixel(xs[k]), py = y.pixel(ys[k]);
    if (!Number.isFinite(px + py)) drawing = false;
    else if (drawing) pen.lineTo(px, py);
    else {
      pen.moveTo(px, py);
      drawing = true;
    }
  }
}

export function drawPlotCurve(pen, x, y, curve, colour) {
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineJoin = "round";
  if (curve.error) drawErrors(pen, x, y, curve);
  if (curve.mode.includes("lines")) {
    pen.lineWidth = 1.8;
    pen.setLineDash(PLOT_DASHES[curve.dash]);
    pen.beginPath();
    tracePoints(pen, x, y, curve.x, curve.y);
    pen.stroke();
    pen.setLineDash([]);
  }
  if (!curve.mode.includes("markers")) return;
  pen.beginPath();
  for (let k = 0; k < curve.y.length; k++) {
    const px = x.pixel(curve.x[k]), py = y.pixel(curve.y[k]);
    if (!Number.isFinite(px + py)) continue;
    pen.moveTo(px + 2.7, py);
    pen.arc(px, py, 2.7, 0, 2 * Math.PI);
  }
  pen.fill();
}

function drawErrors(pen, x, y, { x: xs, y: ys, error }) {
  pen.lineWidth = 1;
  pen.beginPath();
  for (let k = 0; k < ys.length; k++) {
    const px = x.pixel(xs[k]), ends = [y.pixel(ys[k] - error[k]), y.pixel(ys[k] + error[k])];
    if (!Number.isFinite(px + ends[0] + ends[1])) continue;
    pen.moveTo(px, ends[0]);
    pen.lineTo(px, ends[1]);
    for (const end of ends) {
      pen.moveTo(px - 2.5, end);
      pen.lineTo(px + 2.5, end);
    }
  }
  pen.stroke();
}

export function drawPlotBand(pen, x, y, xs, { lower, upper }, colour) {
  pen.fillStyle = colour;
  pen.globalAlpha = 0.2;
  pen.beginPath();
  for (let k = 0; k < xs.length; k++) pen.lineTo(x.pixel(xs[k]), bounded(y, upper[k]));
  for (let k = xs.length - 1; k >= 0; k--) pen.lineTo(x.pixel(xs[k]), bounded(y, lower[k]));
  pen.fill();
  pen.globalAlpha = 1;
}

// a bound that a logarithmic axis cannot show is drawn at its end
function bounded(y, number) {
  const pixel = y.pixel(number);
  return Number.isNaN(pixel) || pixel === Infinity ? y.from : pixel;
}

export function drawHistogram(pen, x, y, { start, width, counts }, colour) {
  pen.fillStyle = colour;
  pen.globalAlpha = 0.85;
  for (let k = 0; k < counts.length; k++) {
    const from = x.pixel(start + k * width), to = x.pixel(start + (k + 1) * width), top = y.pixel(counts[k]);
    pen.fillRect(from + 0.5, top, Math.max(1, to - from - 1), y.from - top);
  }
  pen.globalAlpha = 1;
}

// dashed horizontal lines
export function drawLimits(pen, x, y, limits, colour) {
  pen.setLineDash([6, 4]);
  for (const limit of limits) drawPlotLine(pen, [x.from, y.pixel(limit)], [x.to, y.pixel(limit)], colour, 1.3);
  pen.setLineDash([]);
}

// dotted vertical lines
export function drawPlaces(pen, x, y, places, colour) {
  pen.setLineDash([1.5, 2.5]);
  for (const place of places) drawPlotLine(pen, [x.pixel(place), y.from], [x.pixel(place), y.to], colour, 1);
  pen.setLineDash([]);
}

export function drawPlotLine(pen, from, to, colour, width) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}

// the region beyond the range of validity
export function drawBeyond(pen, x, y, until, colour) {
  const from = Math.max(x.from, x.pixel(until));
  pen.fillStyle = colour;
  pen.globalAlpha = 0.16;
  if (from < x.to) pen.fillRect(from, y.to, x.to - from, y.from - y.to);
  pen.globalAlpha = 1;
}
