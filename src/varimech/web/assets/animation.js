// The mechanism in motion. Frames are typed arrays; between two of them positions follow cubic Hermite curves.

import { Camera } from "./camera.js";
import { disc, drawArrow, drawBeam, drawBody, drawDamper, drawMass, drawSpring, line, tone } from "./drawing.js";
import { joints } from "./joints.js";
import { scenery } from "./scenery.js";

// numbers that stand in a page as base64, or are an array already
export function decode(text) {
  if (typeof text !== "string") return text;
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return new Float32Array(bytes.buffer);
}

// numbers over time, (frame, size); with `rates` cubic between frames, otherwise linear, or constant if frames are too far apart
export class Track {
  constructor(time, values, size, rates = null, stepwise = false) {
    Object.assign(this, { time, values, size, rates, stepwise, last: 0 });
  }

  // the row at a time, written into `into`
  at(time, into) {
    const T = this.time, n = T.length;
    let k = this.last;
    if (!(T[k] <= time && (k + 1 >= n || time < T[k + 1]))) {
      let low = 0, high = n - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (T[middle] <= time) low = middle;
        else high = middle - 1;
      }
      k = this.last = low;
    }
    const next = Math.min(k + 1, n - 1), gap = T[next] - T[k];
    const inside = gap > 0 ? Math.max(0, Math.min(1, (time - T[k]) / gap)) : 0, s = this.stepwise ? Math.round(inside) : inside;
    const a = k * this.size, b = next * this.size, V = this.values, R = this.rates;
    if (!R) {
      for (let i = 0; i < this.size; i++) into[i] = V[a + i] + s * (V[b + i] - V[a + i]);
      return into;
    }
    const to = s * s * (3 - 2 * s), leave = s * (1 - s) * (1 - s) * gap, arrive = s * s * (s - 1) * gap; // Hermite
    for (let i = 0; i < this.size; i++) into[i] = V[a + i] + to * (V[b + i] - V[a + i]) + leave * R[a + i] + arrive * R[b + i];
    return into;
  }
}

export function short(number) {
  return String(Number(number.toPrecision(3))).replace("-", "−");
}

export class Animation {
  constructor(canvas, data, parameters) {
    Object.assign(this, { canvas, time: 0, options: { labels: true, traces: true, centres: false, before: true } });
    this.influence = { mode: "off", parameter: 0, percent: 1 };
    this.pen = canvas.getContext("2d");
    this.setData(data, parameters);
    this.camera = new Camera(data.dimension, data, this.track.values);
    this.typical = this.typicalLength();
    this.theme();
    this.resize();
  }

  // another motion of the same mechanism; the view stays as it is
  setData(data, parameters) {
    const moved = this.data ? data.origin.map((x, k) => x - this.data.origin[k]) : null;
    Object.assign(this, { data, parameters });
    const n = data.dimension, size = data.points.length * n;
    const track = (frames) => new Track(decode(frames.time), decode(frames.places), size, decode(frames.rates), frames.stepwise);
    this.track = track(data.motion);
    this.before = data.before ? track(data.before) : null;
    const axes = data.axes ? decode(data.axes) : new Float32Array(0), turning = axes.length / data.motion.frames;
    this.axes = new Track(this.track.time, axes, turning, null, data.motion.stepwise);
    this.turned = new Float32Array(turning);
    this.derivatives = [];
    if (data.sensitivity) {
      const all = decode(data.sensitivity.derivatives), each = data.sensitivity.frames * size;
      const time = decode(data.sensitivity.time);
      this.derivatives = parameters.map((_, k) => new Track(time, all.subarray(k * each, (k + 1) * each), size, null, data.motion.stepwise));
    }
    this.places = new Float32Array(size);
    this.others = new Float32Array(size);
    this.derivative = new Float32Array(size);
    this.duration = this.track.time[this.track.time.length - 1];
    this.time = Math.min(this.time, this.duration);
    if (moved) this.camera.follow(moved);
    this.traces = data.traces.map(({ point }) => this.pathOf(point));
    this.labels = new Map();
    this.held = new Set(data.joints.filter((joint) => joint.ground || joint.kind === "slider").map((joint) => joint.points[1]));
    for (const { point, text } of data.labels) this.labels.set(point, [...(this.labels.get(point) || []), text]);
  }

