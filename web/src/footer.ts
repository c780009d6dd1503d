// How to read the page, for readers who see such maps for the first time.

import type { Page } from "./data";
import { h } from "./dom";

export function footer(page: Page, drawnBy: "webgl" | "canvas", live: boolean): HTMLElement {
  const p = (title: string, text: string) => h("div", {}, h("h3", {}, title), h("p", {}, text));
  return h("footer", {}, h("h2", {}, "How to read this"), h("div", { class: "columns" },
    p("Every dot is a row", "Dots that are near each other stand for rows that the method treats as similar. Each map distorts the data in its own way; the sentence under a map names what cannot be read off it. Structure that several maps share is more likely to be in the data."),
    p("No axes", "The coordinates have no meaningful unit. Both directions of a map have one scale; maps are rotated and mirrored to look alike. Points are drawn in random order, so that no class hides another."),
    p("Quality", "Quality measures compare a map with the data, row by row or pair by pair; a measure uses labels only if its description mentions them. An error after ± is one standard error. A good value means that neighbors or distances are kept, not that a cluster is real."),
    p("Uncertainty shading", "Where a map has an inverse transform, the grey background shows its uncertainty. A click shows the data row that is predicted there, with its 68 % interval."),
    p("Neighbors", "A click on a point draws lines to its nearest rows in the data. Long lines mean that the map has torn a neighborhood apart; the count in the corner is the number of neighbors kept.")),
  h("p", { class: "made" }, `Made by ${page.made_by}. ${live ? "It is served by the program on this machine and uses no other network." : "This file is complete in itself and uses no network."}${drawnBy === "canvas" ? " WebGL is not available here, so points are drawn by a slower method." : ""}`));
}
