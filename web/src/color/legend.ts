// What the colors mean: classes that can be singled out, or a color bar.

import type { Desk } from "../desk";
import { button, fill, h, svg } from "../dom";
import { count, number } from "../format";
import { classColor, classShape, css, missing, MOST, sequential } from "./palette";

/** Classes that are listed; of more, the largest are. */
const LISTED = 80;

export function legend(desk: Desk): HTMLElement {
  const element = h("section", { class: "legend", "aria-label": "Colors" }), show = () => fill(element, ...content(desk));
  desk.state.on(["color", "theme"], show);
  show();
  return element;
}

function content(desk: Desk): Node[] {
  const { coloring } = desk;
  if (coloring.classes) return classList(desk);
  if (coloring.key === "none") return [];
  return bar(desk);
}

export function swatch(color: string, shape: number): SVGElement {
  const mark = shape === 1 ? svg("path", { d: "M6 .8 11.4 10H.6Z" }) : shape === 2 ? svg("path", { d: "M2.6 1 6 4.4 9.4 1 11 2.6 7.6 6 11 9.4 9.4 11 6 7.6 2.6 11 1 9.4 4.4 6 1 2.6Z" }) : svg("circle", { cx: 6, cy: 6, r: 4.6 });
  const box = svg("svg", { viewBox: "0 0 12 12", class: "swatch", "aria-hidden": "true" }, mark);
  box.style.fill = color;
  return box;
}

function classList(desk: Desk): Node[] {
  const { coloring, state, classes } = desk, names = coloring.classes!, counts = new Map<number, number>();
  for (let i = 0; i < classes!.length; i++) counts.set(classes![i], (counts.get(classes![i]) ?? 0) + 1);
  const list = h("ul", { class: names.length > 12 ? "many" : "" });
  const add = (at: number, name: string, color: string, shape: number) => {
    const on = state.singled.has(at);
    const item = h("button", { type: "button", "aria-pressed": on ? "true" : "false", title: `${name}: ${count(counts.get(at) ?? 0)} points; click to single out` },
      swatch(color, shape), h("span", { class: "who" }, name), h("span", { class: "value" }, count(counts.get(at) ?? 0)));
    item.classList.toggle("off", state.singled.size > 0 && !on);
    item.addEventListener("click", () => toggle(desk, at, list));
    list.append(h("li", {}, item));
  };
  const order = names.map((_, at) => at);
  if (names.length > LISTED) order.sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  for (const at of order.slice(0, LISTED)) add(at, names[at], css(classColor(at, names.length, state.dark)), classShape(at, names.length));
  if (counts.has(65535)) add(65535, "missing", css(missing(state.dark)), 0);
  const out: Node[] = [list];
  if (names.length > MOST) out.push(h("p", { class: "note" }, `${count(names.length)} classes are more than the eye can distinguish: colors nearly repeat. Click a class to single it out.${names.length > LISTED ? ` The ${LISTED} largest are listed.` : ""}`));
  if (state.singled.size > 0) out.push(button("Show all", () => { state.singled.clear(); state.tell("color"); }, { class: "quiet" }));
  return out;
}

function toggle(desk: Desk, at: number, list: HTMLElement): void {
  const { singled } = desk.state, index = [...list.children].findIndex((item) => item.contains(document.activeElement));
  if (!singled.delete(at)) singled.add(at);
  desk.state.tell("color");
  const again = document.querySelector<HTMLElement>(`.legend li:nth-child(${index + 1}) button`);
  if (index >= 0) again?.focus();
}

function bar(desk: Desk): Node[] {
  const { coloring, state } = desk, [low, high] = coloring.range;
  const stops = Array.from({ length: 17 }, (_, at) => css(sequential(at / 16, state.dark)));
  const strip = h("div", { class: "colorbar", role: "img", "aria-label": `Colors from ${number(low)} to ${number(high)}` });
  strip.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  const out: Node[] = [strip, h("div", { class: "ends" }, h("span", {}, number(low)), h("span", {}, number((low + high) / 2)), h("span", {}, number(high)))];
  const note = ["Values beyond the ends have the color of the end; missing ones are grey."];
  if (coloring.perMap) note.push("Every map has its own values.");
  if (coloring.explain) out.push(h("p", { class: "note" }, coloring.explain));
  out.push(h("p", { class: "note" }, note.join(" ")));
  return out;
}
