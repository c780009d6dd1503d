// One WebGL context for all panels: each scene is drawn in a corner of one hidden canvas and copied to its panel.
// Browsers allow about 16 contexts to a page, and a page may have more maps than that.

import type { Cloud } from "./cloud";
import { type Painter, type Scene, shuffled } from "./painter";
import { marks } from "./view";

const VERTEX = `#version 300 es
layout(location=0) in vec3 place;
layout(location=1) in vec4 color;
layout(location=2) in float lit;
uniform mat3 turn;
uniform vec2 middle, scale;
uniform float size, opacity, flat2, only, depthFade;
out vec4 ink;
out float shape;
void main() {
  vec3 seen = flat2 > 0.5 ? vec3(place.xy, 0.0) : turn * place;
  bool dim = lit > 1.5;
  bool skip = only > 1.5 ? !dim : (only > 0.5 ? dim : false);
  gl_Position = skip ? vec4(2.0, 2.0, 0.0, 1.0) : vec4((seen.xy - middle) * scale, 0.0, 1.0);
  float near = 1.0 + 0.28 * clamp(seen.z, -1.0, 1.0) * depthFade;
  gl_PointSize = size * near * (lit > 0.5 && !dim ? 1.15 : 1.0) + 1.0;
  ink = vec4(color.rgb, opacity * (dim ? 0.16 : 1.0) * mix(1.0, near, 0.7));
  shape = floor(color.a * 255.0 + 0.5);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 ink;
in float shape;
uniform float size;
out vec4 pixel;
void main() {
  vec2 at = (gl_PointCoord * 2.0 - 1.0) * (size + 1.0) / size;
  float away;
  if (shape < 0.5) away = length(at) - 1.0;
  else if (shape < 1.5) away = max(abs(at.x) * 0.866 - at.y * 0.5, at.y) - 0.62;
  else {
    vec2 arm = abs(vec2(at.x + at.y, at.x - at.y)) * 0.7071;
    away = min(max(arm.x - 1.15, arm.y - 0.36), max(arm.y - 1.15, arm.x - 0.36));
  }
  float cover = clamp(0.5 - away * size * 0.5, 0.0, 1.0);
  float alpha = ink.a * cover;
  if (alpha < 0.004) discard;
  pixel = vec4(ink.rgb * alpha, alpha);
}`;

interface Buffers { array: WebGLVertexArrayObject; places: WebGLBuffer; version: number; colors: Uint8Array | null }

export class GlPainter implements Painter {
  readonly kind = "webgl";
  readonly nimble: number;
  private readonly canvas = document.createElement("canvas");
  private gl!: WebGL2RenderingContext;
  private program!: WebGLProgram;
  private at!: Record<string, WebGLUniformLocation | null>;
  private order!: WebGLBuffer;
  private lit!: WebGLBuffer;
  private litVersion = -1;
  private buffers = new Map<Cloud, Buffers>();
  private colors = new Map<Uint8Array, WebGLBuffer>();

