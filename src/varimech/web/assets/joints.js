// Joints: pins and balls, axes of hinges in space, blocks on rails, bearings on the ground.

import { between, disc, drawBlock, drawCross, drawGround, drawRail, drawRod, hatch, line } from "./drawing.js";

// methods of an animation
export const joints = {
  drawJoint(joint, seen, strong) {
    const { pen, ink } = this, place = seen[joint.points[1]], size = Math.max(0.6, this.weight), square = (width) => [width * size, width * size];
    if (joint.kind === "distance") return drawRod(pen, joint.points.map((p) => seen[p]), ink.soft);
    if (joint.kind === "slider") return this.drawSlider(joint, seen, "block");
    const spatial = this.data.dimension === 3, turns = ["pin", "ball", "universal"].includes(joint.kind);
    if (joint.ground && strong) {
      if (turns && !spatial) drawGround(pen, place, ink.ground, ink.stage, size);
      else drawBlock(pen, place, [1, 0], ink.ground, ink.stage, square(joint.kind === "anchor" ? 10 : 20));
    }
    if (this.weight < 0.5 && !joint.ground) return; // too many to distinguish
    if (joint.kind === "pin" && joint.axis >= 0) this.drawAxle(joint, place);
    if (turns) disc(pen, place, (strong ? 5.5 : 4) * this.weight, joint.kind === "ball" ? ink.ink : ink.stage, ink.ink, 2 * this.weight);
    else if (joint.kind === "fixed") drawBlock(pen, place, [1, 0], ink.ink, ink.stage, square(11));
    if (joint.kind === "universal") drawCross(pen, place, 5.5 * this.weight, ink.ink);
  },

  // screen vector of a length (m) along the axis of a joint; null without an axis
  along(joint, length) {
    if (joint.axis < 0) return [0, 0];
    const place = this.place(this.places, joint.points[1]), direction = this.place(this.turned, joint.axis);
    const [from, to] = [place, place.map((x, k) => x + length * direction[k])].map((p) => this.camera.project(p));
    return [to[0] - from[0], to[1] - from[1]];
  },

  // short segment of the axis of a spatial hinge on both sides
  drawAxle(joint, [x, y]) {
    const { pen, ink } = this, [dx, dy] = this.along(joint, 0.045 * this.camera.size);
    pen.strokeStyle = ink.ink;
    pen.lineCap = "butt";
    pen.lineWidth = Math.max(1.5, 3.5 * this.weight);
    line(pen, [[x - dx, y - dy], [x + dx, y + dy]]);
    pen.stroke();
  },

  // `part`: the rail or the block on it; a block that belongs to the ground is fixed
  drawSlider(joint, seen, part) {
    const { pen, ink, camera } = this, [first, second] = joint.points.map((p) => seen[p]), size = Math.max(0.6, this.weight);
    const apart = (a, b) => [b[0] - a[0], b[1] - a[1]], long = ([x, y]) => Math.hypot(x, y) > 1;
    let ends = joint.rail ? joint.rail.map((p) => camera.project(p)) : [first, second], direction = this.along(joint, 0.05 * camera.size);
    if (!long(direction)) direction = long(apart(...ends)) ? apart(...ends) : [1, 0];
    if (!long(apart(...ends))) ends = [second.slice(0, 2), [second[0] + direction[0], second[1] + direction[1]]];
    if (part === "rail") return drawRail(pen, ...ends, ink.ground, Boolean(joint.rail) && this.data.dimension === 2);
    if (joint.ground) {
      const across = between(second, [second[0] + Math.abs(direction[0]), second[1] + (direction[0] < 0 ? -direction[1] : direction[1])]);
      const [half, below] = [18 * size, 10 * size], length = Math.hypot(...direction);
      hatch(pen, across(-half / length, below), across(half / length, below), ink.ground);
    }
    drawBlock(pen, second, direction, ink.ink, ink.stage, [26 * size, 16 * size]);
  },
};
