// A thin layer over WebGL 2: programs, meshes, and batches of instances that share a mesh.

export function compile(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text.trim());
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  const uniforms = {};
  for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(program, k);
    uniforms[name] = gl.getUniformLocation(program, name);
  }
  return { program, uniforms };
}

// numbers of an instance: from (3), along (3), side (3), radius, colour (3), fraction of the colour that is independent of light
export const INSTANCE = 14;
const VERTEX_PLACES = [4, 3], INSTANCE_PLACES = [3, 3, 4, 4];

// Instances of one mesh. Vertices are (x, y, z, w, normal): x, y and w in radii, z as a fraction of the length of `along`.
export class Batch {
  constructor(gl, { vertices, indices }) {
    Object.assign(this, { gl, size: indices.length, count: 0, numbers: new Float32Array(INSTANCE * 16) });
    this.array = gl.createVertexArray();
    this.buffers = [vertices, indices, null].map(() => gl.createBuffer());
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[0]);
    gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STATIC_DRAW);
    this.point(0, VERTEX_PLACES, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[1]);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
  }

  point(first, sizes, divisor, offset) {
    const { gl } = this, stride = 4 * sizes.reduce((sum, n) => sum + n, 0);
    sizes.forEach((size, k) => {
      gl.enableVertexAttribArray(first + k);
      gl.vertexAttribPointer(first + k, size, gl.FLOAT, false, stride, offset);
      gl.vertexAttribDivisor(first + k, divisor);
      offset += 4 * size;
    });
  }

  clear() {
    this.count = 0;
  }

  // from (x, y, z) along (a, b, c); (s, t, u) is the direction of the x axis of the mesh, zero for an arbitrary one
  add(x, y, z, a, b, c, s, t, u, radius, colour, plain = 0) {
    let k = INSTANCE * this.count++, { numbers } = this;
    if (k === numbers.length) {
      this.numbers = new Float32Array(2 * k);
      this.numbers.set(numbers);
      numbers = this.numbers;
    }
    numbers[k++] = x; numbers[k++] = y; numbers[k++] = z;
    numbers[k++] = a; numbers[k++] = b; numbers[k++] = c;
    numbers[k++] = s; numbers[k++] = t; numbers[k++] = u;
    numbers[k++] = radius;
    numbers[k++] = colour[0]; numbers[k++] = colour[1]; numbers[k++] = colour[2];
    numbers[k] = plain;
  }

  upload() {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[2]);
    gl.bufferData(gl.ARRAY_BUFFER, this.numbers.subarray(0, INSTANCE * this.count), gl.DYNAMIC_DRAW);
  }

  draw(first = 0, count = this.count - first) {
    if (count <= 0) return;
    const { gl } = this;
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[2]);
    this.point(2, INSTANCE_PLACES, 1, 4 * INSTANCE * first);
    gl.drawElementsInstanced(gl.TRIANGLES, this.size, gl.UNSIGNED_INT, 0, count);
    gl.bindVertexArray(null);
  }

  free() {
    this.gl.deleteVertexArray(this.array);
    for (const buffer of this.buffers) this.gl.deleteBuffer(buffer);
  }
}

// a depth texture with comparison, and the frame buffer that writes it
export function shadowMap(gl, size) {
  const texture = gl.createTexture(), frame = gl.createFramebuffer();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
  for (const [name, value] of [
    [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
  ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  gl.drawBuffers([gl.NONE]);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { texture, frame, size };
}
