// The painter of the points: WebGL if there is one, else the canvas's own pen.

import type { Cloud } from "./cloud";
import { FlatPainter } from "./flat";
import type { View } from "./view";
import { GlPainter } from "./webgl";

/** Everything that one picture of a map is made of. */
export interface Scene {
  cloud: Cloud; view: View;
  /** Red, green, blue, shape of every point; the same array means the same colors. */
  colors: Uint8Array;
  /** 0 as usual, 1 lit, 2 dim; the version is incremented on a change in place. */
  lit: Uint8Array; litVersion: number; anyDim: boolean;
  ratio: number; dark: boolean;
  /** How many points are drawn, in the shuffled order: all, or a sample while things move. */
  count: number;
}

export interface Painter {
  readonly kind: "webgl" | "canvas";
  /** How many points it draws fast enough to follow a hand. */
  readonly nimble: number;
  /** Draws the points of a scene over what the canvas shows. */
  paint(target: CanvasRenderingContext2D, scene: Scene): void;
  /** Lets go of what was kept for a cloud. */
  forget(cloud: Cloud): void;
}

/** `restored` is called when all pictures are to be drawn anew. */
export function makePainter(n: number, restored: () => void): Painter {
  const wanted = new URLSearchParams(location.search).get("draw") ?? location.hash.match(/draw=(\w+)/)?.[1];
  if (wanted !== "canvas") {
    try {
      return new GlPainter(n, restored);
    } catch (error) {
      console.info(`points are drawn without WebGL: ${error instanceof Error ? error.message : error}`);
    }
  }
  return new FlatPainter(n);
}

/** The rows in an order that looks random, so that no class is always on top. */
export function shuffled(n: number): Uint32Array {
  const order = new Uint32Array(n);
  for (let i = 0; i < n; i++) order[i] = i;
  let seed = 0x2545f491;
  for (let i = n - 1; i > 0; i--) {
    seed ^= seed << 13; seed ^= seed >>> 17; seed ^= seed << 5;
    const a = (seed >>> 0) % (i + 1), held = order[i];
    order[i] = order[a];
    order[a] = held;
  }
  return order;
}
