// The card at the pointer: the image or the name of the point that is lit.

import { valueText } from "./color/coloring";
import { nameOf } from "./data";
import type { Desk } from "./desk";
import { fill, h } from "./dom";
import { number } from "./format";
import { thumbnail } from "./side/picture";

export function hoverCard(desk: Desk): void {
  const card = h("div", { class: "hover-card", "aria-hidden": "true" }), { state, page } = desk;
  let x = 0, y = 0;
  document.body.append(card);
  document.addEventListener("pointermove", (event) => {
    [x, y] = [event.clientX, event.clientY];
    if (!card.hidden) place();
  }, { passive: true });
  const place = () => {
    const { offsetWidth: width, offsetHeight: height } = card;
    card.style.left = `${x + 18 + width > innerWidth ? x - width - 14 : x + 18}px`;
    card.style.top = `${Math.max(4, Math.min(innerHeight - height - 4, y - height / 2))}px`;
  };
  const show = () => {
    const i = state.hover;
    card.hidden = i < 0 || state.over === null;
    if (card.hidden) return;
    const { coloring } = desk, values = coloring.values(state.over);
    fill(card, thumbnail(page, i), h("div", {}, h("strong", {}, nameOf(page, i)), values && h("span", {}, `${coloring.title}: ${valueText(coloring, values[i], number)}`)));
    (document.querySelector("dialog[open]") ?? document.body).append(card);
    place();
  };
  state.on(["hover"], show);
  card.hidden = true;
}
