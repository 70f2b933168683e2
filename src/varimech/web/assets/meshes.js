// Meshes of the solid view. A vertex is (x, y, z, w, normal): x, y and w in radii, z as a fraction of the length of an instance.

const AROUND = 20;

function mesh(vertices, indices) {
  return { vertices: new Float32Array(vertices), indices: new Uint32Array(indices) };
}

// surface swept by rings of equal size, given as lists of vertices in anticlockwise order about the sweep direction
function swept(rings) {
  const n = rings[0].length, indices = [];
  for (let k = 0; k + 1 < rings.length; k++) for (let i = 0; i < n; i++) {
    const j = (i + 1) % n, a = k * n, b = a + n;
    indices.push(a + i, a + j, b + i, b + i, a + j, b + j);
  }
  return mesh(rings.flat(2), indices);
}

const turnAt = (i, n) => [Math.cos((2 * Math.PI * i) / n), Math.sin((2 * Math.PI * i) / n)];

function circle(n, radius, z, w, [outwards, upwards]) {
  return Array.from({ length: n }, (_, i) => {
    const [c, s] = turnAt(i, n);
    return [c * radius, s * radius, z, w, c * outwards, s * outwards, upwards];
  });
}

// a cylinder with round ends that extend beyond its length
export function capsule(n = AROUND, steps = 5) {
  const rings = [];
  for (const [end, from] of [[0, -Math.PI / 2], [1, 0]]) for (let k = 0; k <= steps; k++) {
    const angle = from + (k * Math.PI) / 2 / steps, [c, s] = [Math.cos(angle), Math.sin(angle)];
    rings.push(circle(n, c, end, s, [c, s]));
  }
  return swept(rings);
}

// a cylinder with flat ends, whose edges are slightly chamfered
export function cylinder(n = 28, chamfer = 0.12) {
  const slant = Math.SQRT1_2;
  return swept([
    circle(n, 0, 0, 0, [0, -1]), circle(n, 1 - chamfer, 0, 0, [0, -1]), circle(n, 1 - chamfer, 0, 0, [slant, -slant]), circle(n, 1, 0, chamfer, [slant, -slant]),
    circle(n, 1, 0, chamfer, [1, 0]), circle(n, 1, 1, -chamfer, [1, 0]),
    circle(n, 1, 1, -chamfer, [slant, slant]), circle(n, 1 - chamfer, 1, 0, [slant, slant]), circle(n, 1 - chamfer, 1, 0, [0, 1]), circle(n, 0, 1, 0, [0, 1]),
  ]);
}

// a cylinder with open ends and few sides, for paths
export const thread = () => swept([circle(6, 1, 0, 0, [1, 0]), circle(6, 1, 1, 0, [1, 0])]);

export function cone(n = AROUND) {
  return swept([circle(n, 0, 0, 0, [0, -1]), circle(n, 1, 0, 0, [0, -1]), circle(n, 1, 0, 0, [0.93, 0.37]), circle(n, 0, 1, 0, [0.93, 0.37])]);
}

// a wire around the length of an instance, with straight ends along it
export function coil(turns = 8, wire = 0.16) {
  const rings = [], steps = turns * 16, sides = 7, lead = 0.1;
  const ring = (share, reach, angle) => {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return Array.from({ length: sides }, (_, i) => {
      const [p, q] = turnAt(i, sides);
      return [c * (reach + wire * p), s * (reach + wire * p), share, -wire * q, c * p, s * p, -q];
    });
  };
  const straight = (share) => Array.from({ length: sides }, (_, i) => {
    const [p, q] = turnAt(i, sides);
    return [wire * p, wire * q, share, 0, p, q, 0];
  });
  rings.push(straight(0), straight(lead * 0.8));
  for (let k = 0; k <= steps; k++) {
    const reach = Math.min(1, k / 8, (steps - k) / 8) * (1 - wire);
    rings.push(ring(lead + ((1 - 2 * lead) * k) / steps, reach, (2 * Math.PI * k) / 16));
  }
  rings.push(straight(1 - lead * 0.8), straight(1));
  return swept(rings);
}

// a box along its length, half as wide as `wide` and as deep as `deep` (in radii)
export function block(wide = 1, deep = 1, chamfer = 0.1) {
  const corners = [[wide, deep], [-wide, deep], [-wide, -deep], [wide, -deep]];
  return prism(corners.map(([x, y]) => [x, y]), 0, 1, chamfer);
}

const unit = ([x, y]) => {
  const length = Math.hypot(x, y) || 1;
  return [x / length, y / length];
};

