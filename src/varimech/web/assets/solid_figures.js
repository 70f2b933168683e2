// Shapes on bodies beside their links: wheels with teeth, balls, cams and other outlines, bores and slots with clearance.

import { prism, rack, ribbon, ringOf, surface, teeth } from "./meshes.js";
import { THIN, cross, dot, minus, plus, times, unitOf } from "./solid_kit.js";
import { decode } from "./tracks.js";

export function figureParts(kit, figures) {
  const levels = wheelLevels(figures), firsts = figures.filter((figure, k) => !figure.teeth || figures.findIndex((other) => isSame(figure, other)) === k);
  return firsts.map((figure, k) => figurePart(kit, figure, k, levels.get(figure)));
}

// a wheel that meshes with several others occurs in each pair
const isSame = (a, b) => a.kind === b.kind && a.point === b.point && a.body === b.body && a.teeth === b.teeth && a.ring === b.ring;

// Wheels that mesh are in one layer, others on their axes in another one; a ring leaves its middle free. Pairs are in sequence.
function wheelLevels(figures) {
  const levels = new Map(), wheels = figures.filter(({ kind, teeth: count }) => kind === "wheel" && count), isTaken = (level, wheel) => wheels.some((other) => {
    return levels.get(other) === level && other.point === wheel.point && !other.ring && !wheel.ring && !isSame(other, wheel);
  });
  for (let k = 0; k + 1 < wheels.length; k += 2) {
    const pair = [wheels[k], wheels[k + 1]];
    let level = 1;
    while (pair.some((wheel) => isTaken(level, wheel))) level++;
    for (const wheel of pair) levels.set(wheel, level);
  }
  return levels;
}

function figurePart(kit, figure, number, level) {
  const { colour, height } = lookOf(kit, figure, level);
  const part = { wheel: wheelPart, ball: ballPart, surface: surfacePart, outline: outlinePart, belt: beltPart, rack: rackPart, bore: borePart, slot: slotPart }[figure.kind](kit, figure, number, height);
  return (inks, colours) => part(colour < 0 ? inks.ground : colours[colour], inks);
}

// colour and height of the body of a figure; wheels that mesh are above all links
function lookOf(kit, figure, level) {
  const { shapes } = kit.data, k = shapes.findIndex(({ name, colour }) => name === figure.body && colour >= 0), top = Math.max(0, ...kit.layers) + (level || 1);
  return { colour: k < 0 ? -1 : shapes[k].colour, height: !kit.planar ? 0 : figure.teeth ? top * kit.spacing : k < 0 ? 0 : kit.height(k) };
}

// a direction of the frame of a body in global components
function turned(kit, frame, [a, b, c = 0]) {
  const [x, y] = kit.frame(frame), z = cross(x, y);
  return [0, 1, 2].map((k) => a * x[k] + b * y[k] + c * z[k]);
}

