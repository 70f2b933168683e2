// Surroundings of the mechanism: point labels, a grid, a scale, axes.

import { niceLength } from "./camera.js";
import { drawArrow, drawText, line } from "./drawing.js";

// methods of an animation
export const scenery = {
  // each label beside its point, outwards, without overlap; above bearings and rails
  drawLabels(seen) {
    const { pen, ink } = this, taken = [], sides = [[1, -1], [-1, -1], [1, 1], [-1, 1]];
    const meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    const places = [...this.labels.keys()].map((point) => seen[point]);
    const [middleX, middleY] = [0, 1].map((k) => places.reduce((sum, place) => sum + place[k], 0) / places.length);
    pen.font = "600 13px system-ui, sans-serif";
    for (const [point, texts] of this.labels) {
      const text = texts.join(", "), wide = pen.measureText(text).width, [x, y] = seen[point];
      const box = ([right, down]) => [x + (right > 0 ? 9 : -9 - wide), y + down * 14 - 8, x + (right > 0 ? 9 + wide : -9), y + down * 14 + 8];
      const around = ([left, top, right, bottom]) => [left - 7, top, right + 7, bottom]; // gap between words
      const outside = (x < middleX - 4 ? 1 : 0) + (y > middleY + 4 && !this.held.has(point) ? 2 : 0);
      const side = [outside, outside ^ 2, outside ^ 1, outside ^ 3].find((k) => !taken.some((other) => meets(around(box(sides[k])), other)));
      if (side === undefined) continue;
      const place = box(sides[side]);
      taken.push(place);
      drawText(pen, text, place[0], (place[1] + place[3]) / 2, ink.ink, ink.stage);
    }
  },

  drawGrid() {
    if (this.camera.spatial) return this.drawFloor();
    const { pen, camera, ink } = this, step = niceLength(110 / camera.scale), spacing = step * camera.scale;
    const origin = camera.project(this.data.origin.map((x) => -x));
    pen.lineWidth = 1;
    const strokes = (from, size, draw) => {
      const first = Math.ceil(-from / spacing);
      for (let k = first; from + k * spacing <= size; k++) {
        pen.strokeStyle = k === 0 ? ink["strong-grid"] : ink.grid;
        draw(Math.round(from + k * spacing) + 0.5);
        pen.stroke();
      }
    };
    strokes(origin[0], camera.width, (x) => line(pen, [[x, 0], [x, camera.height]]));
    strokes(origin[1], camera.height, (y) => line(pen, [[0, y], [camera.width, y]]));
  },

  // a grid below the whole motion
  drawFloor() {
    const { pen, camera, ink } = this, [a, b, c] = camera.axes, [low, high] = camera.box;
    const step = camera.gridStep, pad = 0.06 * camera.size, { origin } = this.data;
    const bounds = [a, b].map((k) => [Math.floor((low[k] + origin[k] - pad) / step), Math.ceil((high[k] + origin[k] + pad) / step)]);
    const at = (i, j) => {
      const place = [0, 0, 0];
      place[a] = i * step - origin[a];
      place[b] = j * step - origin[b];
      place[c] = camera.signs[2] > 0 ? low[c] - 0.03 * camera.size : high[c] + 0.03 * camera.size;
      return camera.project(place);
    };
    pen.lineWidth = 1;
    pen.strokeStyle = ink.grid;
    for (let i = bounds[0][0]; i <= bounds[0][1]; i++) {
      line(pen, [at(i, bounds[1][0]), at(i, bounds[1][1])]);
      pen.stroke();
    }
    for (let j = bounds[1][0]; j <= bounds[1][1]; j++) {
      line(pen, [at(bounds[0][0], j), at(bounds[0][1], j)]);
      pen.stroke();
    }
  },

  drawScale() {
    const { pen, camera, ink } = this, y = camera.height - 20;
    const right = camera.width - 18;
    if (camera.spatial) {
      this.drawTriad(46, camera.height - 46);
      return drawText(pen, `grid ${lengthText(camera.gridStep)}`, right, y, ink.soft, ink.stage, "right", 12);
    }
    const length = niceLength(140 / camera.scale), wide = length * camera.scale;
    pen.strokeStyle = ink.soft;
    pen.lineWidth = 1.6;
    line(pen, [[right - wide, y - 4], [right - wide, y + 4], [right - wide, y], [right, y], [right, y - 4], [right, y + 4]]);
    pen.stroke();
    drawText(pen, lengthText(length), right - wide / 2, y - 12, ink.soft, ink.stage, "center", 12);
  },

  drawTriad(x, y) {
    const { pen, camera, ink } = this;
    [0, 1, 2].forEach((row) => {
      const name = camera.axes[row], at = (far) => [x + far * camera.signs[row] * camera.right[row], y - far * camera.signs[row] * camera.upright[row]];
      drawArrow(pen, [x, y], at(30), this.colours[[1, 2, 0][name]]);
      drawText(pen, "xyz"[name], ...at(40), ink.soft, ink.stage, "center", 12);
    });
  },
};

export function lengthText(length) {
  const [factor, unit] = length >= 1e3 ? [1e-3, "km"] : length >= 1 ? [1, "m"] : length >= 1e-3 ? [1e3, "mm"] : [1e6, "µm"];
  return `${Number((length * factor).toPrecision(6))} ${unit}`;
}
