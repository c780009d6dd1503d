// The column beside the maps: the hovered or pinned point, the background that was clicked, the selected points.

import { answerInUnits, reconstruct, refusal } from "../reconstruct";
import { valueText } from "../color/coloring";
import { inUnits, nameOf } from "../data";
import type { Desk } from "../desk";
import { button, fill, h } from "../dom";
import { rowsCsv, saveText } from "../download";
import { count, number, plural } from "../format";
import { picture, pointValues, thumbnail } from "./picture";

export function inspector(desk: Desk): HTMLElement {
  const { state } = desk, element = h("section", { class: "inspector", "aria-label": "What is looked at", "aria-live": "polite" });
  const show = () => {
    const parts = content(desk);
    element.classList.toggle("idle", parts === null);
    fill(element, ...(parts ?? [help(desk)]));
  };
  // While a point is pinned or the background is probed, hovering others changes nothing here.
  state.on(["hover"], () => { if (state.pinned < 0 && !state.probe && !state.selected) show(); });
  state.on(["pin", "probe", "select", "color"], show);
  show();
  return element;
}

function content(desk: Desk): Node[] | null {
  const { state } = desk;
  if (state.probe) return probe(desk);
  if (state.pinned >= 0) return point(desk, state.pinned, true);
  if (state.selected) return selection(desk);
  if (state.hover >= 0) return point(desk, state.hover, false);
  return null;
}

function help(desk: Desk): Node {
  const { page } = desk, reconstructs = page.maps.some((map) => map.inverse_transform && map.map);
  const entry = (what: string, does: string) => [h("dt", {}, what), h("dd", {}, does)];
  return h("div", { class: "help" }, h("h2", {}, "Look closer"), h("dl", {},
    ...entry("Hover", "the point is highlighted in every map."),
    ...entry("Click a point", page.neighbors ? "lines connect it with its true neighbors in every map." : "it stays highlighted in every map."),
    ...(reconstructs ? entry("Click the background", "see the data row that the inverse transform predicts there, with its uncertainty.") : []),
    ...entry("Shift and drag", "select points in one map and see them in all maps."),
    ...entry("Click a map’s name", "enlarge it and see all its measures.")));
}

function heading(kind: string, title: string, clear: (() => void) | null): Node {
  return h("header", {}, h("p", { class: "kind" }, kind), h("h2", {}, title),
    clear && button("×", clear, { class: "close", "aria-label": "Clear", title: "Clear (Escape)" }));
}

function labels(desk: Desk, i: number): HTMLElement {
  const list = h("dl", { class: "facts" }), seen = new Set<string>();
  const add = (name: string, text: string) => { if (!seen.has(name)) list.append(h("dt", {}, name), h("dd", {}, text)); seen.add(name); };
  for (const coloring of desk.colorings.filter((one) => one.group === "Labels")) add(coloring.title, valueText(coloring, coloring.values(null)![i], number));
  const { coloring, state } = desk, values = coloring.values(state.over);
  if (values && coloring.group !== "Labels") add(coloring.perMap && state.over ? `${coloring.title} in ${state.over.title}` : coloring.title, valueText(coloring, values[i], number));
  return list;
}

function point(desk: Desk, i: number, pinned: boolean): Node[] {
  const { page, state } = desk, values = pointValues(page, i);
  const out: Node[] = [heading(pinned ? "Pinned point" : "Point", nameOf(page, i), pinned ? () => state.setPinned(-1) : null), labels(desk, i)];
  if (values) out.push(picture(page, values, nameOf(page, i)));
  else if (page.rows_note) out.push(h("p", { class: "note" }, page.rows_note));
  if (pinned && page.neighbors) out.push(...neighbors(desk, i));
  return out;
}

