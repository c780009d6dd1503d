// The marks on the points of a panel: the lit point, the pinned one with lines to its neighbors, the probe, the lasso, the cross.

import type { Panel } from "../panel";
import { classShape, css } from "../color/palette";
import { mark } from "./flat";
import { marks } from "./view";

/** The cross that keys move, with how far around it S selects. */
export interface Cross { x: number; y: number; radius: number }

export function drawMarks(context: CanvasRenderingContext2D, panel: Panel): void {
  const { state } = panel.desk, style = getComputedStyle(panel.element);
  const ink = style.getPropertyValue("--ink"), paper = style.getPropertyValue("--plot"), accent = style.getPropertyValue("--accent");
  if (state.pinned >= 0) neighbors(context, panel, ink, paper);
  if (state.probe?.map === panel.map) probe(context, panel, accent, paper);
  if (state.hover >= 0) lit(context, panel, state.hover, ink, paper);
  if (panel.line) lasso(context, panel.line, accent);
  if (panel.cross) cross(context, panel.cross, accent);
}

/** A point in its own color and shape, larger, with a ring. */
function lit(context: CanvasRenderingContext2D, panel: Panel, row: number, ink: string, paper: string): void {
  const [x, y] = panel.view.of(panel.cloud, row), colors = panel.desk.colorsOf(panel.map);
  const radius = Math.max(4, 1.4 * marks(panel.desk.page.n, panel.view).radius);
  context.fillStyle = paper;
  context.beginPath();
  context.arc(x, y, radius + 3.5, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = ink;
  context.lineWidth = 1.5;
  context.stroke();
  context.fillStyle = css([colors[4 * row], colors[4 * row + 1], colors[4 * row + 2]]);
  const { classes } = panel.desk.coloring;
  mark(context, x, y, radius, classes ? classShape(panel.desk.classes![row], classes.length) : 0);
}

function neighbors(context: CanvasRenderingContext2D, panel: Panel, ink: string, paper: string): void {
  const { page, state } = panel.desk, row = state.pinned, [x, y] = panel.view.of(panel.cloud, row);
  if (page.neighbors) {
    const { ids, k } = page.neighbors;
    context.strokeStyle = ink;
    context.lineWidth = 1;
    context.globalAlpha = 0.55;
    context.beginPath();
    const ends = Array.from(ids.subarray(row * k, (row + 1) * k), (a) => panel.view.of(panel.cloud, a));
    for (const [a, b] of ends) {
      context.moveTo(x, y);
      context.lineTo(a, b);
    }
    context.stroke();
    context.globalAlpha = 1;
    for (const [a, b] of ends) {
      context.fillStyle = ink;
      context.beginPath();
      context.arc(a, b, 2.4, 0, 2 * Math.PI);
      context.fill();
    }
  }
  lit(context, panel, row, ink, paper);
}

function probe(context: CanvasRenderingContext2D, panel: Panel, accent: string, paper: string): void {
  const [x, y] = panel.view.toScreen(...panel.cloud.placeOf(panel.desk.state.probe!.place));
  for (const [color, width] of [[paper, 5], [accent, 2]] as const) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, 7, 0, 2 * Math.PI);
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(x + 4 * dx, y + 4 * dy);
      context.lineTo(x + 12 * dx, y + 12 * dy);
    }
    context.stroke();
  }
}

function lasso(context: CanvasRenderingContext2D, line: [number, number][], accent: string): void {
  context.beginPath();
  line.forEach(([x, y], at) => (at === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.fillStyle = accent;
  context.globalAlpha = 0.08;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = accent;
  context.lineWidth = 1.5;
  context.setLineDash([4, 3]);
  context.stroke();
  context.setLineDash([]);
}

function cross(context: CanvasRenderingContext2D, { x, y, radius }: Cross, accent: string): void {
  context.strokeStyle = accent;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x - 8, y);
  context.lineTo(x + 8, y);
  context.moveTo(x, y - 8);
  context.lineTo(x, y + 8);
  context.stroke();
  context.setLineDash([2, 4]);
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
  context.setLineDash([]);
}
