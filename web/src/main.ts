// The page: words first, then the maps as soon as the bytes are unpacked.

import { rnxChart } from "./charts/rnx";
import { shepard } from "./charts/shepard";
import { answerInUnits, reconstruct } from "./reconstruct";
import { legend } from "./color/legend";
import { controls } from "./controls";
import { ranked, readDocument, readPage, type MapData, type Page } from "./data";
import { Desk } from "./desk";
import { openDetail } from "./detail";
import { fill, h } from "./dom";
import { figure, grouped } from "./figure";
import { footer } from "./footer";
import { header } from "./header";
import { hoverCard } from "./hover";
import { lab } from "./live/lab";
import type { Live } from "./live/server";
import type { Panel } from "./panel";
import { inspector } from "./side/inspector";
import { table } from "./table";

async function start(): Promise<void> {
  const root = document.getElementById("page")!;
  try {
    const raw = readDocument();
    fill(root, h("p", { class: "loading", role: "status" }, `Unpacking ${raw.title} …`));
    const page = await readPage(raw);
    performance.mark("unpacked");
    build(root, page, raw.live ?? null);
    performance.mark("built");
  } catch (error) {
    fill(root, h("p", { class: "broken", role: "alert" }, `This page cannot be shown: ${error instanceof Error ? error.message : error}`));
    throw error;
  }
}

function build(root: HTMLElement, page: Page, live: Live | null): void {
  const desk = new Desk(page), open = (map: MapData) => openDetail(desk, map), panels: Panel[] = [];
  const reset = () => panels.forEach((panel) => { panel.view.home(); panel.moved(); });
  const top = h("div", {}), maps = h("section", { class: "maps", "aria-label": "Maps, best first" }), chapters = h("div", {});
  let forget = () => {};
  const show = () => {
    forget();
    panels.splice(0).forEach((panel) => panel.destroy());
    forget = desk.state.during(() => {
      const figures = grouped(page.maps).map((group) => figure(desk, group, open));
      panels.push(...figures.map(({ panel }) => panel).filter((panel): panel is Panel => panel !== null));
      fill(maps, h("h2", { class: "visually-hidden" }, "Maps"), ...figures.map(({ element }) => element));
      fill(chapters, ...sections(desk, open));
    });
    fill(top, header(page));
  };
  show();
  // One more map, among the others.
  const trial = live && lab(desk, live, (map, order) => {
    page.ranking.order = order;
    page.maps = ranked([...page.maps, map].map((one) => Object.assign(one, { rank: order.indexOf(one.id) + 1 })));
    show();
  });
  fill(root, top, controls(desk, reset),
    h("main", {}, trial && trial.element, h("div", { class: "work" }, maps, h("aside", {}, legend(desk), inspector(desk))), chapters),
    footer(page, desk.painter.kind, live !== null));
  hoverCard(desk);
  keys(desk);
  hints();
  addEventListener("beforeprint", () => desk.flush(panels));
  // For tests, and for the curious.
  (window as any).eigenfold = { desk, panels, reconstruct, answerInUnits, live: trial };
}

function sections(desk: Desk, open: (map: MapData) => void): (HTMLElement | null)[] {
  const { page } = desk, section = (id: string, title: string, lede: string, ...content: (Node | null)[]) => h("section", { class: "chapter", id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), h("p", { class: "lede" }, lede), ...content);
  const curves = rnxChart(page, null, Math.max(360, Math.min(1160, root().clientWidth - 40))), pairs = page.maps.filter((map) => map.shepard);
  return [
    section("quality", "Quality", "Click a column to sort, best first. In every column the longer bar is the better one. Where less is better and there is no worst value, a bar half as long means twice as much. A dot marks a number that is neither good nor bad.", table(page, open)),
    curves && section("neighborhoods", "Neighborhoods kept", "The share of the k nearest rows in the data that are among the k nearest on the map, beyond that of a random embedding. To the left the small neighborhoods, to the right the large ones. Numbers on the curves are the ranks of the maps.", curves),
    pairs.length > 0 ? section("distances", "Distances kept", "Sampled pairs of rows: distance in the data from left to right, distance on the map upwards, darker where there are more. A thin line from the corner would mean that all distances are kept.",
      h("div", { class: "shepards" }, ...pairs.map((map) => h("figure", {}, shepard(desk, map, 148), h("figcaption", {}, map.sweep ? `${map.title}, ${map.sweep.value}` : map.title))))) : null,
  ];
}

function root(): HTMLElement {
  return document.getElementById("page")!;
}

/** Escape goes back step by step. */
function keys(desk: Desk): void {
  const { state } = desk;
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (state.probe) state.setProbe(null);
    else if (state.pinned >= 0) state.setPinned(-1);
    else if (state.selected) state.setSelected(null);
    else if (state.singled.size > 0) { state.singled.clear(); state.tell("color"); }
  });
}

/** Shows how the wheel zooms when a reader tries it. */
function hints(): void {
  let timer = 0;
  document.addEventListener("wheelhint", (event) => {
    const plot = event.target as HTMLElement;
    plot.classList.add("hinting");
    clearTimeout(timer);
    timer = window.setTimeout(() => document.querySelectorAll(".hinting").forEach((one) => one.classList.remove("hinting")), 1200);
  });
}

start();
