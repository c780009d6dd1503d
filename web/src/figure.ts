// A map with its name, its rank, its sliders, its caption; or the reason why there is none.

import { nearest } from "./reconstruct";
import type { MapData } from "./data";
import type { Desk } from "./desk";
import { button, fill, freshId, h } from "./dom";
import { fileName, mapCsv, saveText } from "./download";
import { animationStrip } from "./animation";
import { number, plural } from "./format";
import { Panel } from "./panel";
import { savePanel } from "./portrait";

/** Maps that share a method and differ in a swept parameter are one figure. */
export function grouped(maps: MapData[]): MapData[][] {
  const groups: MapData[][] = [], sweeps = new Map<string, MapData[]>();
  for (const map of maps) {
    const key = `${map.method} ${map.sweep?.parameter}`, group = map.sweep && sweeps.get(key);
    if (group) group.push(map);
    else {
      const fresh = [map];
      groups.push(fresh);
      if (map.sweep) sweeps.set(key, fresh);
    }
  }
  return groups;
}

export function figure(desk: Desk, group: MapData[], open: (map: MapData) => void): { element: HTMLElement; panel: Panel | null } {
  const best = group[0], id = freshId("map"), element = h("figure", { class: "map", "aria-labelledby": id, "data-map": best.id });
  const drawn = group.filter((map) => map.map);
  if (drawn.length === 0) {
    element.classList.add("none");
    element.append(h("div", { class: "head-box" }, head(best, id, open)), h("div", { class: "plot absent" }, h("p", {}, h("strong", {}, best.status), h("span", {}, best.reason ?? "no reason was given"))), caption(best));
    return { element, panel: null };
  }
  const panel = new Panel(desk, drawn[0]);
  const top = h("div", { class: "head-box" }), bottom = h("div", { class: "below" }), show = () => {
    fill(top, head(panel.map, id, open));
    fill(bottom, ...below(desk, panel, drawn, group, show));
    element.dataset.map = panel.map.id;
  };
  show();
  element.append(top, h("div", { class: "plot-box" }, panel.element, kept(desk, panel)), bottom);
  return { element, panel };
}

function head(map: MapData, id: string, open: (map: MapData) => void): HTMLElement {
  const title = h("h3", { id }, button(map.title, () => open(map), { class: "title", title: "Enlarge this map and show all its measures" }));
  return h("div", { class: "head" }, map.rank > 0 && h("span", { class: "rank", "aria-label": `rank ${map.rank}` }, String(map.rank)), title);
}

/** The first two measures that the table has and the map too, in one line. */
function mainMeasures(desk: Desk, map: MapData): HTMLElement | null {
  const held = desk.page.measures.filter((measure) => measure.better !== "none" && map.quality[measure.key]?.value != null).slice(0, 2);
  return held.length > 0 ? h("p", { class: "main-measures" }, ...held.map((measure) => h("span", {}, `${measure.title} ${number(map.quality[measure.key].value)}`))) : null;
}

function below(desk: Desk, panel: Panel, drawn: MapData[], group: MapData[], again: () => void): Node[] {
  const { map } = panel, out: Node[] = [];
  if (group.length > 1) out.push(sweep(panel, drawn, group, again));
  if (map.animation) out.push(animationStrip(panel, map.animation));
  if (map.dims > 3) out.push(pair(panel));
  const measures = mainMeasures(desk, map);
  if (measures) out.push(measures);
  out.push(caption(map));
  const { outside } = panel.cloud;
  if (outside > 0) out.push(h("p", { class: "note" }, `${plural(outside, "point")} far out ${outside === 1 ? "is" : "are"} not in the frame; zoom out to see ${outside === 1 ? "it" : "them"}.`));
  out.push(h("p", { class: "actions" },
    button("PNG", () => savePanel(panel), { "aria-label": `Save ${map.title} as PNG` }),
    button("CSV", () => saveText(`${fileName(map.id)}.csv`, mapCsv(desk.page, map), "text/csv"), { "aria-label": `Save the coordinates of ${map.title} as CSV` }),
    button("reset view", () => { panel.view.home(); panel.moved(); })));
  return out;
}

