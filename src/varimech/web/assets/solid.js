// The mechanism as solid bodies, drawn by WebGL behind the canvas with names and arrows.

import { Batch, compile, shadowMap } from "./gl.js";
import { momentColour } from "./loads.js";
import { thread } from "./meshes.js";
import { BODY_FRAGMENT, BODY_VERTEX, DEPTH_FRAGMENT, DEPTH_VERTEX, FLOOR_FRAGMENT, FLOOR_VERTEX } from "./shaders.js";
import { bodyPart } from "./solid_bodies.js";
import { figureParts } from "./solid_figures.js";
import { jointPart } from "./solid_joints.js";
import { Kit, cross, dot, rgb, unitOf } from "./solid_kit.js";

const SHADOW_SIZE = 1024; // texels of the shadow map: an edge is blurred over about a hundredth of the mechanism
const MOST_PIECES = 400; // largest number of pieces of a path

export class SolidView {
  // a view behind a canvas; null without WebGL 2. `onLost` is called if the browser takes it away
  static behind(stage, onLost) {
    const canvas = Object.assign(document.createElement("canvas"), { className: "solid", hidden: true });
    canvas.setAttribute("aria-hidden", "true");
    const gl = canvas.getContext("webgl2", { antialias: true });
    if (!gl) return null;
    stage.before(canvas);
    canvas.addEventListener("webglcontextlost", onLost);
    return new SolidView(canvas, gl);
  }

