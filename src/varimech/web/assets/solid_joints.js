// Solid joints by kind: pins, balls, crosses, blocks on rails, and their supports on the ground.

import { THIN, cross, minus, plus, times, unitOf } from "./solid_kit.js";

export function jointPart(kit, joint) {
  if (joint.kind === "distance") return (inks) => kit.piece("fittings", "capsule", kit.at(joint.points[0]), kit.at(joint.points[1]), 0.4 * kit.radius, inks.soft);
  if (joint.kind === "slider") return sliderPart(kit, joint);
  const part = kit.planar ? planarJoint(kit, joint) : spatialJoint(kit, joint);
  if (!joint.ground) return part;
  const ground = kit.planar ? wallPart(kit, joint) : postPart(kit, joint);
  return (inks, strong) => {
    part(inks);
    if (strong) ground(inks);
  };
}

// a pin through all layers that it joins
function planarJoint(kit, joint) {
  const { radius: r } = kit, [low, high] = kit.span(joint.points), over = (THIN + 0.16) * r;
  const fixed = joint.kind === "fixed" || joint.kind === "anchor";
  return (inks) => {
    const [x, y] = kit.at(joint.points[1]), from = low * kit.spacing - over, length = (high - low) * kit.spacing + 2 * over;
    kit.batch("fittings", fixed ? "block" : "cylinder").add(x, y, from, 0, 0, length, 1, 0, 0, 0.52 * r, inks.steel);
  };
}

// a foot on the wall behind a planar mechanism
function wallPart(kit, joint) {
  const { radius: r, wall } = kit, [low] = kit.span(joint.points);
  return (inks) => {
    const [x, y] = kit.at(joint.points[1]), top = low * kit.spacing - 1.1 * THIN * r;
    kit.batch("fittings", "cylinder").add(x, y, wall, 0, 0, top - wall, 0, 0, 0, 0.8 * r, inks.ground);
    kit.batch("fittings", "cylinder").add(x, y, wall, 0, 0, 0.4 * r, 0, 0, 0, 1.7 * r, inks.ground);
  };
}

function spatialJoint(kit, joint) {
  const { radius: r } = kit, point = joint.points[1];
  const ball = (size, ink) => kit.batch("fittings", "capsule").add(...kit.at(point), 0, 0, 0, 0, 0, 0, size * r, ink);
  const bolt = (axis, half, size, ink) => {
    const at = kit.at(point), arm = times(axis, half * r);
    kit.piece("fittings", "cylinder", minus(at, arm), plus(at, arm), size * r, ink);
  };
  if (joint.kind === "ball") return (inks) => ball(1.5, inks.steel);
  if (joint.kind === "universal") return (inks) => {
    const axis = kit.axis(joint), across = unitOf(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    ball(1.25, inks.steel);
    bolt(axis, 2.1, 0.55, inks.steel);
    bolt(across, 2.1, 0.55, inks.steel);
  };
  if (joint.kind === "pin" && joint.axis >= 0) return (inks) => {
    bolt(kit.axis(joint), 1.35, 1.35, inks.steel);
    bolt(kit.axis(joint), 1.9, 0.6, inks.ink);
  };
  if (joint.kind === "plane") return (inks) => bolt(joint.axis >= 0 ? kit.axis(joint) : [0, 0, 1], 0.3, 2.4, inks.steel);
  const cube = joint.kind === "anchor" ? 0.9 : 1.2;
  return (inks) => {
    const [x, y, z] = kit.at(point);
    kit.batch("fittings", "block").add(x, y, z - cube * r, 0, 0, 2 * cube * r, 1, 0, 0, cube * r, inks.steel);
  };
}

// a post on the floor
function postPart(kit, joint) {
  const { radius: r } = kit, point = joint.points[1];
  return (inks) => {
    const at = kit.at(point), foot = kit.onFloor(at), up = unitOf(minus(at, foot));
    if (Math.hypot(...minus(at, foot)) < 1.5 * r) return;
    kit.piece("fittings", "cylinder", foot, at, 0.45 * r, inks.ground);
    kit.piece("fittings", "cylinder", foot, plus(foot, times(up, 0.4 * r)), 2 * r, inks.ground);
    kit.piece("fittings", "cylinder", minus(at, times(up, 2.2 * r)), minus(at, times(up, 1.2 * r)), r, inks.ground);
  };
}

// a block at the second point; a rail along its path on the ground, or to the first point
function sliderPart(kit, joint) {
  const { radius: r, planar } = kit, up = planar ? [0, 0, 1] : [0, 0, 0], z = planar ? [0, 0, kit.span([joint.points[1]])[0] * kit.spacing] : [0, 0, 0];
  const size = 1.5 * r, reach = 3 * size, rail = joint.rail?.map((end) => [...end, 0].slice(0, 3));
  return (inks, strong) => {
    const [first, second] = joint.points.map((p) => plus(kit.at(p), z));
    const way = rail ? minus(rail[1], rail[0]) : minus(second, first), along = joint.axis >= 0 ? kit.axis(joint) : Math.hypot(...way) > 1e-9 ? unitOf(way) : [1, 0, 0];
    const half = times(along, 1.6 * size);
    kit.piece("fittings", "block", minus(second, half), plus(second, half), size, inks.steel, up);
    if (!strong) return;
    const beyond = times(unitOf(way), reach), ends = rail ? rail.map((end) => plus(end, z)) : [first, second];
    if (Math.hypot(...way) > 1e-9) kit.piece("fittings", "cylinder", minus(ends[0], beyond), plus(ends[1], beyond), 0.5 * r, inks.ground);
    if (!rail) return;
    for (const end of [minus(ends[0], beyond), plus(ends[1], beyond)]) {
      const foot = planar ? [end[0], end[1], kit.wall] : kit.onFloor(end);
      kit.piece("fittings", "cylinder", foot, plus(end, times(unitOf(minus(end, foot)), 0.7 * r)), 0.7 * r, inks.ground);
    }
  };
}
