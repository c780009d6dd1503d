// A row as a picture: an image where rows are images, bars where they are not.

import { inUnits, rowOf, type Page } from "../data";
import { fill, h } from "../dom";
import { number, plural } from "../format";
import { columnStats, greys } from "./columns";

/** The most columns that are listed; of more, those that differ most from the mean are. */
const BARS = 22;

export interface Values { row: ArrayLike<number>; deviations?: ArrayLike<number>; margins?: ArrayLike<number> }

/** The row of a point in the user's units. */
export function pointValues(page: Page, i: number): Values | null {
  const row = rowOf(page, i);
  return row && { row: Array.from(row, (x, j) => inUnits(page.columns[j], x)) };
}

export function image(page: Page, values: ArrayLike<number>, ends: [number, number], words: string, tint?: [number, number, number]): HTMLCanvasElement {
  const { width, height } = page.image!, canvas = h("canvas", { class: "image", width, height, role: "img", "aria-label": words });
  const context = canvas.getContext("2d")!, pixels = context.createImageData(width, height), [low, high] = ends;
  for (let at = 0; at < width * height; at++) {
    const t = Math.min(1, Math.max(0, (values[at] - low) / (high - low || 1)));
    const color = tint ? tint.map((c) => t * c) : [255 * t, 255 * t, 255 * t];
    pixels.data.set([...color, 255], 4 * at);
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

/** The image of a point, small; null if rows are no images. */
export function thumbnail(page: Page, i: number): HTMLCanvasElement | null {
  const values = page.image && pointValues(page, i);
  return values ? image(page, values.row, greys(page), `image of row ${i + 1}`) : null;
}

/** The whole row. */
export function picture(page: Page, values: Values, words: string): HTMLElement {
  if (!page.image) return bars(page, values);
  const box = h("div", { class: "images" }, h("figure", {}, image(page, values.row, greys(page), words), values.deviations ? h("figcaption", {}, "the image") : null));
  if (values.deviations) {
    const most = Array.from(values.deviations).reduce((a, b) => Math.max(a, b), 0);
    box.append(h("figure", {}, image(page, values.deviations, [0, most], `68 % interval of ${words}`, [255, 196, 92]), h("figcaption", {}, `± half-width of the 68 % interval, up to ${number(most)}`)));
  }
  return box;
}

function bars(page: Page, { row, deviations, margins }: Values): HTMLElement {
  const stats = columnStats(page), p = page.columns.length;
  let shown = page.columns.map((_, j) => j);
  if (p > BARS) {
    const size = (j: number) => Math.abs((row[j] - stats[j].mean) / (stats[j].spread || Infinity));
    shown = shown.sort((a, b) => size(b) - size(a)).slice(0, BARS);
  }
  const list = h("dl", { class: `bars${deviations ? " wide" : ""}` });
  for (const j of shown) list.append(h("dt", { title: page.columns[j].name }, page.columns[j].name), h("dd", {}, bar(stats[j], row[j], deviations?.[j], margins?.[j]), h("span", { class: "value" }, number(row[j]), deviations ? h("small", {}, ` ± ${number(deviations[j], 2)}`) : null)));
  const box = h("div", {}, list);
  if (p > BARS) box.append(h("p", { class: "note" }, `${BARS} of ${plural(p, "column")}, those that differ most from their mean`));
  return box;
}

/** A value between the least and the largest of its column, with the mean, and its 68 % and 95 % intervals as whiskers. */
function bar({ low, high, mean }: { low: number; high: number; mean: number }, value: number, deviation?: number, margin?: number): HTMLElement {
  const at = (x: number) => `${Math.min(100, Math.max(0, (100 * (x - low)) / (high - low || 1)))}%`;
  const box = h("span", { class: "track" }), part = (name: string, left: number, right?: number) => {
    const element = h("i", { class: name });
    element.style.left = at(left);
    if (right !== undefined) element.style.right = `calc(100% - ${at(right)})`;
    return element;
  };
  fill(box, part("mean", mean),
    margin !== undefined && part("margin", value - margin, value + margin),
    deviation !== undefined && part("deviation", value - deviation, value + deviation),
    part("here", value));
  return box;
}
