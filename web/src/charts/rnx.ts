// Neighborhoods kept, for every size of neighborhood: the R_NX curves of all maps in one chart.

import type { MapData, Page } from "../data";
import { h, svg } from "../dom";
import { frame, path } from "./frame";

/** The least distance between the names at the right, in pixels. */
const LINE = 15;

export function rnxChart(page: Page, only: MapData | null = null, width = 1040): HTMLElement | null {
  const maps = page.maps.filter((map) => map.rnx && map.rnx.k.length > 1);
  if (maps.length === 0 || (only && !only.rnx)) return null;
  const high = Math.max(...maps.flatMap((map) => map.rnx!.k)), low = Math.max(1, Math.min(...maps.flatMap((map) => map.rnx!.k)));
  const values = maps.flatMap((map) => map.rnx!.value), top = Math.min(1, Math.ceil(Math.max(...values, 0.1) * 10) / 10), bottom = Math.min(0, Math.floor(Math.min(...values) * 10) / 10);
  const narrow = width < 640, margin = { top: 30, right: only ? 16 : narrow ? 128 : 210, bottom: 42, left: 44 };
  const height = Math.max(only ? 250 : 380, margin.top + margin.bottom + (only ? 0 : maps.length * LINE));
  const { element, plot, x, y } = frame({
    width, height, margin, x: [low, high], y: [bottom, top], logX: true,
    xTitle: "neighborhood size k", yTitle: "R_NX: 0 as by chance, 1 all kept", words: `Share of neighborhoods kept by ${maps.length} maps, for every size of neighborhood`,
  });
  const ends = spread(maps.map((map) => y(map.rnx!.value[map.rnx!.value.length - 1])), margin.top, height - margin.bottom);
  const order = maps.map((map, at) => ({ map, end: ends[at] }));
  // The best is drawn last, over the others.
  for (const { map, end } of order.reverse()) {
    const best = only ? map === only : map.rank === 1, name = map.sweep ? `${map.title}, ${map.sweep.value}` : map.title;
    const { k, value } = map.rnx!, points = k.map((size, at): [number, number] => [x(size), y(value[at])]), last = points[points.length - 1];
    const group = svg("g", { class: `curve${best ? " best" : ""}`, "data-map": map.id });
    if (!only) group.setAttribute("tabindex", "0");
    group.append(svg("path", { d: path(points), class: "touch" }), svg("path", { d: path(points), class: "line" }));
    if (!only) {
      const from = width - margin.right;
      group.append(svg("path", { d: path([[last[0] + 3, last[1]], [from + 12, end], [from + 16, end]]), class: "lead" }));
      group.append(svg("text", { x: from + 20, y: end + 4 }, short(name, narrow ? 17 : 30)));
    }
    group.append(svg("title", {}, name));
    plot.append(group);
  }
  return h("div", { class: "chart-box" }, element);
}

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Heights moved as little as needed so that names do not touch. */
function spread(wanted: number[], low: number, high: number): number[] {
  const order = wanted.map((_, at) => at).sort((a, b) => wanted[a] - wanted[b]), out = [...wanted];
  for (let round = 0; round < 200; round++) {
    let moved = false;
    for (let i = 1; i < order.length; i++) {
      const gap = out[order[i]] - out[order[i - 1]];
      if (gap < LINE - 0.01) {
        const half = (LINE - gap) / 2;
        out[order[i - 1]] -= half;
        out[order[i]] += half;
        moved = true;
      }
    }
    for (const at of order) out[at] = Math.min(high, Math.max(low, out[at]));
    if (!moved) break;
  }
  return out;
}
