// The head of the page: what the data are, what was run, and how the maps rank.

import type { Page } from "./data";
import { h } from "./dom";
import { count, listed, plural } from "./format";

export function header(page: Page): HTMLElement {
  const { input } = page;
  const size = input.shown < input.n ? `${count(input.n)} rows, ${count(input.shown)} of them shown` : plural(input.n, "row");
  const line = h("p", { class: "lede" }, `${size} × ${plural(input.features, "feature")}, compared by ${metricName(input.metric)}.`);
  const out = h("header", { class: "top" }, h("p", { class: "eyebrow" }, input.name === page.title ? "Methods compared" : `Methods compared on ${input.name}`), h("h1", {}, page.title), line, h("p", { class: "ranking" }, ...ranking(page)));
  if (input.notes.length > 0) out.append(h("ul", { class: "notes" }, ...input.notes.map((note) => h("li", {}, note))));
  return out;
}

function metricName(metric: string): string {
  const name = metric.replace(/^(euclidean|manhattan|chebyshev|minkowski|hellinger|hamming|jaccard|canberra)/, (first) => first.charAt(0).toUpperCase() + first.slice(1));
  return /distance|similarit|graph/i.test(name) ? name : `${name} distance`;
}

function ranking(page: Page): (Node | string)[] {
  const drawn = page.maps.filter((map) => map.map), without = page.maps.length - drawn.length;
  const title = (id: string) => {
    const map = page.maps.find((one) => one.id === id);
    return map ? (map.sweep ? `${map.title} (${map.sweep.parameter} ${map.sweep.value})` : map.title) : id;
  };
  const out: (Node | string)[] = [`${plural(drawn.length, "embedding")}${without > 0 ? ` (${without} more failed)` : ""}. `];
  const [first, ...rest] = page.ranking.order;
  if (first === undefined) return [...out, "The embeddings are not ranked."];
  out.push(`Ranked by ${page.ranking.rule.replace(/^ranked by /i, "")}. First `, h("strong", {}, title(first)));
  if (rest.length > 0) out.push(`, then ${listed(rest.slice(0, 3).map(title))}${rest.length > 3 ? `, and ${count(rest.length - 3)} more` : ""}`);
  out.push(". Look at the embeddings too: each method answers some questions and not others.");
  return out;
}
