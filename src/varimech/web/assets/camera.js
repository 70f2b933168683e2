// Projection of points to the screen. Planar: panned and zoomed. Spatial: rotated and zoomed, in mild perspective.

export class Camera {
  // `places`: positions of the whole motion, relative to its centre
  constructor(dimension, { box, up: [upright, sign] }, places) {
    this.spatial = dimension === 3;
    this.axes = [[1, 2, 0], [2, 0, 1], [0, 1, 2]][upright]; // indices of the horizontal, horizontal and vertical components
    if (sign < 0) this.axes = [this.axes[1], this.axes[0], this.axes[2]]; // keeps the frame right-handed
    this.signs = [1, 1, sign];
    this.box = box;
    this.offset = [0, 0];
    this.width = this.height = 1;
    this.reset();
    this.look();
    this.extent = this.spatial ? this.seenExtent(places) : box[1].map((high, k) => Math.max(high - box[0][k], this.size * 0.02));
  }

  reset() {
    this.yaw = 0.6;
    this.pitch = 0.42;
    this.zoom = 1;
    this.shift = [0, 0];
  }

  // positions are relative to another origin now: what is seen stays where it is
  follow(moved) {
    this.box = this.box.map((corner) => corner.map((x, k) => x - moved[k]));
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

  // width and height (m) of the motion in the initial view, which is centred on the screen
  seenExtent(places) {
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (let k = 0; k < places.length; k += 3) {
      this.seen(places.subarray(k, k + 3)).forEach((x, row) => {
        if (row > 1) return;
        low[row] = Math.min(low[row], x);
        high[row] = Math.max(high[row], x);
      });
    }
    this.offset = low.map((x, row) => (x + high[row]) / 2);
    return low.map((x, row) => Math.max(high[row] - x, this.size * 0.05));
  }

  // metres to the right, upwards and towards the eye, in perspective
  seen(place) {
    const v = this.axes.map((k, row) => this.signs[row] * (place[k] - this.middle[k]));
    const along = (d) => d[0] * v[0] + d[1] * v[1] + d[2] * v[2];
    const depth = along(this.towards), near = (3 * this.size) / Math.max(3 * this.size - depth, 0.3 * this.size);
    return [along(this.right) * near, along(this.upright) * near, depth];
  }

  // pixels a metre
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

  // x and y in pixels, depth in metres (nearer is larger) of a place
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

// largest 1, 2 or 5 times a power of ten that is not above
export function niceLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const digit = length / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}
