// Projection of points to the screen. Flat: panned and zoomed. Spatial: rotated and zoomed, in mild perspective or without any.

const EYE = 3; // distance of the eye, in sizes of the mechanism: mild perspective

export class Camera {
  // `places`: positions of the whole motion, relative to its centre; `spatial`: whether the view can be rotated
  constructor(data, places, spatial) {
    this.spatial = spatial;
    this.planar = data.dimension === 2;
    const [upright, sign] = this.planar ? [1, 1] : data.up;
    this.axes = [[1, 2, 0], [2, 0, 1], [0, 1, 2]][upright]; // indices of the horizontal, horizontal and vertical components
    if (sign < 0) this.axes = [this.axes[1], this.axes[0], this.axes[2]]; // keeps the frame right-handed
    this.signs = [1, 1, sign];
    this.perspective = true;
    this.width = this.height = 1;
    this.fit(data, places);
  }

  // shows a whole motion, from the initial direction
  fit({ box, points, joints = [], figures = [] }, places) {
    this.box = box.map((corner) => [...corner, 0].slice(0, 3));
    this.offset = [0, 0];
    this.reset();
    this.look();
    this.extent = this.spatial ? this.seenExtent(places, points.length, joints, figures) : this.box[1].map((high, k) => Math.max(high - this.box[0][k], this.size * 0.02));
  }

  // keeps the view when the origin of positions changes
  follow(before, after) {
    this.box = this.box.map((corner) => corner.map((x, k) => x + (before[k] ?? 0) - (after[k] ?? 0)));
  }

  reset() {
    this.yaw = this.planar ? 0.4 : 0.6;
    this.pitch = this.planar ? 0.3 : 0.42;
    this.zoom = 1;
    this.shift = [0, 0];
  }

  // rotates to one of the standard views
  turnTo(view) {
    const front = this.planar ? 0 : -Math.PI / 2;
    const [yaw, pitch] = { front: [front, 0], side: [front + Math.PI / 2, 0], top: [front, Math.PI / 2], isometric: [front + Math.PI / 4, Math.atan(Math.SQRT1_2)] }[view];
    Object.assign(this, { yaw, pitch, shift: [0, 0], zoom: 1 });
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  get centre() {
    return this.box[0].map((low, k) => (low + this.box[1][k]) / 2);
  }

  get size() {
    return Math.hypot(...this.box[0].map((low, k) => this.box[1][k] - low)) || 1;
  }

  // width of the squares on the floor (m)
  get gridStep() {
    return niceLength(this.size / 6);
  }

  // width and height (m) of the motion in the initial view, which is centred on the screen
  seenExtent(places, count, joints, figures) {
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity], n = this.planar ? 2 : 3, reach = new Float32Array(count);
    for (const { point, reach: far = 0 } of figures) reach[point] = Math.max(reach[point], far);
    const include = (place, around) => this.seen(place).forEach((x, row) => {
      if (row > 1) return;
      low[row] = Math.min(low[row], x - around);
      high[row] = Math.max(high[row], x + around);
    });
    for (let k = 0; k < places.length; k += n) include(places.subarray(k, k + n), reach[(k / n) % count]);
    for (const { box } of figures) if (box) for (let k = 0; k < 8; k++) include([0, 1, 2].map((c) => box[(k >> c) & 1][c] ?? 0), 0);
    if (!this.planar) for (const { ground, points: [, p] } of joints) if (ground) include(this.footOf(places.subarray(p * n, p * n + n)), 0.02 * this.size);
    this.offset = low.map((x, row) => (x + high[row]) / 2);
    return low.map((x, row) => Math.max(high[row] - x, this.size * 0.05));
  }

  // floor position below a position
  footOf(place) {
    const k = this.axes[2], below = this.signs[2] > 0 ? this.box[0][k] - 0.04 * this.size : this.box[1][k] + 0.04 * this.size;
    return Object.assign([...place], { [k]: below });
  }

