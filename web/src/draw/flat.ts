// Points by the canvas's own pen, where there is no WebGL: slower, and the same picture.

import type { Cloud } from "./cloud";
import { type Painter, type Scene, shuffled } from "./painter";
import { marks } from "./view";

/** More points than this are drawn as small squares, which a pen fills faster than discs. */
const DISCS = 20_000;

export class FlatPainter implements Painter {
  readonly kind = "canvas";
  private readonly order: Uint32Array;

  constructor(n: number) {
    this.order = shuffled(n);
  }

  paint(target: CanvasRenderingContext2D, scene: Scene): void {
    const { view, colors, lit } = scene, { radius, opacity } = marks(this.order.length, view);
    target.save();
    for (const pass of scene.anyDim ? [2, 1] : [0]) {
      target.globalAlpha = pass === 2 ? opacity * 0.16 : opacity;
      let last = -1;
      for (const i of this.order) {
        if (pass > 0 && (lit[i] === 2) !== (pass === 2)) continue;
        const [x, y] = view.of(scene.cloud, i);
        if (x < -5 || y < -5 || x > view.width + 5 || y > view.height + 5) continue;
        const color = (colors[4 * i] << 16) | (colors[4 * i + 1] << 8) | colors[4 * i + 2];
        if (color !== last) {
          target.fillStyle = `rgb(${colors[4 * i]},${colors[4 * i + 1]},${colors[4 * i + 2]})`;
          last = color;
        }
        mark(target, x, y, radius, this.order.length > DISCS ? 1 : colors[4 * i + 3]);
      }
    }
    target.restore();
  }

  forget(_cloud: Cloud): void {}
}

/** A disc (0), a square (1) or a triangle (2). */
export function mark(target: CanvasRenderingContext2D, x: number, y: number, radius: number, shape: number): void {
  if (shape === 1) {
    const side = 0.86 * radius;
    target.fillRect(x - side, y - side, 2 * side, 2 * side);
    return;
  }
  target.beginPath();
  if (shape === 2) {
    target.moveTo(x, y - 1.24 * radius);
    target.lineTo(x + 1.07 * radius, y + 0.62 * radius);
    target.lineTo(x - 1.07 * radius, y + 0.62 * radius);
  } else target.arc(x, y, radius, 0, 2 * Math.PI);
  target.fill();
}