const perpendicular = (a) => unitOf(cross(a, Math.abs(a[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
const SIDES = 48; // number of sides of a wheel without teeth

function wheelPart(kit, figure, number, height) {
  const axis = unitOf(figure.axis || [0, 0, 1]), side = kit.planar ? [1, 0, 0] : perpendicular(axis), { radius } = figure;
  const phase = figure.teeth ? phaseOf(kit, figure, axis, side) : 0, half = figure.teeth ? 1.2 * THIN * kit.radius : THIN * kit.radius;
  const outline = figure.teeth ? teeth(figure.teeth) : Array.from({ length: SIDES }, (_, k) => [Math.cos((2 * Math.PI * k) / SIDES), Math.sin((2 * Math.PI * k) / SIDES)]);
  const turnedBy = outline.map(([x, y]) => [x * Math.cos(phase) - y * Math.sin(phase), x * Math.sin(phase) + y * Math.cos(phase)]);
  const batch = kit.batch("bodies", `wheel ${number}`, () => (figure.ring ? ringOf(turnedBy) : prism(turnedBy, 0, 1, Math.min(0.02, (0.2 * half) / radius))));
  return (colour, inks) => {
    const along = turned(kit, figure.frame, axis), centre = plus(kit.at(figure.point), [0, 0, height]), arm = times(along, half);
    batch.add(...minus(centre, arm), ...times(along, 2 * half), ...turned(kit, figure.frame, side), radius, colour);
    if (!figure.ring) kit.piece("fittings", "cylinder", minus(centre, times(arm, 1.25)), plus(centre, times(arm, 1.25)), Math.min(0.6 * kit.radius, 0.3 * radius), inks.steel);
  };
}

// angle of the teeth on their wheel for which a tooth meets a gap
function phaseOf(kit, { frame, point, mate, second, ring, teeth: count }, axis, side) {
  const x = turned(kit, frame, side), y = cross(turned(kit, frame, axis), x), away = minus(kit.at(mate), kit.at(point));
  const towards = Math.atan2(y.reduce((sum, v, k) => sum + v * away[k], 0), x.reduce((sum, v, k) => sum + v * away[k], 0));
  return towards + (ring ? Math.PI : 0) + (second && !ring ? Math.PI / count : 0);
}

function ballPart(kit, { point, radius }) {
  return (colour) => kit.batch("bodies", "capsule").add(...kit.at(point), 0, 0, 0, 0, 0, 0, radius, colour);
}

function outlinePart(kit, { point, outline, closed, frame }, number, height) {
  const half = THIN * kit.radius, area = outline.reduce((sum, [x, y], k) => sum + x * outline[(k + 1) % outline.length][1] - y * outline[(k + 1) % outline.length][0], 0);
  const corners = area < 0 ? [...outline].reverse() : outline;
  const batch = kit.batch("bodies", `outline ${number}`, () => (closed ? prism(corners, -half, half, 0.1 * kit.radius) : ribbon(outline, 0.35 * kit.radius, -half, half)));
  return (colour) => {
    const [x, y, z] = kit.at(point);
    batch.add(x, y, z + height, ...turned(kit, frame, [0, 0, 1]), ...turned(kit, frame, [1, 0, 0]), 1, colour);
  };
}

const ARC = 24; // number of straight pieces of a belt around a pulley

// the closed line of a belt around two circles in its plane: angles of its ends on both, and fractions of its arcs
export function beltLine(apart, first, second, crossed) {
  const lean = Math.acos(Math.max(-1, Math.min(1, (first + (crossed ? second : -second)) / apart))), places = [];
  const arc = (x, radius, from, to) => {
    for (let k = 0; k <= ARC; k++) {
      const angle = from + ((to - from) * k) / ARC;
      places.push([x + radius * Math.cos(angle), radius * Math.sin(angle)]);
    }
  };
  arc(0, first, lean, 2 * Math.PI - lean);
  if (crossed) arc(apart, second, Math.PI - lean, lean - Math.PI);
  else arc(apart, second, -lean, lean);
  return places;
}

// a band of straight pieces
function beltPart(kit, { point, mate, axis, frame, radius, mate_radius: other, reversed }, number, height) {
  const thick = 0.16 * kit.radius;
  return (_, inks) => {
    const along = unitOf(turned(kit, frame, axis || [0, 0, 1])), from = plus(kit.at(point), [0, 0, height]), away = minus(kit.at(mate), kit.at(point));
    const flat = minus(away, times(along, dot(away, along))), u = unitOf(flat), v = cross(along, u), line = beltLine(Math.hypot(...flat), radius + thick, other + thick, reversed);
    const at = ([x, y]) => plus(from, plus(times(u, x), times(v, y)));
    line.forEach((place, k) => kit.piece("fittings", "band", at(place), at(line[(k + 1) % line.length]), 0.8 * kit.radius, inks.ink, along));
  };
}

// a pinion with teeth, and a toothed bar that meshes with it
function rackPart(kit, figure, number, height) {
  const { point, mate, radius, teeth: count, half, reversed } = figure, axis = unitOf(figure.mate_axis || [0, 0, 1]), side = kit.planar ? [1, 0, 0] : perpendicular(axis);
  const deep = 1.2 * THIN * kit.radius, sign = reversed ? -1 : 1, pitch = (2 * Math.PI * radius) / count;
  const now = () => {
    const along = unitOf(turned(kit, figure.axis_frame, [...figure.axis, 0].slice(0, 3))), up = turned(kit, figure.mate_frame, axis);
    return { along, up, towards: times(cross(along, up), sign) };
  };
  const { along, up, towards } = now(), x = turned(kit, figure.mate_frame, side), y = cross(up, x), phase = Math.atan2(dot(y, towards), dot(x, towards));
  const outline = teeth(count).map(([a, b]) => [a * Math.cos(phase) - b * Math.sin(phase), a * Math.sin(phase) + b * Math.cos(phase)]);
  const wheel = kit.batch("bodies", `pinion ${number}`, () => prism(outline, 0, 1, Math.min(0.02, (0.2 * deep) / radius)));
  const gap = sign * dot(minus(kit.at(mate), kit.at(point)), along); // initial position of a tooth of the pinion; x of the mesh is opposite to the axis if the rack is reversed
  const bar = kit.batch("bodies", `rack ${number}`, () => rack(half, pitch, gap, -deep, deep));
  return (colour, inks) => {
    const { along: a, up: n, towards: to } = now(), centre = plus(kit.at(mate), [0, 0, height]), arm = times(n, deep), away = minus(kit.at(point), kit.at(mate));
    wheel.add(...minus(centre, arm), ...times(n, 2 * deep), ...turned(kit, figure.mate_frame, side), radius, inks.steel);
    const middle = plus(plus(centre, times(to, radius)), times(a, dot(away, a)));
    bar.add(...middle, ...n, ...times(a, sign), 1, colour);
  };
}

// triangles from the model
function surfacePart(kit, { point, vertices, triangles, frame }, number, height) {
  const batch = kit.batch("bodies", `surface ${number}`, () => surface(decode(vertices), new Uint32Array(decode(triangles).buffer)));
  return (colour) => {
    const [x, y, z] = kit.at(point);
    batch.add(x, y, z + height, ...turned(kit, frame, [0, 0, 1]), ...turned(kit, frame, [1, 0, 0]), 1, colour);
  };
}

// a ring on the first body, a pin in it
function borePart(kit, { point, mate }) {
  const { radius: r } = kit, planar = kit.planar ? 1 : 0;
  return (colour, inks) => {
    const at = kit.at(mate), half = [0, 0, 1.4 * kit.spacing];
    if (!planar) return kit.batch("fittings", "capsule").add(...at, 0, 0, 0, 0, 0, 0, 1.5 * r, inks.steel);
    kit.piece("fittings", "cylinder", minus(at, half), plus(at, half), 0.5 * r, inks.steel);
    kit.batch("bodies", "flatLink").add(...kit.at(point), 0, 0, 0, 0, 0, 1, 1.5 * r, colour);
  };
}

// a block between two rails
function slotPart(kit, { point, mate, axis, frame }) {
  const { radius: r } = kit, size = 1.5 * r, reach = 0.62 * kit.size;
  return (_, inks) => {
    const along = unitOf(turned(kit, frame, axis)), across = cross([0, 0, 1], along), at = kit.at(mate), from = kit.at(point), half = times(along, 1.6 * size);
    kit.piece("fittings", "block", minus(at, half), plus(at, half), size, inks.steel, [0, 0, 1]);
    const middle = plus(from, times(along, minus(at, from).reduce((sum, v, k) => sum + v * along[k], 0)));
    const [back, ahead] = [times(along, -0.25 * reach), times(along, 0.25 * reach)];
    for (const side of [-1.45, 1.45]) {
      const line = plus(middle, times(across, side * size));
      kit.piece("fittings", "block", plus(line, back), plus(line, ahead), 0.35 * r, inks.ground, [0, 0, 1]);
    }
  };
}