  constructor(canvas, gl) {
    Object.assign(this, { canvas, gl, kit: null, section: [0, 0, 0, 0], opacity: 1 });
    this.bodies = compile(gl, BODY_VERTEX, BODY_FRAGMENT);
    this.depth = compile(gl, DEPTH_VERTEX, DEPTH_FRAGMENT);
    this.floor = compile(gl, FLOOR_VERTEX, FLOOR_FRAGMENT);
    this.shadow = shadowMap(gl, SHADOW_SIZE);
    this.nothing = gl.createVertexArray();
    this.paths = new Batch(gl, thread());
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  resize(width, height) {
    Object.assign(this.canvas, { width, height });
  }

  setData(animation) {
    const { data, track, typical } = animation, box = data.box.map((corner) => [...corner, 0].slice(0, 3));
    const size = Math.hypot(...box[1].map((high, k) => high - box[0][k])) || 1, radius = Math.min(0.016 * size, 0.07 * typical);
    this.kit?.free();
    const kit = (this.kit = new Kit(this.gl, data, radius));
    kit.setPlaces(track.values.subarray(0, track.size));
    this.size = size;
    this.middle = box[0].map((low, k) => (low + box[1][k]) / 2);
    this.setFloor(data, box);
    this.follow(animation);
    this.shapes = data.shapes.map((_, k) => bodyPart(kit, k));
    this.joints = data.joints.map((joint) => jointPart(kit, joint));
    this.figures = figureParts(kit, data.figures || []);
    this.setPaths(animation);
  }

  // data of the present time that parts need in addition to positions
  follow(animation) {
    const { kit } = this, { oriented, data } = animation, axis = (k) => [...animation.place(oriented, k), 0].slice(0, 3);
    kit.size = this.size;
    kit.axis = (joint) => [...animation.place(animation.turned, joint.axis), 0].slice(0, 3);
    kit.frame = (body) => [axis(2 * body), axis(2 * body + 1)];
    kit.tint = (shape, node) => data.bending && momentColour(animation.momentAt(shape.name, node));
  }

  // the floor below the motion, or the wall behind a planar mechanism; and the direction of the light
  setFloor({ dimension, up: [upright, sign] }, box) {
    const { kit, size } = this, planar = dimension === 2, k = planar ? 2 : upright;
    const level = planar ? kit.wall : (sign > 0 ? box[0][k] - 0.03 * size - 2 * kit.radius : box[1][k] + 0.03 * size + 2 * kit.radius);
    this.normal = [0, 0, 0];
    this.normal[k] = planar ? 1 : sign;
    this.flat = { k, level, others: [(k + 1) % 3, (k + 2) % 3] };
    this.toLight = [0, 0, 0];
    const [a, b] = this.flat.others, [s, t] = planar ? [-0.45, 0.75] : [0.45, -0.3];
    Object.assign(this.toLight, { [a]: s, [b]: t, [k]: this.normal[k] });
    this.toLight = unitOf(this.toLight);
    kit.onFloor = (place) => Object.assign([...place], { [k]: level });
  }

  // all paths in one batch, with the times at which their pieces begin
  setPaths({ traces }) {
    const r = 0.0022 * this.size, n = this.kit.planar ? 2 : 3, height = this.kit.planar ? this.kit.spacing * (1 + Math.max(0, ...this.kit.layers)) : 0;
    this.paths.clear();
    this.pathParts = traces.map((path) => {
      const first = this.paths.count, every = Math.max(1, Math.ceil(path.length / MOST_PIECES)), kept = path.filter((_, k) => k % every === 0 || k === path.length - 1);
      kept.slice(1).forEach(({ place }, k) => {
        const from = kept[k].place, [x, y, z] = [from[0], from[1], n === 3 ? from[2] : height];
        this.paths.add(x, y, z, place[0] - x, place[1] - y, n === 3 ? place[2] - z : 0, 0, 0, 0, r, [1, 1, 1], 1);
      });
      return { first, times: kept.slice(1).map(({ time }) => time) };
    });
    this.paths.upload();
  }

  draw(animation) {
    const { gl } = this, { ink, options, influence } = animation;
    this.inks = { ink: rgb(ink.ink), soft: rgb(ink.soft), ground: rgb(ink.ground), steel: animation.dark ? [0.72, 0.75, 0.79] : [0.6, 0.63, 0.67] };
    this.colours = animation.colours.map(rgb);
    this.look(animation);
    this.fill(animation.places, true);
    this.drawShadow();
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.BLEND);
    this.drawFloor(animation);
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(this.bodies.program);
    this.setUniforms(this.bodies.uniforms, animation);
    this.drawGroup("fittings", 1);
    if (options.traces) this.drawPaths(animation);
    this.drawGroup("bodies", this.opacity);
    if (animation.before && options.before) this.drawOther(animation.before.at(animation.time, animation.others), 0.4, [...this.inks.ground, 1]);
    if (influence.mode === "ghost") this.drawOther(animation.ghost(), 0.38, [0, 0, 0, 0]);
    gl.disable(gl.DEPTH_TEST);
  }

