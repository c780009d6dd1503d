// Axes of small charts, as SVG.

import { svg } from "../dom";
import { number, ticks } from "../format";

export interface Frame { element: SVGSVGElement; plot: SVGGElement; x: (value: number) => number; y: (value: number) => number; width: number; height: number }

export interface FrameOptions {
  width: number; height: number; margin: { top: number; right: number; bottom: number; left: number };
  x: [number, number]; y: [number, number]; logX?: boolean; logY?: boolean; xTitle: string; yTitle: string; words: string;
}

export function frame({ width, height, margin, x, y, logX = false, logY = false, xTitle, yTitle, words }: FrameOptions): Frame {
  const inner = { w: width - margin.left - margin.right, h: height - margin.top - margin.bottom };
  const scale = (ends: [number, number], log: boolean, from: number, to: number) => {
    const [a, b] = log ? ends.map(Math.log10) : ends;
    return (value: number) => from + ((log ? Math.log10(value) : value) - a) / (b - a || 1) * (to - from);
  };
  const atX = scale(x, logX, margin.left, margin.left + inner.w), atY = scale(y, logY, margin.top + inner.h, margin.top);
  const element = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": words });
  const grid = svg("g", { class: "grid" }), bottom = margin.top + inner.h;
  for (const value of logY ? powers(y) : ticks(y[0], y[1], 4)) {
    grid.append(svg("line", { x1: margin.left, x2: margin.left + inner.w, y1: atY(value), y2: atY(value) }));
    grid.append(svg("text", { x: margin.left - 7, y: atY(value) + 3.5, "text-anchor": "end" }, number(value)));
  }
  for (const value of logX ? powers(x) : ticks(x[0], x[1], Math.max(2, inner.w / 90))) {
    grid.append(svg("line", { x1: atX(value), x2: atX(value), y1: bottom, y2: bottom + 4, class: "tick" }));
    grid.append(svg("text", { x: atX(value), y: bottom + 17, "text-anchor": "middle" }, number(value)));
  }
  grid.append(svg("text", { x: margin.left + inner.w, y: bottom + 33, "text-anchor": "end", class: "axis" }, xTitle));
  grid.append(svg("text", { x: margin.left, y: margin.top - 9, "text-anchor": "start", class: "axis" }, yTitle));
  const plot = svg("g", {});
  element.append(grid, plot);
  return { element, plot, x: atX, y: atY, width: inner.w, height: inner.h };
}

/** Powers of ten between two numbers, or of two if these are few. */
function powers([low, high]: [number, number]): number[] {
  const of = (base: number) => {
    const out: number[] = [], log = Math.log(base);
    for (let e = Math.ceil(Math.log(low) / log - 1e-9); e <= Math.log(high) / log + 1e-9; e++) out.push(base ** e);
    return out;
  };
  const tens = of(10);
  if (tens.length >= 3) return tens;
  const twos = of(2);
  return twos.length <= 7 ? twos : twos.filter((_, at) => at % 2 === 0);
}

export function path(points: [number, number][]): string {
  return points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}
