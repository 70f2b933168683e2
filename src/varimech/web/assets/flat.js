// The mechanism in lines on a canvas.

import { drawBeam, drawBody, drawDamper, drawMass, drawSpring, line } from "./drawing.js";
import { beltLine } from "./solid_figures.js";

// methods of an animation
export const flat = {
  drawFlat(seen) {
    this.drawGrid();
    if (this.options.traces) this.drawTraces();
    if (this.before && this.options.before) this.drawMechanism(this.project(this.before.at(this.time, this.others)), 0.45, this.ink.ground);
    if (this.influence.mode === "ghost") this.drawMechanism(this.project(this.ghost()), 0.32);
    this.drawFigures(seen);
    this.drawMechanism(seen, 1);
  },

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
  },

  // wheels, cams and other outlines of planar bodies
  drawFigures(seen) {
    const { pen, camera, data } = this;
    if (data.dimension === 3) return;
    for (const figure of data.figures) {
      const { kind, point, body, frame, radius, outline, closed } = figure;
      const shape = data.shapes.find(({ name, colour }) => name === body && colour >= 0), [x, y] = [0, 1].map((k) => this.place(this.oriented, 2 * frame + k));
      pen.strokeStyle = pen.fillStyle = shape ? this.colours[shape.colour] : this.ink.ground;
      pen.lineWidth = 1.8;
      if (kind === "wheel") {
        const [a, b] = seen[point], r = radius * camera.factor, at = (share) => [a + share * r * x[0], b - share * r * x[1]];
        line(pen, [at(0.75), at(1)]); // a mark that shows the rotation
        pen.stroke();
        pen.beginPath();
        pen.arc(a, b, r, 0, 2 * Math.PI);
      } else if (kind === "outline") {
        const from = this.place(this.places, point);
        line(pen, outline.map(([u, v]) => camera.project([0, 1].map((k) => from[k] + u * x[k] + v * y[k]))), closed);
      } else if (kind === "belt") this.flatBelt(figure);
      else if (kind === "rack") this.flatRack(figure);
      else continue;
      pen.stroke();
      if (kind === "belt" || (kind === "outline" && !closed)) continue;
      pen.globalAlpha = 0.12;
      pen.fill();
      pen.globalAlpha = 1;
    }
  },

  // the line of a belt around its pulleys
  flatBelt({ point, mate, radius, mate_radius: other, reversed }) {
    const [a, b] = [point, mate].map((p) => this.place(this.places, p)), apart = Math.hypot(b[0] - a[0], b[1] - a[1]), [c, s] = [(b[0] - a[0]) / apart, (b[1] - a[1]) / apart];
    line(this.pen, beltLine(apart, radius, other, reversed).map(([x, y]) => this.camera.project([a[0] + c * x - s * y, a[1] + s * x + c * y])), true);
  },

  // the pitch lines of a rack and of its pinion
  flatRack({ point, mate, radius, half, axis: [u, v], axis_frame: frame, mate_frame: other, reversed }) {
    const { pen, camera } = this, [x, y, mark] = [2 * frame, 2 * frame + 1, 2 * other].map((k) => this.place(this.oriented, k)), sign = reversed ? -1 : 1;
    const length = Math.hypot(u, v), a = [0, 1].map((k) => (u * x[k] + v * y[k]) / length), to = [sign * a[1], -sign * a[0]];
    const [from, at] = [point, mate].map((p) => this.place(this.places, p)), along = (from[0] - at[0]) * a[0] + (from[1] - at[1]) * a[1];
    const ends = [along - half, along + half].map((s) => camera.project([0, 1].map((k) => at[k] + radius * to[k] + s * a[k])));
    const [cx, cy] = camera.project(at), r = radius * camera.factor;
    line(pen, ends);
    pen.stroke();
    line(pen, [[cx + 0.75 * r * mark[0], cy - 0.75 * r * mark[1]], [cx + r * mark[0], cy - r * mark[1]]]);
    pen.stroke();
    pen.beginPath();
    pen.arc(cx, cy, r, 0, 2 * Math.PI);
  },

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
  },
};
