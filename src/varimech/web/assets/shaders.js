// Shaders of the solid view: bodies in light and shadow, the depth map of the light, and the floor.

const PLACED = `#version 300 es
layout(location = 0) in vec4 corner;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec3 from;
layout(location = 3) in vec3 along;
layout(location = 4) in vec4 sideRadius;
layout(location = 5) in vec4 colour;

// frame of an instance: its third axis is along, its first one as close to side as possible
mat3 frameOf() {
  float length_ = length(along);
  vec3 z = length_ > 0.0 ? along / length_ : vec3(0.0, 0.0, 1.0);
  vec3 x = sideRadius.xyz - z * dot(sideRadius.xyz, z);
  if (dot(x, x) < 1e-12) x = abs(z.z) < 0.9 ? cross(z, vec3(0.0, 0.0, 1.0)) : cross(z, vec3(1.0, 0.0, 0.0));
  x = normalize(x);
  return mat3(x, cross(z, x), z);
}

vec3 placeOf(mat3 frame) {
  float r = sideRadius.w;
  return from + along * corner.z + frame * vec3(corner.xy * r, corner.w * r);
}
`;

export const BODY_VERTEX = `${PLACED}
uniform mat4 view;
uniform mat4 light;
out vec3 place;
out vec3 normal;
out vec4 tint;
out vec3 lit;

void main() {
  mat3 frame = frameOf();
  place = placeOf(frame);
  normal = frame * facing;
  tint = colour;
  lit = (light * vec4(place, 1.0)).xyz * 0.5 + 0.5;
  gl_Position = view * vec4(place, 1.0);
}
`;

export const DEPTH_VERTEX = `${PLACED}
uniform mat4 light;
uniform vec4 section;
out float cut;

void main() {
  vec3 place = placeOf(frameOf());
  cut = dot(section, vec4(place, 1.0));
  gl_Position = light * vec4(place, 1.0);
}
`;

export const DEPTH_FRAGMENT = `#version 300 es
precision highp float;
in float cut;
void main() {
  if (cut > 0.0) discard;
}
`;

const SHADOWED = `
uniform highp sampler2DShadow shadow;

// fraction of the light that arrives, averaged over (2 reach + 1)² positions
float lightAt(vec3 at, float bias, float spacing, int reach) {
  if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = -reach; i <= reach; i++)
    for (int j = -reach; j <= reach; j++) sum += texture(shadow, vec3(at.xy + spacing * vec2(i, j), at.z - bias));
  int across = 2 * reach + 1;
  return sum / float(across * across);
}
`;

export const BODY_FRAGMENT = `#version 300 es
precision highp float;
in vec3 place;
in vec3 normal;
in vec4 tint;
in vec3 lit;
uniform vec3 toLight;
uniform vec3 towards;
uniform vec3 up;
uniform vec4 section;
uniform vec4 plain;
uniform float opacity;
uniform float texel;
out vec4 seen;
${SHADOWED}
void main() {
  if (dot(section, vec4(place, 1.0)) > 0.0) discard;
  vec3 base = pow(mix(tint.rgb, plain.rgb, plain.a), vec3(2.2));
  if (!gl_FrontFacing && section.xyz != vec3(0.0)) { // the inside of a body that the section cuts
    seen = vec4(pow(base * 0.45, vec3(1.0 / 2.2)), 1.0) * opacity;
    return;
  }
  vec3 n = normalize(gl_FrontFacing ? normal : -normal);
  float key = max(dot(n, toLight), 0.0);
  // interpolation between nine positions is as smooth as 25 positions, which take twice as long without a GPU
  float arrives = key > 0.0 ? lightAt(lit, 0.0015 + 0.004 * (1.0 - key), 1.8 * texel, 1) : 0.0;
  float sky = 0.5 + 0.5 * dot(n, up), front = max(dot(n, towards), 0.0);
  vec3 colour = base * (0.17 + 0.26 * sky + 0.2 * front + 0.72 * key * arrives);
  vec3 halfway = normalize(toLight + towards);
  colour += vec3(0.22) * pow(max(dot(n, halfway), 0.0), 48.0) * arrives * (1.0 - tint.a);
  colour *= 1.0 - 0.35 * pow(1.0 - front, 4.0);
  colour = mix(colour, base, tint.a);
  seen = vec4(pow(min(colour, vec3(1.0)), vec3(1.0 / 2.2)), 1.0) * opacity;
}
`;

export const FLOOR_VERTEX = `#version 300 es
uniform mat4 view;
uniform mat4 light;
uniform vec3 middle;
uniform vec3 first;
uniform vec3 second;
out vec2 across;
out vec3 lit;

void main() {
  across = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  vec3 place = middle + across.x * first + across.y * second;
  lit = (light * vec4(place, 1.0)).xyz * 0.5 + 0.5;
  gl_Position = view * vec4(place, 1.0);
}
`;

// a grid that fades towards the edge, darker in shadow
export const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
in vec2 across;
in vec3 lit;
uniform vec4 grid;
uniform vec3 ink;
uniform float texel;
uniform float dark;
out vec4 seen;
${SHADOWED}
void main() {
  vec2 at = across * grid.xy + grid.zw, width = fwidth(at);
  vec2 near = abs(fract(at - 0.5) - 0.5) / width;
  float line = (1.0 - min(min(near.x, near.y), 1.0)) * clamp(0.5 / max(width.x, width.y), 0.0, 1.0);
  float fade = 1.0 - smoothstep(0.45, 1.0, length(across));
  float shade = (1.0 - lightAt(lit, 0.0015, 3.0 * texel, 2)) * dark;
  float lines = 0.9 * line;
  seen = vec4(ink * lines, lines + shade * (1.0 - lines)) * fade;
}
`;
