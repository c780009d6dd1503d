// How to read the page, for those who see such maps for the first time.

import type { Page } from "./data";
import { h } from "./dom";

export function footer(page: Page, drawnBy: "webgl" | "canvas", live: boolean): HTMLElement {
  const p = (title: string, text: string) => h("div", {}, h("h3", {}, title), h("p", {}, text));
  return h("footer", {}, h("h2", {}, "How to read this"), h("div", { class: "columns" },
    p("Every dot is a row", "Dots that are near each other stand for rows that the method holds alike. Each map bends the data in its own way, so the sentence under a map says what may not be read off it. What several maps show alike is more likely to be in the data."),
    p("No axes", "The coordinates have no unit that would be worth a number. Both directions of a map have one scale; maps are turned and mirrored to look alike. Points are drawn in an order at random, so that no class hides another."),
    p("Scores", "Scores compare a map with the data, row by row or pair by pair; none of them looks at labels unless it says so. An error after ± is one standard error. A high score says that neighbors or distances are kept, not that a cluster is real."),
    p("The grey ground", "Where a map has a way back to the data, grey says how unsure it is there. A click shows the data row that would be at that place, with its deviation: 68 of 100 rows would be no further off."),
    p("Neighbors", "A click on a point draws lines to its nearest rows in the data. Where the lines are long, the map has torn a neighborhood apart; the count in the corner says how many it kept.")),
  h("p", { class: "made" }, `Made by ${page.made_by}. ${live ? "It is served by the program on this machine, and asks no other network for anything." : "This file is complete in itself and asks no network for anything."}${drawnBy === "canvas" ? " WebGL is not available here, so points are drawn by a slower way." : ""}`));
}
