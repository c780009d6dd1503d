// Neighborhoods kept, for every size of neighborhood: the R_NX curves of all maps in one chart. Curves carry the ranks of their
// maps, where they are farthest from each other; the names stand beside, in the same order.

import type { MapData, Page } from "../data";
import { h, svg } from "../dom";
import { frame, path } from "./frame";

/** The distance between the names at the right, in pixels. */
const LINE = 17;
/** Positions along a curve that are tried for its rank. */
const TRIED = 28;

type Curve = { map: MapData; points: [number, number][] };

export function rnxChart(page: Page, only: MapData | null = null, width = 1040): HTMLElement | null {
  const maps = page.maps.filter((map) => map.rnx && map.rnx.k.length > 1);
  if (maps.length === 0 || (only && !maps.includes(only))) return null;
  const high = Math.max(...maps.flatMap((map) => map.rnx!.k)), low = Math.max(1, Math.min(...maps.flatMap((map) => map.rnx!.k)));
  const values = maps.flatMap((map) => map.rnx!.value), top = Math.min(1, Math.ceil(Math.max(...values, 0.1) * 10) / 10), bottom = Math.min(0, Math.floor(Math.min(...values) * 10) / 10);
  const narrow = width < 640, margin = { top: 30, right: only || narrow ? 16 : 230, bottom: 42, left: 44 };
  const height = Math.max(only ? 250 : 400, margin.top + margin.bottom + (only || narrow ? 0 : maps.length * LINE));
  const { element, plot, x, y } = frame({
    width, height, margin, x: [low, high], y: [bottom, top], logX: true,
    xTitle: "neighborhood size k", yTitle: "R_NX: 0 for a random embedding, 1 all kept", words: `Share of neighborhoods kept by ${maps.length} maps, for every size of neighborhood`,
  });
  const curves = maps.map((map): Curve => ({ map, points: map.rnx!.k.map((size, at) => [x(size), y(map.rnx!.value[at])]) }));
  const marks = only ? [] : ranksAt(curves, margin.left + 28, width - margin.right - 14);
  const groups = curves.map((curve, at) => group(curve, only ? curve.map === only : curve.map.rank === 1, marks[at] ?? null, only === null));
  // The best is drawn last, over the others.
  plot.append(...[...groups].reverse());
  if (!only) names(curves, groups, plot, narrow ? null : { x: width - margin.right + 24, y: margin.top + 10 });
  const box = h("div", { class: "chart-box" }, element);
  if (!only && narrow) box.append(h("ol", { class: "curve-names" }, ...curves.map(({ map }) => h("li", {}, h("span", { class: "rank" }, rankOf(map)), h("span", {}, nameOf(map))))));
  return box;
}

function group({ map, points }: Curve, best: boolean, mark: [number, number] | null, reachable: boolean): SVGGElement {
  const out = svg("g", { class: `curve${best ? " best" : ""}`, "data-map": map.id, tabindex: reachable ? 0 : null, role: reachable ? "img" : null, "aria-label": reachable ? nameOf(map) : null });
  out.append(svg("path", { d: path(points), class: "touch" }), svg("path", { d: path(points), class: "line" }), svg("title", {}, nameOf(map)));
  if (mark) out.append(svg("text", { x: mark[0], y: mark[1] + 4, "text-anchor": "middle", class: "on-curve" }, rankOf(map)));
  return out;
}

/** The names beside the chart, which light up their curves. */
function names(curves: Curve[], groups: SVGGElement[], plot: SVGGElement, from: { x: number; y: number } | null): void {
  if (!from) return;
  curves.forEach(({ map }, at) => {
    const line = svg("g", { class: `curve-name${map.rank === 1 ? " best" : ""}` }, svg("text", { x: from.x, y: from.y + at * LINE, "text-anchor": "end" }, rankOf(map)), svg("text", { x: from.x + 8, y: from.y + at * LINE }, short(nameOf(map), 30)));
    const light = (on: boolean) => { groups[at].classList.toggle("lit", on); line.classList.toggle("lit", on); };
    for (const part of [line, groups[at]]) {
      part.addEventListener("pointerenter", () => light(true));
      part.addEventListener("pointerleave", () => light(false));
      part.addEventListener("focus", () => light(true));
      part.addEventListener("blur", () => light(false));
    }
    plot.append(line);
  });
}

const rankOf = (map: MapData) => (map.rank > 0 ? String(map.rank) : "–");
const nameOf = (map: MapData) => (map.sweep ? `${map.title}, ${map.sweep.parameter} ${map.sweep.value}` : map.title);

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** For each curve the position farthest from the other curves and from the ranks placed before. */
function ranksAt(curves: Curve[], left: number, right: number): [number, number][] {
  const placed: [number, number][] = [];
  for (const curve of curves) {
    let best: [number, number] = curve.points[0], most = -Infinity;
    for (let at = 0; at <= TRIED; at++) {
      const px = left + ((right - left) * at) / TRIED, py = heightAt(curve, px);
      if (py === null) continue;
      const others = curves.filter((other) => other !== curve).map((other) => Math.abs((heightAt(other, px) ?? Infinity) - py));
      const ranks = placed.map(([qx, qy]) => 0.6 * Math.hypot(px - qx, py - qy));
      const free = Math.min(30, ...others, ...ranks);
      if (free > most) [most, best] = [free, [px, py]];
    }
    placed.push(best);
  }
  return placed;
}

/** The height of a curve at a position, interpolated between its points. */
function heightAt({ points }: Curve, px: number): number | null {
  for (let at = 1; at < points.length; at++) {
    const [[xa, ya], [xb, yb]] = [points[at - 1], points[at]];
    if (px >= xa && px <= xb) return ya + ((yb - ya) * (px - xa)) / (xb - xa || 1);
  }
  return null;
}