  // matrices of the camera and of the light
  look({ camera }) {
    this.view = camera.matrix();
    const l = this.toLight, u = unitOf(cross(Math.abs(l[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], l)), v = cross(l, u);
    const reach = 0.6 * this.size + 8 * this.kit.radius, far = 3 * this.size, row = (d, s) => [...d.map((x) => x / s), -dot(d, this.middle) / s];
    const [x, y, z] = [row(u, reach), row(v, reach), row(l, -far)];
    this.light = new Float32Array([0, 1, 2, 3].flatMap((k) => [x[k], y[k], z[k], k === 3 ? 1 : 0]));
    this.towards = camera.global(camera.towards);
  }

  // instances for the mechanism at some positions; `strong`: including parts of the ground
  fill(places, strong) {
    const { kit, inks } = this;
    kit.clear();
    kit.setPlaces(places);
    this.shapes.forEach((part, k) => {
      const { colour } = kit.data.shapes[k];
      part(colour < 0 ? inks.soft : this.colours[colour]);
    });
    for (const part of this.joints) part(inks, strong);
    for (const part of this.figures) part(inks, this.colours);
    kit.upload();
  }

  drawShadow() {
    const { gl, shadow, depth } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, shadow.frame);
    gl.viewport(0, 0, shadow.size, shadow.size);
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(depth.program);
    gl.uniformMatrix4fv(depth.uniforms.light, false, this.light);
    gl.uniform4fv(depth.uniforms.section, this.section);
    for (const group of ["fittings", "bodies"]) for (const batch of this.kit.batches(group)) batch.draw();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.DEPTH_TEST);
  }

  setUniforms(to, { camera }) {
    const { gl } = this;
    gl.uniformMatrix4fv(to.view, false, this.view);
    gl.uniformMatrix4fv(to.light, false, this.light);
    gl.uniform3fv(to.toLight, this.toLight);
    gl.uniform3fv(to.towards, this.towards);
    gl.uniform3fv(to.up, camera.global([0, 0, 1]));
    gl.uniform4fv(to.section, this.section);
    gl.uniform4f(to.plain, 0, 0, 0, 0);
    gl.uniform1f(to.texel, 1 / SHADOW_SIZE);
    gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture);
    gl.uniform1i(to.shadow, 0);
  }

  drawFloor({ camera, data, ink, dark }) {
    const { gl, floor: { program, uniforms: to }, flat: { k, level, others: [a, b] }, size } = this, wide = 1.15 * size, step = camera.gridStep;
    const axis = (i) => Object.assign([0, 0, 0], { [i]: wide }), from = (i) => (this.middle[i] + (data.origin[i] ?? 0)) / step;
    gl.useProgram(program);
    gl.uniformMatrix4fv(to.view, false, this.view);
    gl.uniformMatrix4fv(to.light, false, this.light);
    gl.uniform3fv(to.middle, Object.assign([...this.middle], { [k]: level }));
    gl.uniform3fv(to.first, axis(a));
    gl.uniform3fv(to.second, axis(b));
    gl.uniform4f(to.grid, wide / step, wide / step, from(a), from(b));
    gl.uniform3fv(to.ink, rgb(ink["strong-grid"]));
    gl.uniform1f(to.texel, 1 / SHADOW_SIZE);
    gl.uniform1f(to.dark, dark ? 0.55 : 0.28);
    gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture);
    gl.uniform1i(to.shadow, 0);
    gl.bindVertexArray(this.nothing);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(null);
  }

  // translucent bodies show only their front: their depth is drawn first
  drawGroup(group, opacity) {
    const { gl, bodies: { uniforms } } = this, all = () => {
      for (const batch of this.kit.batches(group)) batch.draw();
    };
    if (opacity < 1) {
      gl.colorMask(false, false, false, false);
      all();
      gl.colorMask(true, true, true, true);
      gl.depthFunc(gl.LEQUAL);
    }
    gl.uniform1f(uniforms.opacity, opacity);
    all();
    gl.depthFunc(gl.LESS);
  }

  // the mechanism in another position, translucent; where both coincide, the real one is visible
  drawOther(places, opacity, plain) {
    const { gl, bodies: { uniforms } } = this;
    this.fill(places, false);
    gl.uniform4fv(uniforms.plain, plain);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 4);
    for (const group of ["bodies", "fittings"]) this.drawGroup(group, opacity);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.uniform4f(uniforms.plain, 0, 0, 0, 0);
  }

  drawPaths({ time, ink }) {
    const { gl, bodies: { uniforms } } = this, part = (colour, first, count) => {
      gl.uniform4f(uniforms.plain, ...rgb(colour), 1);
      this.paths.draw(first, count);
    };
    gl.uniform1f(uniforms.opacity, 1);
    gl.polygonOffset(4, 400); // of overlapping parts of a path, the one passed already is in front
    for (const { first, times } of this.pathParts) {
      const passed = times.filter((t) => t <= time).length;
      part(ink.bad, first, passed);
      gl.enable(gl.POLYGON_OFFSET_FILL);
      part(ink["strong-grid"], first + passed, times.length - passed);
      gl.disable(gl.POLYGON_OFFSET_FILL);
    }
    gl.uniform4f(uniforms.plain, 0, 0, 0, 0);
  }
}