export function caption(map: MapData): HTMLElement {
  const out = h("div", { class: "caption" });
  if (map.good_for) out.append(h("p", {}, goodFor(map.good_for)));
  if (map.caution) out.append(h("p", { class: "caution" }, h("span", { class: "visually-hidden" }, "Caution: "), map.caution));
  if (map.map && map.dims === 1) out.append(h("p", { class: "note" }, "One coordinate, from left to right; the height is scattered at random and means nothing."));
  if (map.map && map.dims === 3) out.append(h("p", { class: "note" }, "Three coordinates; drag to turn."));
  if (map.status === "stopped") out.append(h("p", { class: "warn" }, `Stopped before its end${map.reason ? `: ${map.reason}` : ""}.`));
  else if (map.converged === false) out.append(h("p", { class: "warn" }, "Not converged."));
  return out;
}

/** A sentence, also of words that only name what a map is good for. */
function goodFor(text: string): string {
  const whole = /^\p{Ll}/u.test(text) && !/^good for/i.test(text) ? `Good for ${text}` : text;
  return /[.!?…>]$/.test(whole) ? whole : `${whole}.`;
}

function sweep(panel: Panel, drawn: MapData[], group: MapData[], again: () => void): HTMLElement {
  const value = (map: MapData) => map.sweep!.value;
  const order = [...drawn].sort((a, b) => Number(value(a)) - Number(value(b)) || String(value(a)).localeCompare(String(value(b))));
  const slider = h("input", { type: "range", min: 0, max: order.length - 1, step: 1, "aria-label": `${panel.map.sweep!.parameter} of ${panel.map.title}` });
  const label = h("output", {}, `${panel.map.sweep!.parameter} ${value(panel.map)}`);
  slider.value = String(order.indexOf(panel.map));
  slider.setAttribute("aria-valuetext", label.textContent!);
  slider.addEventListener("input", () => {
    const held = document.activeElement === slider;
    panel.change(order[slider.valueAsNumber]);
    again();
    if (held) panel.element.closest(".map")?.querySelector<HTMLElement>(".sweep input")?.focus();
  });
  const lost = group.length - drawn.length;
  return h("div", { class: "sweep", title: lost > 0 ? `${lost} of ${group.length} have no map` : "" }, slider, label);
}

/** Which two of many coordinates are drawn. */
export function pair(panel: Panel): HTMLElement {
  const box = h("p", { class: "pair" }, "coordinates "), { map } = panel;
  ([0, 1] as const).forEach((axis) => {
    const select = h("select", { "aria-label": axis === 0 ? "Coordinate from left to right" : "Coordinate upwards" });
    for (let c = 0; c < map.dims; c++) select.append(h("option", { value: c, selected: c === panel.cloud.axes[axis] }, String(c + 1)));
    select.addEventListener("change", () => {
      const axes: [number, number] = [...panel.cloud.axes];
      axes[axis] = Number(select.value);
      panel.cloud.choose(axes);
      panel.moved();
    });
    box.append(select, axis === 0 ? " and " : ` of ${map.dims}`);
  });
  return box;
}

/** How many of the pinned point's true neighbors are among as many nearest on this map. */
function kept(desk: Desk, panel: Panel): HTMLElement {
  const box = h("p", { class: "kept", "aria-live": "off" }), { state, page } = desk;
  const show = () => {
    box.hidden = state.pinned < 0 || !page.neighbors;
    if (box.hidden) return;
    const { ids, k } = page.neighbors!, { map } = panel, i = state.pinned;
    const here = nearest(map.map!, map.dims, map.map!.subarray(i * map.dims, (i + 1) * map.dims), k, i), true_ = new Set(ids.subarray(i * k, (i + 1) * k));
    box.textContent = `${here.filter(({ row }) => true_.has(row)).length} of its ${k} neighbors kept`;
  };
  state.on(["pin"], show);
  show();
  return box;
}
