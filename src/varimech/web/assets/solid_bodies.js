// Solid bodies: links, plates, frames, beams, masses; springs and dampers. Each function returns one that adds instances for
// the positions of the kit, in a colour.

import { hull } from "./drawing.js";
import { prism, roundedHull } from "./meshes.js";
import { THIN, cross, dot, minus, plus, times, unitOf } from "./solid_kit.js";

export function bodyPart(kit, index) {
  const shape = kit.data.shapes[index];
  if (kit.data.figures?.some(({ kind, body }) => kind === "surface" && body === shape.name)) return () => {}; // its surface is drawn instead
  if (shape.kind === "spring") return springPart(kit, shape);
  if (shape.kind === "damper") return damperPart(kit, shape);
  if (shape.kind === "mass") return massPart(kit, shape, index);
  if (shape.kind === "beam") return beamPart(kit, shape, index);
  return (shape.around.length > 2 && platePart(kit, shape, index)) || linkPart(kit, shape, index);
}

// rods through its points, one after the other
function linkPart(kit, { points }, index) {
  const { radius: r, planar } = kit, batch = kit.batch("bodies", planar ? "flatLink" : "capsule"), z = kit.height(index), up = planar ? 1 : 0;
  return (colour) => {
    const P = kit.places;
    for (let k = 0; k + 1 < points.length; k++) {
      const a = 3 * points[k], b = 3 * points[k + 1];
      batch.add(P[a], P[a + 1], P[a + 2] + z, P[b] - P[a], P[b + 1] - P[a + 1], P[b + 2] - P[a + 2], 0, 0, up, r, colour);
    }
  };
}

// indices of three points that span the largest area; and the distance of the others from their plane, relative to the extent
function spanned(places) {
  const far = (from) => places.reduce((best, p, k) => (Math.hypot(...minus(p, from)) > Math.hypot(...minus(places[best], from)) ? k : best), 0);
  const a = far(places[0]), b = far(places[a]), along = minus(places[b], places[a]);
  const area = (p) => Math.hypot(...cross(along, minus(p, places[a])));
  const c = places.reduce((best, p, k) => (area(p) > area(places[best]) ? k : best), 0);
  const extent = Math.hypot(...along), normal = unitOf(cross(along, minus(places[c], places[a])));
  return { triple: [a, b, c], flat: area(places[c]) / (extent * extent || 1), off: Math.max(...places.map((p) => Math.abs(dot(normal, minus(p, places[a]))))) / extent };
}

// a rounded plate through points of a plane; a frame of rods if they are not in a plane; null if they are collinear
function platePart(kit, { around, name }, index) {
  const places = around.map((p) => kit.at(p)), { triple, flat, off } = spanned(places), { radius: r } = kit;
  if (flat < 0.02) return null;
  if (off > 0.03) return framePart(kit, around);
  const [a, b, c] = triple.map((k) => around[k]), z = kit.height(index);
  const axes = () => {
    const from = kit.at(a), x = unitOf(minus(kit.at(b), from));
    return { from, x, normal: unitOf(cross(x, minus(kit.at(c), from))) };
  };
  const { from, x, normal } = axes(), y = cross(normal, x);
  const local = places.map((p) => [dot(minus(p, from), x), dot(minus(p, from), y)]), half = THIN * r;
  const batch = kit.batch("bodies", `plate ${index} ${name}`, () => prism(roundedHull(hull(local), r), -half, half, 0.1 * r));
  return (colour) => {
    const now = axes();
    batch.add(now.from[0], now.from[1], now.from[2] + z, ...now.normal, ...now.x, 1, colour);
  };
}

const MOST_RODS = 5; // largest number of points that are joined pairwise; more points are joined with their centre

function framePart(kit, around) {
  const rod = (from, to, colour) => kit.piece("bodies", "capsule", from, to, 0.75 * kit.radius, colour);
  return (colour) => {
    const places = around.map((p) => kit.at(p));
    if (places.length <= MOST_RODS) return places.forEach((from, k) => places.slice(k + 1).forEach((to) => rod(from, to, colour)));
    const middle = times(places.reduce(plus), 1 / places.length);
    for (const place of places) rod(middle, place, colour);
  };
}

// a ball, or a disc in the plane, with arms to the other points
function massPart(kit, { points }, index) {
  const { radius: r, planar } = kit, z = kit.height(index);
  return (colour) => {
    const [x, y, low] = kit.at(points[0]);
    if (planar) kit.batch("bodies", "cylinder").add(x, y, z - THIN * r, 0, 0, 2 * THIN * r, 0, 0, 0, 2.2 * r, colour);
    else kit.batch("bodies", "capsule").add(x, y, low, 0, 0, 0, 0, 0, 0, 2.2 * r, colour);
    for (const point of points.slice(1)) kit.piece("bodies", "capsule", [x, y, low + z], plus(kit.at(point), [0, 0, z]), 0.5 * r, colour);
  };
}

const PIECES = 6; // straight pieces of a beam between two of its points

// a smooth curve through its points (Catmull–Rom); `kit.tint(shape, node)` colours it by its bending moment
function beamPart(kit, shape, index) {
  const { points } = shape, z = kit.height(index), up = kit.planar ? [0, 0, 1] : [0, 0, 0], mesh = kit.planar ? "flatLink" : "capsule";
  const at = (k) => kit.at(points[Math.max(0, Math.min(points.length - 1, k))]);
  const between = (k, s) => {
    const [p, q, u, v] = [at(k - 1), at(k), at(k + 1), at(k + 2)];
    return [0, 1, 2].map((i) => q[i] + 0.5 * s * (u[i] - p[i] + s * (2 * p[i] - 5 * q[i] + 4 * u[i] - v[i] + s * (3 * (q[i] - u[i]) + v[i] - p[i]))) + (i === 2 ? z : 0));
  };
  return (colour) => {
    for (let k = 0; k + 1 < points.length; k++) for (let i = 0; i < PIECES; i++) {
      const tint = kit.tint(shape, k + (i + 0.5) / PIECES) || colour;
      kit.piece("bodies", mesh, between(k, i / PIECES), between(k, (i + 1) / PIECES), 0.7 * kit.radius, tint, up);
    }
  };
}

function springPart(kit, { points: [a, b] }) {
  return (colour) => {
    const from = kit.at(a), along = minus(kit.at(b), from), wide = Math.min(2 * kit.radius, 0.3 * Math.hypot(...along));
    kit.batch("fittings", "coil").add(...from, ...along, 0, 0, 1, wide, colour);
  };
}

function damperPart(kit, { points: [a, b] }) {
  return (colour) => {
    const from = kit.at(a), along = minus(kit.at(b), from), wide = Math.min(kit.radius, 0.15 * Math.hypot(...along)), at = (s) => plus(from, times(along, s));
    kit.piece("fittings", "cylinder", at(0.06), at(0.58), wide, colour);
    kit.piece("fittings", "capsule", from, at(1), 0.4 * wide, colour);
  };
}
