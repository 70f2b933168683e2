// Shapes on the canvas, in pixels: bodies, beams, springs, dampers, joints, arrows, grids. Each takes a pen (a 2D context) and positions.

// a colour for a light background, or a lighter one for a dark background
export function tone(colour) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches && !document.documentElement.classList.contains("printing");
  if (!dark || !/^#[0-9a-f]{6}$/i.test(colour)) return colour;
  const lighter = [1, 3, 5].map((k) => Math.round(0.7 * parseInt(colour.slice(k, k + 2), 16) + 0.3 * 255));
  return `rgb(${lighter.join(",")})`;
}

export function line(pen, places, closed) {
  pen.beginPath();
  places.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  if (closed) pen.closePath();
}

// smooth curve through all points (Catmull–Rom)
export function curve(pen, places) {
  pen.beginPath();
  pen.moveTo(places[0][0], places[0][1]);
  for (let k = 0; k + 1 < places.length; k++) {
    const [before, from, to, after] = [places[Math.max(k - 1, 0)], places[k], places[k + 1], places[Math.min(k + 2, places.length - 1)]];
    pen.bezierCurveTo(
      from[0] + (to[0] - before[0]) / 6, from[1] + (to[1] - before[1]) / 6,
      to[0] - (after[0] - from[0]) / 6, to[1] - (after[1] - from[1]) / 6, to[0], to[1],
    );
  }
}

// convex hull of all points
export function hull(places) {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (row) => {
    const kept = [];
    for (const p of row) {
      while (kept.length > 1 && turn(kept[kept.length - 2], kept[kept.length - 1], p) <= 0) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

// a line through its points; or, with more than two points, the polygon `around` them with arms to inner points
export function drawBody(pen, places, around, colour, width, whole) {
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineCap = pen.lineJoin = "round";
  const opacity = pen.globalAlpha;
  const corners = around.length > 2 ? hull(around) : [];
  if (corners.length > 2) {
    line(pen, corners, true);
    pen.globalAlpha = opacity * 0.2;
    pen.fill();
    pen.globalAlpha = whole ? opacity : opacity * 0.5;
    pen.lineWidth = whole ? width * 0.7 : 2;
    pen.stroke();
    pen.globalAlpha = opacity;
  }
  pen.lineWidth = width;
  if (corners.length > 2 && whole) {
    const middle = [0, 1].map((k) => corners.reduce((sum, corner) => sum + corner[k], 0) / corners.length);
    pen.lineWidth = width * 0.5;
    for (const place of around) if (!corners.includes(place)) {
      line(pen, [middle, place]);
      pen.stroke();
    }
    return;
  }
  line(pen, places);
  pen.stroke();
}

// a body without a length: its centre of mass (the first point), with arms to the others
export function drawMass(pen, places, colour, radius) {
  pen.strokeStyle = colour;
  pen.lineWidth = radius / 2;
  pen.lineCap = "round";
  for (const place of places.slice(1)) {
    line(pen, [places[0], place]);
    pen.stroke();
  }
  disc(pen, places[0], radius, colour);
}

export function drawBeam(pen, places, colour, width) {
  pen.strokeStyle = colour;
  pen.lineCap = "round";
  pen.lineWidth = width;
  curve(pen, places);
  pen.stroke();
}

// a point between two others, at a fraction of their distance and an offset in pixels across it
export function between(from, to) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  return (share, across) => [from[0] + dx * share - (dy / length) * across, from[1] + dy * share + (dx / length) * across];
}

export function drawSpring(pen, [from, to], colour) {
  const at = between(from, to);
  const turns = 9;
  const places = [at(0, 0), at(0.15, 0)];
  for (let k = 0; k < 2 * turns; k++) places.push(at(0.15 + (0.7 * (k + 0.5)) / (2 * turns), k % 2 ? -7 : 7));
  places.push(at(0.85, 0), at(1, 0));
  pen.strokeStyle = colour;
  pen.lineWidth = 1.8;
  pen.lineJoin = "round";
  line(pen, places);
  pen.stroke();
}

export function drawDamper(pen, [from, to], colour) {
  const at = between(from, to);
  pen.strokeStyle = colour;
  pen.lineWidth = 1.8;
  for (const places of [[at(0, 0), at(0.4, 0)], [at(0.62, 8), at(0.4, 8), at(0.4, -8), at(0.62, -8)], [at(0.52, 6), at(0.52, -6)], [at(0.52, 0), at(1, 0)]]) {
    line(pen, places);
    pen.stroke();
  }
}

export function drawRod(pen, places, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = 2.5;
  line(pen, places);
  pen.stroke();
}

export function disc(pen, [x, y], radius, fill, stroke, width = 2) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = fill;
  pen.fill();
  if (!stroke) return;
  pen.strokeStyle = stroke;
  pen.lineWidth = width;
  pen.stroke();
}

export function drawCross(pen, [x, y], radius, ink) {
  pen.strokeStyle = ink;
  pen.lineWidth = radius / 3;
  for (const places of [[[x - radius, y], [x + radius, y]], [[x, y - radius], [x, y + radius]]]) {
    line(pen, places);
    pen.stroke();
  }
}

// a bearing on the ground: a triangle on a hatched line
export function drawGround(pen, [x, y], ink, paper, size) {
  pen.strokeStyle = ink;
  pen.fillStyle = paper;
  pen.lineWidth = 1.8;
  pen.lineJoin = "round";
  const [half, high, wide] = [11 * size, 18 * size, 16 * size];
  line(pen, [[x, y], [x - half, y + high], [x + half, y + high]], true);
  pen.fill();
  pen.stroke();
  hatch(pen, [x - wide, y + high], [x + wide, y + high], ink);
}

// a line with strokes below (on its right hand side)
export function hatch(pen, from, to, ink) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const at = between(from, to);
  pen.strokeStyle = ink;
  pen.lineWidth = 1.6;
  line(pen, [from, to]);
  pen.stroke();
  pen.lineWidth = 1;
  for (let s = 4; s <= length; s += 7) {
    line(pen, [at(s / length, 0), at((s - 5) / length, 6)]);
    pen.stroke();
  }
}

