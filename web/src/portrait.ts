// A panel as a picture file: larger, with its name and the colors explained.

import { classColor, classShape, css, sequential } from "./color/palette";
import { h } from "./dom";
import { fileName, saveCanvas } from "./download";
import { mark } from "./draw/flat";
import { number } from "./format";
import type { Panel } from "./panel";

const SIDE = 1400, HEAD = 110, FOOT = 130;

export function portrait(panel: Panel): HTMLCanvasElement {
  const canvas = h("canvas", { width: SIDE, height: HEAD + SIDE + FOOT }), context = canvas.getContext("2d")!, { desk, view } = panel;
  const style = getComputedStyle(document.documentElement), font = getComputedStyle(document.body).fontFamily;
  const body = h("canvas", { width: SIDE, height: SIDE }), inner = body.getContext("2d")!, ratio = SIDE / view.width;
  inner.setTransform(ratio, 0, 0, ratio, 0, 0);
  const before = view.height;
  view.resize(view.width, view.width);
  panel.paint(inner, ratio);
  view.resize(view.width, before);
  context.fillStyle = style.getPropertyValue("--paper");
  context.fillRect(0, 0, SIDE, HEAD + SIDE + FOOT);
  context.drawImage(body, 0, HEAD);
  context.fillStyle = style.getPropertyValue("--ink");
  context.font = `600 40px ${font}`;
  context.fillText(panel.map.title, 40, 64);
  context.fillStyle = style.getPropertyValue("--muted");
  context.font = `24px ${font}`;
  context.fillText(`${desk.page.title} · ${desk.page.made_by}`, 40, 98);
  key(context, panel, HEAD + SIDE + 30, font, style.getPropertyValue("--ink"));
  return canvas;
}

function key(context: CanvasRenderingContext2D, panel: Panel, top: number, font: string, ink: string): void {
  const { coloring, state } = panel.desk;
  context.font = `22px ${font}`;
  if (coloring.classes) {
    let x = 48, y = top;
    coloring.classes.forEach((name, at) => {
      const short = name.length > 24 ? `${name.slice(0, 23)}…` : name, wide = context.measureText(short).width + 56;
      if (x + wide > SIDE) { x = 48; y += 34; }
      if (y > top + 70) return;
      context.fillStyle = css(classColor(at, coloring.classes!.length, state.dark));
      mark(context, x, y, 9, classShape(at, coloring.classes!.length));
      context.fillStyle = ink;
      context.fillText(short, x + 18, y + 8);
      x += wide;
    });
    return;
  }
  for (let at = 0; at < 400; at++) {
    context.fillStyle = css(sequential(at / 399, state.dark));
    context.fillRect(40 + at, top - 12, 1.5, 24);
  }
  context.fillStyle = ink;
  context.fillText(`${coloring.title}: ${number(coloring.range[0])} to ${number(coloring.range[1])}`, 460, top + 8);
}

export function savePanel(panel: Panel): void {
  saveCanvas(`${fileName(panel.map.id)}.png`, portrait(panel));
}