// A closed outline (anticlockwise, in radii) as a plate from z = low to z = high, with chamfered edges. The middle of the
// outline must be visible from all of it, or `faces` (triples of corners) cover it. Sides of corners that turn by less than 30° are smooth.
export function prism(outline, low, high, chamfer = 0, faces = null) {
  const n = outline.length, vertices = [], indices = [], smooth = Math.cos(Math.PI / 6);
  const sides = outline.map(([x, y], k) => unit([outline[(k + 1) % n][1] - y, x - outline[(k + 1) % n][0]]));
  const corner = (k, z, w, inset, normal) => {
    const before = sides[(k + n - 1) % n], after = sides[k], [x, y] = unit([before[0] + after[0], before[1] + after[1]]);
    const deep = inset / Math.max(0.4, x * after[0] + y * after[1]);
    return vertices.push(outline[k][0] - x * deep, outline[k][1] - y * deep, z, w, ...normal) / 7 - 1;
  };
  const normalAt = (k, side) => {
    const [before, after] = [sides[(k + n - 1) % n], sides[k]];
    return before[0] * after[0] + before[1] * after[1] > smooth ? unit([before[0] + after[0], before[1] + after[1]]) : sides[side];
  };
  const strip = (k, [z0, w0, inset0], [z1, w1, inset1], up) => {
    const j = (k + 1) % n, tilted = ([x, y]) => (up ? [x * Math.SQRT1_2, y * Math.SQRT1_2, up * Math.SQRT1_2] : [x, y, 0]);
    const [a, b] = [normalAt(k, k), normalAt(j, k)].map(tilted);
    const [p, q] = [corner(k, z0, w0, inset0, a), corner(j, z0, w0, inset0, b)], [r, s] = [corner(k, z1, w1, inset1, a), corner(j, z1, w1, inset1, b)];
    indices.push(p, q, r, r, q, s);
  };
  for (let k = 0; k < n; k++) {
    strip(k, [low, chamfer, 0], [high, -chamfer, 0], 0);
    if (!chamfer) continue;
    strip(k, [low, 0, chamfer], [low, chamfer, 0], -1);
    strip(k, [high, -chamfer, 0], [high, 0, chamfer], 1);
  }
  for (const [z, up] of [[low, -1], [high, 1]]) {
    const first = outline.map((_, k) => corner(k, z, 0, chamfer, [0, 0, up]))[0];
    const middle = vertices.push(...[0, 1].map((c) => outline.reduce((sum, p) => sum + p[c], 0) / n), z, 0, 0, 0, up) / 7 - 1;
    const triples = faces ? faces.map((face) => face.map((k) => first + k)) : outline.map((_, k) => [first + k, first + ((k + 1) % n), middle]);
    for (const [a, b, c] of triples) indices.push(...(up > 0 ? [a, b, c] : [a, c, b]));
  }
  return mesh(vertices, indices);
}

// a flat link with round ends beyond its length, wide across and thin along its x axis
export function flatLink(thin = 0.42, chamfer = 0.1, steps = 9) {
  const rings = [], outline = [];
  for (const [end, from] of [[1, 0], [0, Math.PI]]) for (let k = 0; k <= steps; k++) {
    const angle = from + (k * Math.PI) / steps;
    outline.push([end, Math.cos(angle), Math.sin(angle)]);
  }
  const ring = (x, reach, out, up) => outline.map(([end, c, s]) => [x, c * reach, end, s * reach, up, c * out, s * out]);
  const slant = Math.SQRT1_2;
  for (const [x, reach, out, up] of [
    [-thin, 0, 0, -1], [-thin, 1 - chamfer, 0, -1], [-thin, 1 - chamfer, slant, -slant], [chamfer - thin, 1, slant, -slant], [chamfer - thin, 1, 1, 0],
    [thin - chamfer, 1, 1, 0], [thin - chamfer, 1, slant, slant], [thin, 1 - chamfer, slant, slant], [thin, 1 - chamfer, 0, 1], [thin, 0, 0, 1],
  ]) rings.push(ring(x, reach, out, up));
  return swept(rings);
}

// the convex outline around points of a plane, at a distance from all of them
export function roundedHull(corners, distance) {
  const n = corners.length, outline = [];
  corners.forEach((corner, k) => {
    const away = (a, b) => Math.atan2(a[0] - b[0], b[1] - a[1]); // normal of a side, anticlockwise
    const from = away(corners[(k + n - 1) % n], corner), turn = (away(corner, corners[(k + 1) % n]) - from + 4 * Math.PI) % (2 * Math.PI);
    const steps = Math.max(1, Math.ceil(turn / (Math.PI / 10)));
    for (let i = 0; i <= steps; i++) {
      const angle = from + (turn * i) / steps;
      outline.push([corner[0] + distance * Math.cos(angle), corner[1] + distance * Math.sin(angle)]);
    }
  });
  return outline;
}

