// One map, enlarged, with everything that is known of it.

import { curve, spectrum } from "./charts/lines";
import { rnxChart } from "./charts/rnx";
import { shepard } from "./charts/shepard";
import type { MapData } from "./data";
import type { Desk } from "./desk";
import { button, h } from "./dom";
import { fileName, mapCsv, saveText } from "./download";
import { caption, pair } from "./figure";
import { animationStrip } from "./animation";
import { megabytes, number, seconds } from "./format";
import { Panel } from "./panel";
import { savePanel } from "./portrait";
import { inspector } from "./side/inspector";
import { explain } from "./tooltip";

export function openDetail(desk: Desk, map: MapData): void {
  const dialog = h("dialog", { class: "detail", "aria-label": map.title });
  let panel: Panel | null = null;
  const deaf = desk.state.during(() => { panel = build(desk, map, dialog); });
  dialog.addEventListener("close", () => {
    deaf();
    panel?.destroy();
    dialog.remove();
    document.body.classList.remove("covered");
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  document.body.classList.add("covered");
  dialog.showModal();
}

function build(desk: Desk, map: MapData, dialog: HTMLDialogElement): Panel | null {
  const panel = map.map ? new Panel(desk, map, true) : null;
  const close = button("×", () => dialog.close(), { class: "close", "aria-label": "Close", title: "Close (Escape)" });
  const title = map.sweep ? `${map.title}, ${map.sweep.parameter} ${map.sweep.value}` : map.title;
  dialog.append(h("div", { class: "detail-head" }, h("h2", {}, map.rank > 0 && h("span", { class: "rank" }, String(map.rank)), title), close));
  const stage = h("div", { class: "stage" });
  if (panel) {
    stage.append(panel.element);
    if (map.animation) stage.append(animationStrip(panel, map.animation), h("p", { class: "note" }, "The maps that the optimization passed. Every frame is scaled to fit; between frames points move in straight lines."));
    if (map.dims > 3) stage.append(pair(panel));
    stage.append(h("p", { class: "actions" }, button("Save PNG", () => savePanel(panel)), button("Save CSV", () => saveText(`${fileName(map.id)}.csv`, mapCsv(desk.page, map), "text/csv")), button("Reset view", () => { panel.view.home(); panel.moved(); })));
  } else stage.append(h("div", { class: "plot absent large" }, h("p", {}, h("strong", {}, map.status), h("span", {}, map.reason ?? "no reason was given"))));
  stage.append(caption(map));
  dialog.append(h("div", { class: "detail-body" }, stage, h("div", { class: "known" }, panel && inspector(desk), ...sections(desk, map))));
  return panel;
}

function section(title: string, ...content: (Node | null | undefined | false)[]): HTMLElement | null {
  return content.some(Boolean) ? h("section", {}, h("h3", {}, title), ...content) : null;
}

function sections(desk: Desk, map: MapData): (HTMLElement | null)[] {
  return [
    section("Warnings", map.warnings.length > 0 && h("ul", { class: "warnings" }, ...map.warnings.map((text) => h("li", {}, text)))),
    section("Quality", quality(desk, map)),
    section("Facts", facts(map)),
    section("Spectrum", spectrum(map)),
    section("Optimization", curve(map)),
    section("Neighborhoods kept", rnxChart(desk.page, map, 420)),
    section("Distances kept", map.shepard && h("figure", { class: "shepard-figure" }, shepard(desk, map, 220), h("figcaption", {}, "Sampled pairs: distance in the data from left to right, on the map upwards. A line through the corner would keep them all."))),
    section("Parameters", parameters(map)),
  ];
}

function quality(desk: Desk, map: MapData): HTMLElement | null {
  const list = h("dl", { class: "facts" });
  for (const measure of desk.page.measures) {
    const entry = map.quality[measure.key];
    if (entry?.value == null) continue;
    list.append(h("dt", {}, explain(h("span", { tabindex: 0, class: "explained" }, measure.title), measure.explain)),
      h("dd", {}, number(entry.value, 4), entry.error !== null && entry.error !== undefined && h("small", {}, ` ± ${number(entry.error, 2)}`)));
  }
  return list.childElementCount > 0 ? list : null;
}

function facts(map: MapData): HTMLElement {
  const list = h("dl", { class: "facts" }), add = (name: string, value: string, words: string | null = null) =>
    list.append(h("dt", {}, words ? explain(h("span", { tabindex: 0, class: "explained" }, name), words) : name), h("dd", {}, value));
  for (const fact of map.facts) add(fact.name, fact.value, fact.explain);
  if (map.converged !== null) add("converged", map.converged ? "yes" : "no");
  if (map.map) add("coordinates", String(map.dims));
  if (map.seconds !== null) add("time", seconds(map.seconds));
  if (map.memory_mb !== null) add("memory", megabytes(map.memory_mb));
  add("method", map.method);
  add("status", map.reason ? `${map.status}: ${map.reason}` : map.status);
  return list;
}

function parameters(map: MapData): HTMLElement | null {
  if (map.parameters.length === 0) return null;
  const rows = map.parameters.map(({ name, requested, used }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: requested === null ? "muted" : "" }, requested ?? "default"), h("td", {}, used)));
  return h("table", { class: "parameters" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "name"), h("th", { scope: "col" }, "requested"), h("th", { scope: "col" }, "used"))), h("tbody", {}, ...rows));
}
