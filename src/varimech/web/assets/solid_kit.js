// Common data of the parts of the solid view: positions, sizes, layers of planar links, and batches by mesh.

import { Batch } from "./gl.js";
import { block, capsule, coil, cone, cylinder, flatLink, thread } from "./meshes.js";

const MESHES = { capsule, cylinder, thread, cone, coil, flatLink, block, slab: () => block(1, 0.45), band: () => block(1, 0.2) };
export const THIN = 0.42; // half the thickness of planar links relative to their half width

// red, green and blue from 0 to 1 of "#rrggbb" or "rgb(…)"
export function rgb(colour) {
  if (colour[0] === "#") return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16) / 255);
  return colour.match(/[\d.]+/g).slice(0, 3).map((x) => Number(x) / 255);
}

export const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const plus = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const unitOf = (a) => times(a, 1 / (Math.hypot(...a) || 1));

export class Kit {
  // `radius`: half the width of links (m)
  constructor(gl, data, radius) {
    Object.assign(this, { gl, data, radius, planar: data.dimension === 2, groups: { bodies: new Map(), fittings: new Map() } });
    this.places = new Float32Array(3 * data.points.length);
    this.layers = this.planar ? layersOf(data.shapes) : data.shapes.map(() => 0);
    this.spacing = 2.3 * THIN * radius;
    this.wall = -2.2 * this.spacing; // where planar mechanisms are mounted
  }

  // positions at a time, (point, component), always with a third component
  setPlaces(places) {
    const n = this.data.dimension, P = this.places;
    if (n === 3) return P.set(places);
    for (let k = 0, j = 0; k < places.length; k += 2, j += 3) {
      P[j] = places[k];
      P[j + 1] = places[k + 1];
    }
  }

  at(point) {
    const k = 3 * point, P = this.places;
    return [P[k], P[k + 1], P[k + 2]];
  }

  // the batch of a mesh, by its name, or of a new mesh that `make` builds
  batch(group, name, make = MESHES[name]) {
    const batches = this.groups[group];
    if (!batches.has(name)) batches.set(name, new Batch(this.gl, make()));
    return batches.get(name);
  }

  // height of a shape above the plane of the mechanism
  height(shape) {
    return this.layers[shape] * this.spacing;
  }

  // lowest and highest layer of the shapes at some points
  span(points) {
    const here = this.data.shapes.flatMap((shape, k) => ([...shape.points, ...shape.around].some((p) => points.includes(p)) && shape.colour >= 0 ? [this.layers[k]] : []));
    return here.length ? [Math.min(...here), Math.max(...here)] : [0, 0];
  }

  // a straight piece of a mesh from one position to another
  piece(group, name, from, to, radius, colour, side = [0, 0, 0]) {
    const along = minus(to, from);
    this.batch(group, name).add(...from, ...along, ...side, radius, colour);
  }

  *batches(group) {
    yield* this.groups[group].values();
  }

  clear() {
    for (const group of Object.values(this.groups)) for (const batch of group.values()) batch.clear();
  }

  upload() {
    for (const group of Object.values(this.groups)) for (const batch of group.values()) batch.upload();
  }

  free() {
    for (const group of Object.values(this.groups)) for (const batch of group.values()) batch.free();
  }
}

// links that share a point lie in different layers
function layersOf(shapes) {
  const taken = new Map(), layers = [];
  for (const shape of shapes) {
    const points = [...new Set([...shape.points, ...shape.around])];
    let layer = 0;
    if (shape.colour >= 0) while (points.some((p) => taken.get(p)?.has(layer))) layer++;
    if (shape.colour >= 0) for (const p of points) taken.set(p, (taken.get(p) || new Set()).add(layer));
    layers.push(layer);
  }
  return layers;
}