export function drawBlock(pen, place, direction, ink, paper, [length, width]) {
  const angle = Math.atan2(direction[1], direction[0]);
  pen.save();
  pen.translate(place[0], place[1]);
  pen.rotate(angle);
  pen.beginPath();
  pen.roundRect(-length / 2, -width / 2, length, width, 3);
  pen.fillStyle = paper;
  pen.strokeStyle = ink;
  pen.lineWidth = 2;
  pen.fill();
  pen.stroke();
  pen.restore();
}

export function drawRail(pen, from, to, ink, hatched) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const at = between(from, to);
  const ends = [at(-30 / length, 0), at(1 + 30 / length, 0)];
  pen.strokeStyle = ink;
  pen.lineWidth = 2;
  line(pen, ends);
  pen.stroke();
  if (hatched) {
    const left = ends[0][0] <= ends[1][0] ? ends : ends.reverse();
    const below = between(left[0], left[1]);
    hatch(pen, below(0, 11), below(1, 11), ink);
  }
}

export function drawArrow(pen, from, to, colour) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (length < 1.5) return;
  const at = between(from, to);
  const head = Math.min(11, length * 0.6) / length;
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 2.6;
  pen.lineCap = "butt";
  line(pen, [from, at(1 - head, 0)]);
  pen.stroke();
  line(pen, [to, at(1 - head, head * length * 0.5), at(1 - head, -head * length * 0.5)], true);
  pen.fill();
}

export function drawText(pen, text, x, y, ink, halo, align = "left", size = 13) {
  pen.font = `600 ${size}px system-ui, sans-serif`;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = halo;
  pen.strokeText(text, x, y);
  pen.fillStyle = ink;
  pen.fillText(text, x, y);
}