// outline of a wheel with teeth (in pitch radii); an inner ring has its teeth inside
export function teeth(count) {
  const outline = [], high = Math.min(0.12, 2 / count), low = Math.min(0.15, 2.5 / count);
  for (let k = 0; k < count; k++) for (const [share, radius] of [[0.02, 1 - low], [0.2, 1 - low], [0.36, 1 + high], [0.66, 1 + high], [0.82, 1 - low]]) {
    const angle = (2 * Math.PI * (k + share - 0.51)) / count; // a tooth points along x
    outline.push([radius * Math.cos(angle), radius * Math.sin(angle)]);
  }
  return outline;
}

// a bar along x with teeth on its upper side, whose pitch line is y = 0: `pitch` apart, a gap at x = gap
export function rack(half, pitch, gap, low, high) {
  const deep = 0.34 * pitch, bar = prism([[-half, -4 * deep], [half, -4 * deep], [half, -deep], [-half, -deep]], low, high);
  const first = Math.ceil((-half - gap) / pitch), teeth = Array.from({ length: Math.floor((half - gap) / pitch) - first }, (_, k) => gap + (first + k + 0.5) * pitch);
  return joined([bar, ...teeth.map((x) => prism([[x - 0.36 * pitch, -deep], [x + 0.36 * pitch, -deep], [x + 0.15 * pitch, 0.8 * deep], [x - 0.15 * pitch, 0.8 * deep]], low, high))]);
}

// a ring with a given inner outline (in radii), as a plate of its length; its outer outline is a circle
export function ringOf(inner) {
  const outer = inner.map(([x, y]) => [(1.2 * x) / Math.hypot(x, y), (1.2 * y) / Math.hypot(x, y)]);
  const loop = (outline, z, normal) => outline.map(([x, y]) => [x, y, z, 0, ...normal(x, y)]), flatTo = (up) => () => [0, 0, up];
  const away = (sign) => (x, y) => [(sign * x) / Math.hypot(x, y), (sign * y) / Math.hypot(x, y), 0];
  const parts = [
    [loop(outer, 0, away(1)), loop(outer, 1, away(1))], [loop(outer, 1, flatTo(1)), loop(inner, 1, flatTo(1))],
    [loop(inner, 1, away(-1)), loop(inner, 0, away(-1))], [loop(inner, 0, flatTo(-1)), loop(outer, 0, flatTo(-1))],
  ];
  return joined(parts.map(swept));
}

// a wall along an open line, `wide` on both sides of it, from z = low to z = high
export function ribbon(line, wide, low, high) {
  return joined(line.slice(1).map(([x, y], k) => {
    const [a, b] = line[k], [s, t] = unit([x - a, y - b]).map((v) => v * wide);
    return prism([[a + t, b - s], [x + t, y - s], [x - t, y + s], [a - t, b + s]], low, high);
  }));
}

export function joined(parts) {
  const vertices = [], indices = [];
  for (const part of parts) {
    const first = vertices.length / 7;
    vertices.push(...part.vertices);
    for (const k of part.indices) indices.push(first + k);
  }
  return mesh(vertices, indices);
}

// Triangles with shared vertices (m). Normals are smooth where faces meet at less than 35°.
export function surface(places, triangles) {
  const count = triangles.length / 3, smooth = Math.cos((35 * Math.PI) / 180), normals = new Float32Array(3 * count), around = new Map(), vertices = [];
  for (let f = 0; f < count; f++) {
    const [a, b, c] = [0, 1, 2].map((k) => places.subarray(3 * triangles[3 * f + k], 3 * triangles[3 * f + k] + 3));
    const [u, v] = [b, c].map((p) => [p[0] - a[0], p[1] - a[1], p[2] - a[2]]), n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const length = Math.hypot(...n) || 1;
    n.forEach((x, k) => (normals[3 * f + k] = x / length));
    for (let k = 0; k < 3; k++) around.set(triangles[3 * f + k], [...(around.get(triangles[3 * f + k]) || []), f]);
  }
  const alike = (f, g) => normals[3 * f] * normals[3 * g] + normals[3 * f + 1] * normals[3 * g + 1] + normals[3 * f + 2] * normals[3 * g + 2] > smooth;
  triangles.forEach((vertex, corner) => {
    const f = Math.floor(corner / 3), sum = [0, 0, 0];
    for (const g of around.get(vertex)) if (alike(f, g)) for (let k = 0; k < 3; k++) sum[k] += normals[3 * g + k];
    const length = Math.hypot(...sum) || 1, [x, y, z] = places.subarray(3 * vertex, 3 * vertex + 3);
    vertices.push(x, y, z, 0, ...sum.map((n) => n / length));
  });
  return mesh(vertices, Array.from(triangles, (_, k) => k));
}
