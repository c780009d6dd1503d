// All quality measures of all maps, to be sorted; in every column the longer bar is the better one. Between two known ends a bar is the share
// of the way to the good end; where only zero is known and lower is better, it is the best value over this one.

import type { MapData, Page, Measure } from "./data";
import { button, fill, h } from "./dom";
import { fixed, megabytes, number, seconds } from "./format";
import { explain } from "./tooltip";

interface Shown { measure: Measure; value: (map: MapData) => number | null; error: (map: MapData) => number | null; text: (map: MapData) => string; low: number; high: number; best: number }

export function table(page: Page, open: (map: MapData) => void): HTMLElement {
  const columns = [...page.measures.map((measure) => shown(page, measure)), ...costs(page)];
  const body = h("tbody"), heads: HTMLTableCellElement[] = [];
  let by = -1, down = true;
  const sort = () => {
    const rows = [...page.maps];
    if (by >= 0) rows.sort((a, b) => compare(columns[by], a, b) * (down ? 1 : -1) || place(a) - place(b));
    else rows.sort((a, b) => place(a) - place(b));
    if (by < 0 && !down) rows.reverse();
    fill(body, ...rows.map((map) => line(map, columns, open)));
    heads.forEach((head, at) => head.setAttribute("aria-sort", at - 1 === by ? (down ? "descending" : "ascending") : "none"));
  };
  const head = (at: number, name: string, hint: string, words: string | null) => {
    const press = button(name, () => {
      down = by === at ? !down : true;
      by = at;
      sort();
    });
    if (hint) press.append(h("span", { class: "hint" }, hint));
    const cell = h("th", { scope: "col", class: at < 0 ? "name" : "" }, explain(press, words));
    heads.push(cell);
    return cell;
  };
  const hints = { higher: "higher is better", lower: "lower is better", none: "neither is better" };
  const row = h("tr", {}, head(-1, "Map", "by rank", page.ranking.rule), ...columns.map(({ measure }, at) => head(at, measure.title, hints[measure.better], measure.explain)));
  sort();
  const box = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Quality measures of all maps" }, h("table", { class: "measures" }, h("thead", {}, row), body));
  return box;
}

const place = (map: MapData) => map.rank || 1e6;

/** Best first; those without a value last. */
function compare({ measure, value }: Shown, a: MapData, b: MapData): number {
  const [x, y] = [value(a), value(b)];
  if (x === null || y === null) return Number(x === null) - Number(y === null);
  return measure.better === "lower" ? x - y : y - x;
}

function shown(page: Page, measure: Measure): Shown {
  const value = (map: MapData) => { const held = map.quality[measure.key]?.value; return held === undefined || Number.isNaN(held) ? null : held; };
  const all = page.maps.map(value).filter((x): x is number => x !== null);
  const most = Math.max(...all.map(Math.abs), 0), decimals = most === 0 ? 2 : Math.max(0, Math.min(4, 3 - Math.ceil(Math.log10(most))));
  const text = (map: MapData) => { const x = value(map); return x === null ? "–" : most >= 1e5 || most < 1e-2 ? number(x) : fixed(x, decimals); };
  return { measure, value, text, error: (map) => map.quality[measure.key]?.error ?? null, low: measure.low ?? Math.min(...all, 0), high: measure.high ?? Math.max(...all), best: Math.min(...all) };
}

/** Time and memory, as two more columns. */
function costs(page: Page): Shown[] {
  const cost = (title: string, text: string, value: (map: MapData) => number | null, words: (x: number | null) => string): Shown => ({
    measure: { key: title, title, explain: text, better: "lower", low: 0, high: null, pointwise: false },
    value, error: () => null, text: (map) => words(value(map)), low: 0, high: Math.max(...page.maps.map((map) => value(map) ?? 0)),
    best: Math.min(...page.maps.filter((map) => map.map).map((map) => value(map) ?? Infinity)),
  });
  const out: Shown[] = [];
  if (page.maps.some((map) => map.seconds !== null)) out.push(cost("time", "Wall-clock time of the fit on the machine that wrote this page.", (map) => map.seconds, seconds));
  if (page.maps.some((map) => map.memory_mb !== null)) out.push(cost("memory", "The most memory that the fit held at once.", (map) => map.memory_mb, megabytes));
  return out;
}

function line(map: MapData, columns: Shown[], open: (map: MapData) => void): HTMLElement {
  const title = map.sweep ? `${map.title}, ${map.sweep.parameter} ${map.sweep.value}` : map.title;
  const name = h("th", { scope: "row", class: "name" }, h("div", {}, h("span", { class: "rank" }, map.rank > 0 ? String(map.rank) : ""), button(title, () => open(map), { class: "title" })));
  if (!map.map) {
    const text = `${map.status}: ${map.reason ?? "no reason was given"}`;
    return h("tr", { class: "none", "data-map": map.id }, name, h("td", { colspan: columns.length, class: "reason" }, text));
  }
  return h("tr", { "data-map": map.id }, name, ...columns.map((column) => cell(map, column)));
}

function cell(map: MapData, column: Shown): HTMLElement {
  const value = column.value(map), error = column.error(map), out = h("td", {}, h("span", { class: "value" }, column.text(map)));
  if (value === null) return out;
  if (error !== null) out.append(h("small", {}, ` ± ${number(error, 1)}`));
  const { measure, low, high, best } = column, share = Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
  const track = h("span", { class: "track" }), mark = h("i", { class: measure.better === "none" ? "dot" : "" });
  if (measure.better === "none") mark.style.left = `${100 * share}%`;
  else if (measure.better === "lower" && measure.high === null && best > 0) mark.style.width = `${(100 * best) / value}%`;
  else mark.style.width = `${100 * (measure.better === "lower" ? 1 - share : share)}%`;
  track.append(mark);
  out.append(track);
  return out;
}