  // metres to the right, upwards and towards the eye, with perspective
  seen(place) {
    const v = this.axes.map((k, row) => this.signs[row] * ((place[k] ?? 0) - this.middle[k]));
    const along = (d) => d[0] * v[0] + d[1] * v[1] + d[2] * v[2];
    const depth = along(this.towards), far = EYE * this.size;
    const near = this.perspective ? far / Math.max(far - depth, 0.1 * far) : 1;
    return [along(this.right) * near, along(this.upright) * near, depth];
  }

  // pixels per metre
  get scale() {
    const [wide, high] = this.extent || [1, 1];
    return this.zoom * Math.min((this.width * 0.8) / wide, (this.height * (this.spatial ? 0.76 : 0.72)) / high);
  }

  // view direction and up direction for the present angles
  look() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    this.right = [-sy, cy, 0];
    this.upright = [-sp * cy, -sp * sy, cp];
    this.towards = [cp * cy, cp * sy, sp];
    this.middle = this.centre;
    this.factor = this.scale;
  }

  // x and y in pixels, depth in metres (larger is nearer) of a position
  project(place) {
    const c = this.middle;
    if (!this.spatial) {
      return [
        this.width / 2 + this.shift[0] + (place[0] - c[0]) * this.factor,
        this.height / 2 + this.shift[1] - (place[1] - c[1]) * this.factor,
        0,
      ];
    }
    const [x, y, depth] = this.seen(place);
    return [
      this.width / 2 + this.shift[0] + (x - this.offset[0]) * this.factor,
      this.height / 2 + this.shift[1] - (y - this.offset[1]) * this.factor,
      depth,
    ];
  }

  // a direction of the view (right, up, towards the eye, all horizontal or vertical components) in global components
  global(direction) {
    const out = [0, 0, 0];
    this.axes.forEach((k, row) => (out[k] = this.signs[row] * direction[row]));
    return out;
  }

  // the same projection as `project`, as a matrix to clip coordinates (columns)
  matrix() {
    const { width, height, factor, shift, offset, middle } = this, E = EYE * this.size;
    const rows = [this.right, this.upright, this.towards].map((d) => {
      const [a, b, c] = this.global(d);
      return [a, b, c, -(a * middle[0] + b * middle[1] + c * middle[2])];
    });
    const [X, Y, D] = rows, w = this.perspective ? D.map((x, k) => (k === 3 ? 1 : 0) - x / E) : [0, 0, 0, 1];
    const [front, back] = [0.8 * E, -2 * E], at = (depth) => (this.perspective ? 1 - depth / E : 1);
    const slope = (at(back) + at(front)) / (back - front), start = -at(front) - slope * front; // from −w in front to w behind
    const z = D.map((x, k) => slope * x + (k === 3 ? start : 0));
    const [sx, sy] = [2 / width, 2 / height], [dx, dy] = [shift[0] - offset[0] * factor, -shift[1] - offset[1] * factor];
    const x = X.map((v, k) => sx * (v * factor + dx * w[k])), y = Y.map((v, k) => sy * (v * factor + dy * w[k]));
    return new Float32Array([0, 1, 2, 3].flatMap((k) => [x[k], y[k], z[k], w[k]]));
  }

  drag(dx, dy, moving) {
    if (this.spatial && !moving) {
      this.yaw -= dx * 0.008;
      this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + dy * 0.008));
    } else {
      this.shift = [this.shift[0] + dx, this.shift[1] + dy];
    }
  }

  // keeps the point below the pointer fixed
  wheel(factor, x, y) {
    const zoom = Math.max(0.05, Math.min(80, this.zoom * factor));
    const [u, v] = [x - this.width / 2, y - this.height / 2];
    this.shift = [u - ((u - this.shift[0]) * zoom) / this.zoom, v - ((v - this.shift[1]) * zoom) / this.zoom];
    this.zoom = zoom;
  }
}

// largest 1, 2 or 5 times a power of ten that is not larger than a number
export function niceLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const digit = length / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}
