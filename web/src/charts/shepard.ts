// Shepard's diagram: distances on the map against distances in the data, as a density of pairs.

import type { MapData } from "../data";
import { h, sharp } from "../dom";
import type { Desk } from "../desk";

const BINS = 48;

/** A canvas with the density of pairs; it follows the theme. */
export function shepard(desk: Desk, map: MapData, side: number): HTMLElement {
  const canvas = h("canvas", { role: "img", "aria-label": `Shepard diagram of ${map.title}: distances in the data from left to right, on the map upwards` });
  const { counts, most } = density(map.shepard!);
  const draw = () => {
    const context = sharp(canvas, side, side), style = getComputedStyle(document.documentElement);
    const size = side / BINS, ink = style.getPropertyValue("--ink");
    context.clearRect(0, 0, side, side);
    context.fillStyle = ink;
    for (let r = 0; r < BINS; r++) for (let c = 0; c < BINS; c++) {
      const many = counts[r * BINS + c];
      if (many === 0) continue;
      context.globalAlpha = 0.08 + 0.85 * Math.sqrt(many / most);
      context.fillRect(c * size, side - (r + 1) * size, size + 0.3, size + 0.3);
    }
    context.globalAlpha = 1;
  };
  desk.state.on(["theme"], draw);
  draw();
  return h("div", { class: "shepard" }, canvas);
}

function density(pairs: ArrayLike<number>): { counts: Uint32Array; most: number } {
  const counts = new Uint32Array(BINS * BINS);
  let [x, y, most] = [1e-300, 1e-300, 1];
  for (let i = 0; i < pairs.length; i += 2) {
    x = Math.max(x, pairs[i]);
    y = Math.max(y, pairs[i + 1]);
  }
  for (let i = 0; i < pairs.length; i += 2) {
    const at = (value: number, high: number) => Math.min(BINS - 1, Math.floor((BINS * value) / high));
    const count = ++counts[at(pairs[i + 1], y) * BINS + at(pairs[i], x)];
    if (count > most) most = count;
  }
  return { counts, most };
}