  // path of a point, with few enough vertices to draw quickly
  pathOf(point) {
    const { track, duration, data: { dimension: n } } = this, all = new Float32Array(track.size);
    const times = track.stepwise ? [...track.time] : Array.from({ length: duration ? 1501 : 1 }, (_, k) => (duration * k) / 1500);
    return times.map((time) => ({ time, place: track.at(time, all).slice(point * n, point * n + n) }));
  }

  theme() {
    const style = getComputedStyle(document.documentElement);
    this.ink = {};
    this.colours = this.data.colours.map(tone);
    for (const name of ["ink", "soft", "stage", "grid", "strong-grid", "ground", "bad", "arrow"]) this.ink[name] = style.getPropertyValue(`--${name}`).trim();
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas, ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.camera.resize(clientWidth, clientHeight);
  }

  // lines are thinner if bodies are small on the screen
  get weight() {
    return Math.max(0.3, Math.min(1, (this.typical * this.camera.factor) / 50));
  }

  // initial median length of bodies (m)
  typicalLength() {
    const { dimension: n, shapes } = this.data, at = (p) => this.track.values.subarray(p * n, p * n + n);
    const apart = (p, q) => Math.hypot(...at(p).map((x, k) => x - at(q)[k]));
    const lengths = shapes.filter((s) => s.colour >= 0).map((s) => s.points.slice(1).reduce((sum, p, k) => sum + apart(p, s.points[k]), 0));
    return lengths.sort((a, b) => a - b)[lengths.length >> 1] || this.camera.size;
  }

  place(places, point) {
    const n = this.data.dimension;
    return places.subarray(point * n, point * n + n);
  }

  // change of the selected parameter; relative to its scale if its value is zero
  get change() {
    return (this.influence.percent / 100) * this.parameters[this.influence.parameter].scale;
  }

  get changeText() {
    const { value, unit } = this.parameters[this.influence.parameter], percent = this.influence.percent;
    return value ? `${percent > 0 ? "+" : ""}${short(percent)} %` : `${percent > 0 ? "+" : ""}${short(this.change)} ${unit}`;
  }

  // legend of what is shown besides the mechanism
  legend() {
    const { mode, parameter } = this.influence;
    if (mode === "off") return this.before && this.options.before ? "Grey: before. In colour: after" : "";
    const { name, unit } = this.parameters[parameter];
    if (mode === "ghost") return `Ghost: ${name} changed by ${this.changeText}, to first order`;
    const per = unit ? ` per ${unit}` : "";
    return `Arrows: ∂r/∂${name}. Longest now ${short(this.longest)} m${per}, at any time ${short(this.data.sensitivity.largest[parameter])} m${per}`;
  }

  draw() {
    const { pen, camera, ink } = this;
    camera.look();
    pen.clearRect(0, 0, camera.width, camera.height);
    this.drawGrid();
    this.track.at(this.time, this.places);
    this.axes.at(this.time, this.turned);
    const seen = this.project(this.places);
    if (this.options.traces) this.drawTraces();
    if (this.before && this.options.before) this.drawMechanism(this.project(this.before.at(this.time, this.others)), 0.45, ink.ground);
    const { mode, parameter } = this.influence;
    if (mode !== "off") this.derivatives[parameter].at(this.time, this.derivative);
    if (mode === "ghost") {
      for (let i = 0; i < this.others.length; i++) this.others[i] = this.places[i] + this.derivative[i] * this.change;
      this.drawMechanism(this.project(this.others), 0.32);
    }
    this.drawMechanism(seen, 1);
    this.drawContacts(seen);
    if (this.options.centres) for (const point of this.data.centres) this.drawCentre(seen[point]);
    if (mode === "arrows") this.drawArrows(seen);
    if (this.options.labels) this.drawLabels(seen);
    this.drawScale();
  }

