// The mechanism in lines on a canvas.

import { drawBeam, drawBody, drawDamper, drawMass, drawSpring, line } from "./drawing.js";

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
    for (const { kind, point, body, frame, radius, outline, closed } of data.figures) {
      const shape = data.shapes.find(({ name, colour }) => name === body && colour >= 0), [x, y] = [0, 1].map((k) => this.place(this.oriented, 2 * frame + k));
      pen.strokeStyle = pen.fillStyle = shape ? this.colours[shape.colour] : this.ink.ground;
      pen.lineWidth = 1.8;
      if (kind === "wheel") {
        const [a, b] = seen[point], r = radius * camera.factor, at = (share) => [a + share * r * x[0], b - share * r * x[1]];
        line(pen, [at(0.75), at(1)]); // a mark that shows how it turns
        pen.stroke();
        pen.beginPath();
        pen.arc(a, b, r, 0, 2 * Math.PI);
      } else if (kind === "outline") {
        const from = this.place(this.places, point);
        line(pen, outline.map(([u, v]) => camera.project([0, 1].map((k) => from[k] + u * x[k] + v * y[k]))), closed);
      } else continue;
      pen.stroke();
      if (kind === "outline" && !closed) continue;
      pen.globalAlpha = 0.12;
      pen.fill();
      pen.globalAlpha = 1;
    }
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