  constructor(private readonly n: number, restored: () => void) {
    const gl = this.canvas.getContext("webgl2", { alpha: true, antialias: false, depth: false, premultipliedAlpha: true, preserveDrawingBuffer: false });
    if (!gl) throw new Error("the browser gave no WebGL 2 context");
    this.gl = gl;
    const named = gl.getExtension("WEBGL_debug_renderer_info"), card = named ? String(gl.getParameter(named.UNMASKED_RENDERER_WEBGL)) : "";
    this.nimble = /swiftshader|llvmpipe|software|basic render/i.test(card) ? 30_000 : 500_000;
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.begin();
      restored();
    });
    this.begin();
  }

  private begin(): void {
    const { gl } = this;
    this.buffers.clear();
    this.colors.clear();
    this.litVersion = -1;
    this.program = link(gl);
    this.at = Object.fromEntries(["turn", "middle", "scale", "size", "opacity", "flat2", "only", "depthFade"].map((name) => [name, gl.getUniformLocation(this.program, name)]));
    this.order = gl.createBuffer()!;
    this.lit = gl.createBuffer()!;
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.order);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, shuffled(this.n), gl.STATIC_DRAW);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.clearColor(0, 0, 0, 0);
  }

  paint(target: CanvasRenderingContext2D, scene: Scene): void {
    const { gl, canvas } = this, { width, height } = target.canvas;
    if (gl.isContextLost() || width === 0 || height === 0) return;
    if (canvas.width < width || canvas.height < height) {
      canvas.width = Math.max(canvas.width, width);
      canvas.height = Math.max(canvas.height, height);
    }
    this.bind(scene);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.draw(scene, width, height);
    target.save();
    target.setTransform(1, 0, 0, 1, 0, 0);
    target.drawImage(canvas, 0, canvas.height - height, width, height, 0, 0, width, height);
    target.restore();
  }

  private draw(scene: Scene, width: number, height: number): void {
    const { gl, at } = this, { view, cloud } = scene, { radius, opacity } = marks(scene.count, view);
    const t = view.turn, s = 2 * view.scale * scene.ratio;
    gl.useProgram(this.program);
    // Columns for WebGL, rows with us.
    gl.uniformMatrix3fv(at.turn, false, [t[0], t[3], t[6], t[1], t[4], t[7], t[2], t[5], t[8]]);
    gl.uniform2f(at.middle, view.x, view.y);
    gl.uniform2f(at.scale, s / width, s / height);
    gl.uniform1f(at.size, 2 * radius * scene.ratio);
    gl.uniform1f(at.opacity, opacity);
    gl.uniform1f(at.flat2, cloud.stride === 2 ? 1 : 0);
    gl.uniform1f(at.depthFade, cloud.stride === 3 ? 1 : 0);
    for (const only of scene.anyDim ? [2, 1] : [0]) {
      gl.uniform1f(at.only, only);
      gl.drawElements(gl.POINTS, scene.count, gl.UNSIGNED_INT, 0);
    }
    gl.bindVertexArray(null);
  }

  /** Brings what has changed since the last picture to the card. */
  private bind(scene: Scene): void {
    const { gl } = this;
    if (this.litVersion !== scene.litVersion) {
      this.litVersion = scene.litVersion;
      gl.bindBuffer(gl.ARRAY_BUFFER, this.lit);
      gl.bufferData(gl.ARRAY_BUFFER, scene.lit, gl.DYNAMIC_DRAW);
    }
    const buffers = this.buffers.get(scene.cloud) ?? this.upload(scene.cloud);
    gl.bindVertexArray(buffers.array);
    if (buffers.version !== scene.cloud.version) {
      buffers.version = scene.cloud.version;
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers.places);
      gl.bufferData(gl.ARRAY_BUFFER, scene.cloud.points, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, scene.cloud.stride, gl.FLOAT, false, 0, 0);
    }
    if (buffers.colors !== scene.colors) {
      buffers.colors = scene.colors;
      gl.bindBuffer(gl.ARRAY_BUFFER, this.colorsOf(scene.colors));
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
      this.sweep();
    }
  }

  private upload(cloud: Cloud): Buffers {
    const { gl } = this, buffers: Buffers = { array: gl.createVertexArray()!, places: gl.createBuffer()!, version: -1, colors: null };
    gl.bindVertexArray(buffers.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lit);
    gl.enableVertexAttribArray(2);
    gl.vertexAttribPointer(2, 1, gl.UNSIGNED_BYTE, false, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.order);
    this.buffers.set(cloud, buffers);
    return buffers;
  }

  private colorsOf(colors: Uint8Array): WebGLBuffer {
    const { gl } = this;
    let buffer = this.colors.get(colors);
    if (!buffer) {
      buffer = gl.createBuffer()!;
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, colors, gl.STATIC_DRAW);
      this.colors.set(colors, buffer);
    }
    return buffer;
  }

  /** Lets go of colors that no map uses any more. */
  private sweep(): void {
    const used = new Set([...this.buffers.values()].map((buffers) => buffers.colors));
    for (const [colors, buffer] of this.colors) if (!used.has(colors)) {
      this.gl.deleteBuffer(buffer);
      this.colors.delete(colors);
    }
  }

  forget(cloud: Cloud): void {
    const buffers = this.buffers.get(cloud);
    if (!buffers) return;
    this.gl.deleteVertexArray(buffers.array);
    this.gl.deleteBuffer(buffers.places);
    this.buffers.delete(cloud);
    this.sweep();
  }
}

function link(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram()!;
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(`the shaders did not link: ${gl.getProgramInfoLog(program)}`);
  return program;
}
