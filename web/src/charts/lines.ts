// The spectrum of a field, and the curve of an optimization.

import type { MapData } from "../data";
import { h, svg } from "../dom";
import { frame, path } from "./frame";

export function spectrum(map: MapData): HTMLElement | null {
  const values = map.spectrum;
  if (!values || values.length === 0) return null;
  const high = Math.max(...values, 0), low = Math.min(...values, 0), width = 420;
  const { element, plot, x, y } = frame({
    width, height: 200, margin: { top: 28, right: 12, bottom: 40, left: 52 }, x: [0.5, values.length + 0.5], y: [low, high || 1],
    xTitle: "number", yTitle: "eigenvalue", words: `Spectrum of ${map.title}: ${values.length} eigenvalues`,
  });
  values.forEach((value, at) => {
    const used = at < map.dims, color = used ? "used" : "";
    plot.append(svg("line", { x1: x(at + 1), x2: x(at + 1), y1: y(0), y2: y(value), class: `stem ${color}` }), svg("circle", { cx: x(at + 1), cy: y(value), r: values.length > 60 ? 1.5 : 3, class: `bead ${color}` }));
  });
  return h("div", { class: "chart-box" }, element);
}

export function curve(map: MapData): HTMLElement | null {
  const points = map.curve?.filter(([, value]) => Number.isFinite(value));
  if (!points || points.length < 2) return null;
  const steps = points.map(([step]) => step), values = points.map(([, value]) => value), low = Math.min(...values), high = Math.max(...values);
  const log = low > 0 && high / low > 50;
  const { element, plot, x, y } = frame({
    width: 420, height: 200, margin: { top: 28, right: 12, bottom: 40, left: 52 }, x: [steps[0], steps[steps.length - 1]], y: log ? [low, high] : [low, high === low ? low + 1 : high], logY: log,
    xTitle: "step", yTitle: log ? "objective (log)" : "objective", words: `Objective of ${map.title} over ${points.length} steps, from ${values[0]} to ${values[values.length - 1]}`,
  });
  plot.append(svg("path", { d: path(points.map(([step, value]) => [x(step), y(value)])), class: "line" }));
  return h("div", { class: "chart-box" }, element);
}
