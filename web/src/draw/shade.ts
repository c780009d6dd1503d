// Uncertainty shading: a grey background where the inverse transform is uncertain.

import type { Shade } from "../data";
import type { Cloud } from "./cloud";
import type { View } from "./view";

const canvases = new WeakMap<Shade, Map<boolean, HTMLCanvasElement>>();

export function drawShade(context: CanvasRenderingContext2D, shade: Shade, cloud: Cloud, view: View, dark: boolean): void {
  if (!cloud.isMap) return;
  const [x0, x1, y0, y1] = shade.extent;
  const [left, bottom] = view.toScreen(...cloud.placeOf([x0, y0])), [right, top] = view.toScreen(...cloud.placeOf([x1, y1]));
  context.save();
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = "high";
  spread(context, picture(shade, dark), [left, right], [top, bottom], view);
  context.restore();
}

/** The picture, and its edges extended to those of the panel: beyond the grid the uncertainty is at least that at its edge. */
function spread(context: CanvasRenderingContext2D, image: HTMLCanvasElement, [left, right]: number[], [top, bottom]: number[], view: View): void {
  const half = 0.5, { width: w, height: h } = image;
  const columns = [[0, half, Math.min(0, left), left], [0, w, left, right], [w - half, half, right, Math.max(view.width, right)]];
  const rows = [[0, half, Math.min(0, top), top], [0, h, top, bottom], [h - half, half, bottom, Math.max(view.height, bottom)]];
  for (const [sx, sw, x0, x1] of columns) for (const [sy, sh, y0, y1] of rows) {
    if (x1 > x0 && y1 > y0) context.drawImage(image, sx, sy, sw, sh, x0, y0, x1 - x0, y1 - y0);
  }
}

/** Every value as a mean of those around it: the deviation has edges where a neighbor is exchanged for another, which mean nothing. */
function smoothed({ width, height, values }: Shade): Float32Array {
  let now = Float32Array.from(values);
  const pass = (step: number, length: number, position: (at: number) => number) => now.map((own, at) => {
    const before = position(at) > 0 ? now[at - step] : own, after = position(at) + 1 < length ? now[at + step] : own;
    return (2 * own + before + after) / 4;
  });
  for (let round = 0; round < 4; round++) {
    now = pass(1, width, (at) => at % width);
    now = pass(width, height, (at) => Math.floor(at / width));
  }
  return now;
}

/** Row 0 of the values is the bottom of the map. */
function picture(shade: Shade, dark: boolean): HTMLCanvasElement {
  const drawn = canvases.get(shade) ?? new Map<boolean, HTMLCanvasElement>();
  canvases.set(shade, drawn);
  let canvas = drawn.get(dark);
  if (canvas) return canvas;
  const { width, height } = shade, values = smoothed(shade);
  canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d")!, image = context.createImageData(width, height), grey = dark ? 150 : 96;
  for (let r = 0; r < height; r++) for (let c = 0; c < width; c++) {
    const at = 4 * ((height - 1 - r) * width + c);
    image.data[at] = image.data[at + 1] = image.data[at + 2] = grey;
    image.data[at + 3] = Math.round(values[r * width + c] * (dark ? 0.26 : 0.2));
  }
  context.putImageData(image, 0, 0);
  drawn.set(dark, canvas);
  return canvas;
}
