// The animated mechanism: data, options and the overlay of either view.

import { Camera } from "./camera.js";
import { disc, drawArrow, tone } from "./drawing.js";
import { flat } from "./flat.js";
import { joints } from "./joints.js";
import { loads } from "./loads.js";
import { scenery } from "./scenery.js";
import { SolidView } from "./solid.js";
import { Track, decode } from "./tracks.js";

export function short(number) {
  return String(Number(number.toPrecision(3))).replace("-", "−");
}

export class Animation {
  // solid bodies by default in space, lines in the plane and without WebGL
  constructor(canvas, data, parameters) {
    Object.assign(this, { canvas, time: 0, solid: null, cameras: {}, options: { labels: true, traces: true, centres: false, before: true, reactions: false, acting: false } });
    this.influence = { mode: "off", parameter: 0, percent: 1 };
    this.pen = canvas.getContext("2d");
    this.solidView = SolidView.behind(canvas, () => this.setSolid(false));
    this.setData(data, parameters);
    this.setSolid(data.dimension === 3);
  }

  // another motion, of the same or another mechanism; arrays may be decoded already. View and time are kept
  setData(data, parameters = this.parameters) {
    const n = data.dimension, size = data.points.length * n, same = this.data?.points.join() === data.points.join() && this.data.dimension === n;
    if (same) for (const camera of Object.values(this.cameras)) camera.follow(this.data.origin, data.origin);
    else this.cameras = {};
    Object.assign(this, { data, parameters });
    const track = (frames) => new Track(decode(frames.time), decode(frames.places), size, decode(frames.rates), frames.stepwise);
    this.track = track(data.motion);
    this.before = data.before ? track(data.before) : null;
    const axes = data.axes ? decode(data.axes) : new Float32Array(0), turning = axes.length / data.motion.frames;
    this.axes = new Track(this.track.time, axes, turning, null, data.motion.stepwise);
    this.turned = new Float32Array(turning);
    this.further = ["orientations", "reactions", "acting", "bending"].map((name) => {
      const given = data[name]?.values ?? data[name], values = given ? decode(given) : new Float32Array(0), each = values.length / data.motion.frames;
      return { track: new Track(this.track.time, values, each, null, data.motion.stepwise), now: new Float32Array(each) };
    });
    [this.oriented, this.reactions, this.acting, this.moments] = this.further.map(({ now }) => now);
    this.derivatives = [];
    if (data.sensitivity) {
      const all = decode(data.sensitivity.derivatives), each = data.sensitivity.frames * size;
      const time = decode(data.sensitivity.time);
      this.derivatives = parameters.map((_, k) => new Track(time, all.subarray(k * each, (k + 1) * each), size, null, data.motion.stepwise));
    }
    for (const name of ["places", "others", "derivative"]) this[name] = new Float32Array(size);
    this.duration = this.track.time[this.track.time.length - 1];
    this.time = Math.min(this.time, this.duration);
    this.typical = this.typicalLength();
    this.traces = data.traces.map(({ point }) => this.pathOf(point));
    this.labels = new Map();
    this.held = new Set(data.joints.filter((joint) => joint.ground || joint.kind === "slider").map((joint) => joint.points[1]));
    for (const { point, text } of data.labels) this.labels.set(point, [...(this.labels.get(point) || []), text]);
    this.theme();
    this.solidView?.setData(this);
    this.resize();
  }

  // the camera of the present view; a spatial mechanism has one for both
  get camera() {
    const spatial = Boolean(this.solid) || this.data.dimension === 3;
    return (this.cameras[spatial] ??= new Camera(this.data, this.track.values, spatial));
  }

  // shows solid bodies, if the browser can
  setSolid(on) {
    this.solid = on ? this.solidView : null;
    if (this.solidView) this.solidView.canvas.hidden = !this.solid;
    this.resize();
  }

  // shows the whole motion
  fit() {
    this.camera.fit(this.data, this.track.values);
  }

  // path of a point, with a number of vertices that can be drawn quickly
  pathOf(point) {
    const { track, duration, data: { dimension: n } } = this;
    const times = track.stepwise ? [...track.time] : Array.from({ length: duration ? 1501 : 1 }, (_, k) => (duration * k) / 1500);
    return times.map((time) => ({ time, place: track.at(time, new Float32Array(n), point * n) }));
  }

  theme() {
    const style = getComputedStyle(document.documentElement);
    this.ink = {};
    this.colours = this.data.colours.map(tone);
    this.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    for (const name of ["ink", "soft", "stage", "grid", "strong-grid", "ground", "bad", "good", "arrow"]) this.ink[name] = style.getPropertyValue(`--${name}`).trim();
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas, ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.camera.resize(clientWidth, clientHeight);
    this.solidView?.resize(this.canvas.width, this.canvas.height);
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

  // legend of the overlays
  legend() {
    const { mode, parameter } = this.influence;
    if (mode !== "arrows" && this.shownForces().length) return this.forceLegend();
    if (mode === "off") return this.before && this.options.before ? "Grey: before. In colour: after" : "";
    const { name, unit } = this.parameters[parameter];
    if (mode === "ghost") return `Ghost: ${name} changed by ${this.changeText}, to first order`;
    const per = unit ? ` per ${unit}` : "";
    return `Arrows: ∂r/∂${name}. Longest now ${short(this.longest)} m${per}, at any time ${short(this.data.sensitivity.largest[parameter])} m${per}`;
  }

  draw() {
    const { pen, camera } = this, { mode, parameter } = this.influence;
    camera.look();
    pen.clearRect(0, 0, camera.width, camera.height);
    this.track.at(this.time, this.places);
    this.axes.at(this.time, this.turned);
    for (const { track, now } of this.further) track.at(this.time, now);
    if (mode !== "off") this.derivatives[parameter].at(this.time, this.derivative);
    const seen = this.project(this.places);
    if (this.solid) this.solid.draw(this);
    else this.drawFlat(seen);
    this.drawContacts(seen);
    if (this.options.centres) for (const point of this.data.centres) this.drawCentre(seen[point]);
    this.drawForces(seen);
    if (mode === "arrows") this.drawArrows(seen);
    if (this.options.labels) this.drawLabels(seen);
    this.drawScale();
    if (this.solid && this.data.bending) this.drawMomentScale();
  }

  // positions with the selected parameter changed, to first order
  ghost() {
    for (let i = 0; i < this.others.length; i++) this.others[i] = this.places[i] + this.derivative[i] * this.change;
    return this.others;
  }

  project(places) {
    return this.data.points.map((_, point) => this.camera.project(this.place(places, point)));
  }

  // contacts that are closed, or have just had an impact
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

Object.assign(Animation.prototype, flat, joints, loads, scenery);
