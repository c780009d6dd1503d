// Points by the canvas's own pen, where there is no WebGL: slower, and the same picture.

import type { Cloud } from "./cloud";
import { type Painter, type Scene, shuffled } from "./painter";
import { marks } from "./view";

/** More points than this are drawn as small squares, which a pen fills faster than discs. */
const DISCS = 20_000;

export class FlatPainter implements Painter {
  readonly kind = "canvas";
  readonly nimble = 10_000;
  private readonly order: Uint32Array;

  constructor(n: number) {
    this.order = shuffled(n);
  }

  paint(target: CanvasRenderingContext2D, scene: Scene): void {
    const { view, colors, lit } = scene, { radius, opacity } = marks(scene.count, view);
    target.save();
    for (const pass of scene.anyDim ? [2, 1] : [0]) {
      target.globalAlpha = pass === 2 ? opacity * 0.16 : opacity;
      let last = -1;
      for (const i of this.order.subarray(0, scene.count)) {
        if (pass > 0 && (lit[i] === 2) !== (pass === 2)) continue;
        const [x, y] = view.of(scene.cloud, i);
        if (x < -5 || y < -5 || x > view.width + 5 || y > view.height + 5) continue;
        const color = (colors[4 * i] << 16) | (colors[4 * i + 1] << 8) | colors[4 * i + 2];
        if (color !== last) {
          target.fillStyle = `rgb(${colors[4 * i]},${colors[4 * i + 1]},${colors[4 * i + 2]})`;
          last = color;
        }
        if (this.order.length > DISCS) target.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
        else mark(target, x, y, radius, colors[4 * i + 3]);
      }
    }
    target.restore();
  }

  forget(_cloud: Cloud): void {}
}

/** A disc (0), a triangle (1) or a cross (2). */
export function mark(target: CanvasRenderingContext2D, x: number, y: number, radius: number, shape: number): void {
  target.beginPath();
  if (shape === 1) {
    target.moveTo(x, y - 1.24 * radius);
    target.lineTo(x + 1.07 * radius, y + 0.62 * radius);
    target.lineTo(x - 1.07 * radius, y + 0.62 * radius);
  } else if (shape === 2) cross(target, x, y, radius);
  else target.arc(x, y, radius, 0, 2 * Math.PI);
  target.fill();
}

function cross(target: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  const long = 1.15 * radius * Math.SQRT1_2, wide = 0.36 * radius * Math.SQRT1_2;
  for (const turn of [1, -1]) {
    target.moveTo(x + turn * (long - wide), y + long + wide);
    target.lineTo(x + turn * (long + wide), y + long - wide);
    target.lineTo(x - turn * (long - wide), y - long - wide);
    target.lineTo(x - turn * (long + wide), y - long + wide);
    target.closePath();
  }
}