  project(places) {
    return this.data.points.map((_, point) => this.camera.project(this.place(places, point)));
  }

  // `plain`: one colour for the whole mechanism
  drawMechanism(seen, opacity, plain) {
    const { pen, ink, data } = this;
    pen.globalAlpha = opacity;
    const strong = opacity === 1, weight = this.weight;
    if (strong) for (const joint of data.joints) if (joint.kind === "slider") this.drawSlider(joint, seen, "rail");
    const depth = (shape) => shape.points.reduce((sum, p) => sum + seen[p][2], 0) / shape.points.length;
    const shapes = data.dimension === 3 ? [...data.shapes].sort((a, b) => depth(a) - depth(b)) : data.shapes;
    for (const shape of shapes) {
      const places = shape.points.map((p) => seen[p]);
      const colour = plain || (shape.colour < 0 ? ink.soft : this.colours[shape.colour]);
      if (shape.kind === "spring") drawSpring(pen, places, colour);
      else if (shape.kind === "damper") drawDamper(pen, places, colour);
      else if (shape.kind === "mass") drawMass(pen, places, colour, 11 * Math.max(0.6, weight));
      else if (shape.kind === "beam") drawBeam(pen, places, colour, (strong ? 6 : 5) * weight);
      else drawBody(pen, places, shape.around.map((p) => seen[p]), colour, (strong ? 9 : 7) * weight, shape.whole);
    }
    for (const joint of data.joints) this.drawJoint(joint, seen, strong);
    pen.globalAlpha = 1;
  }

  // contacts that are closed, or have just been hit
  drawContacts(seen) {
    const { pen, ink } = this;
    for (const { point, spans } of this.data.contacts || []) {
      if (!spans.some(([begin, end]) => begin <= this.time && this.time <= end)) continue;
      pen.globalAlpha = 0.35;
      disc(pen, seen[point], 13, ink.bad, ink.bad);
      pen.globalAlpha = 1;
      disc(pen, seen[point], 5, ink.bad, ink.stage);
    }
  }

  drawCentre([x, y]) {
    const { pen, ink } = this;
    disc(pen, [x, y], 5, ink.stage, ink.ink);
    pen.fillStyle = ink.ink;
    for (const start of [0, Math.PI]) {
      pen.beginPath();
      pen.moveTo(x, y);
      pen.arc(x, y, 5, start, start + Math.PI / 2);
      pen.fill();
    }
  }

  drawTraces() {
    const { pen, camera, ink, data } = this;
    this.traces.forEach((path, k) => {
      const seen = path.map((at) => camera.project(at.place));
      const passed = seen.filter((_, i) => path[i].time <= this.time);
      passed.push(camera.project(this.place(this.places, data.traces[k].point)));
      pen.lineJoin = "round";
      pen.strokeStyle = ink["strong-grid"];
      pen.lineWidth = 1.5;
      line(pen, seen);
      pen.stroke();
      pen.strokeStyle = ink.bad;
      pen.globalAlpha = 0.75;
      pen.lineWidth = 2;
      line(pen, passed);
      pen.stroke();
      pen.globalAlpha = 1;
    });
  }

  // the longest arrow is an eighth of the mechanism's size, unless it is negligible compared with its later length
  drawArrows(seen) {
    const points = [...this.labels.keys()];
    this.longest = Math.max(...points.map((point) => Math.hypot(...this.place(this.derivative, point))));
    const scale = (0.13 * this.camera.size) / (Math.max(this.longest, 1e-3 * this.data.sensitivity.largest[this.influence.parameter]) || 1);
    for (const point of points) {
      const place = this.place(this.places, point), derivative = this.place(this.derivative, point);
      drawArrow(this.pen, seen[point], this.camera.project(place.map((x, k) => x + scale * derivative[k])), this.ink.arrow);
    }
  }
}

Object.assign(Animation.prototype, joints, scenery);