function neighbors(desk: Desk, i: number): Node[] {
  const { page, state } = desk, { ids, distances, k } = page.neighbors!, list = h("ol", { class: "neighbors" });
  for (let r = 0; r < k; r++) {
    const row = ids[i * k + r];
    const go = h("button", { type: "button" }, thumbnail(page, row), h("span", { class: "who" }, nameOf(page, row)), labelMark(desk, row), h("span", { class: "value" }, number(distances[i * k + r])));
    go.addEventListener("click", () => state.setPinned(row));
    go.addEventListener("pointerenter", () => state.setHover(row, null));
    go.addEventListener("focus", () => state.setHover(row, null));
    go.addEventListener("pointerleave", () => state.setHover(-1, null));
    list.append(h("li", {}, go));
  }
  return [h("h3", {}, `Its ${k} nearest in the data`), list];
}

function labelMark(desk: Desk, i: number): Node | null {
  const first = desk.colorings.find((one) => one.group === "Labels");
  return first ? h("span", { class: "label" }, valueText(first, first.values(null)![i], number)) : null;
}

function probe(desk: Desk): Node[] {
  const { page, state } = desk, { map, place } = state.probe!;
  const out: Node[] = [heading(`Background of ${map.title}`, "What would be here", () => state.setProbe(null)),
    h("p", { class: "place" }, `at (${place.map((y) => number(y, 4)).join(", ")})`)];
  const no = refusal(page, map);
  if (no) return [...out, h("p", { class: "note" }, sentence(no))];
  const answer = answerInUnits(page.columns, reconstruct(page, map, place));
  out.push(picture(page, answer, "the data at this point"));
  if (answer.far) out.push(h("p", { class: "warn" }, "Far from all points of the map; nothing near supports this."));
  const how = map.inverse_transform!.rule === "linear" ? "By the map’s own axes; the standard deviation is that of the variance which the map leaves out, the same everywhere."
    : `Predicted from the ${map.inverse_transform!.rule === "kriging" ? map.inverse_transform!.neighbors : 0} nearest points of the map. A row observed here would be within its 68 % interval with probability 68 %.`;
  out.push(h("p", { class: "note" }, how, " Drag the mark to look elsewhere."));
  return out;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function selection(desk: Desk): Node[] {
  const { page, state } = desk, rows: number[] = [];
  state.selected!.forEach((bit, i) => { if (bit) rows.push(i); });
  const out: Node[] = [heading("Selection", plural(rows.length, "point"), () => state.setSelected(null)),
    h("p", { class: "note" }, `${number((100 * rows.length) / page.n, 2)} % of the ${count(page.n)} in the page`)];
  const { coloring, classes } = desk;
  if (coloring.classes && classes) out.push(shares(coloring.title, coloring.classes, classes, rows));
  const mean = meanRow(desk, rows);
  if (mean) out.push(h("h3", {}, "Mean of the selected rows"), picture(page, mean, "mean of the selection"));
  out.push(h("p", { class: "actions" }, button("Save their indices", () => saveText("selected.csv", rowsCsv(page, rows), "text/csv"), { title: "The rows of the input, counted from 0, as CSV" })));
  return out;
}

function shares(title: string, names: string[], classes: ArrayLike<number>, rows: number[]): HTMLElement {
  const counts = new Map<number, number>();
  for (const i of rows) counts.set(classes[i], (counts.get(classes[i]) ?? 0) + 1);
  const list = h("dl", { class: "bars shares", "aria-label": `Selected points by ${title}` });
  const order = [...counts].sort((a, b) => b[1] - a[1]);
  for (const [at, many] of order.slice(0, 10)) {
    const fillBar = h("i", { class: "here wide" });
    fillBar.style.width = `${(100 * many) / order[0][1]}%`;
    list.append(h("dt", {}, names[at] ?? "missing"), h("dd", {}, h("span", { class: "track" }, fillBar), h("span", { class: "value" }, count(many))));
  }
  return order.length > 10 ? h("div", {}, list, h("p", { class: "note" }, `and ${order.length - 10} more classes`)) : list;
}

function meanRow(desk: Desk, rows: number[]): { row: number[] } | null {
  const { page } = desk, p = page.columns.length;
  if (!page.rows || rows.length === 0) return null;
  const sums = new Array<number>(p).fill(0);
  for (const i of rows) for (let j = 0; j < p; j++) sums[j] += inUnits(page.columns[j], page.rows[i * p + j]);
  return { row: sums.map((sum) => sum / rows.length) };
}
