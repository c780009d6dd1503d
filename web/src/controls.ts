// The bar over the maps: what colors them, and the modes of the pointer.

import type { Desk } from "./desk";
import { button, h } from "./dom";
import { plural } from "./format";
import { themeToggle } from "./theme";

export function controls(desk: Desk, reset: () => void): HTMLElement {
  const { state, page } = desk, bar = h("div", { class: "bar", role: "toolbar", "aria-label": "Maps" });
  bar.append(h("label", {}, h("span", {}, "Color by"), picker(desk)));
  const toggle = (label: string, title: string, on: () => boolean, flip: () => void, topic: "lasso" | "shade") => {
    const element = button(label, flip, { title, class: "toggle" }), show = () => element.setAttribute("aria-pressed", String(on()));
    state.on([topic], show);
    show();
    return element;
  };
  bar.append(toggle("Lasso", "Draw around points to select them (or hold Shift and drag)", () => state.lasso, () => {
    state.lasso = !state.lasso;
    document.body.classList.toggle("lassoing", state.lasso);
    state.tell("lasso");
  }, "lasso"));
  if (page.maps.some((map) => map.shade)) bar.append(toggle("Uncertainty", "Grey where the inverse transform is uncertain", () => state.shaded, () => {
    state.shaded = !state.shaded;
    state.tell("shade");
  }, "shade"));
  bar.append(button("Reset views", reset, { class: "quiet" }));
  bar.append(h("span", { class: "space" }), selected(desk), themeToggle(desk));
  return bar;
}

function picker(desk: Desk): HTMLSelectElement {
  const { state } = desk, select = h("select", { id: "color-by" });
  for (const group of new Set(desk.colorings.map((coloring) => coloring.group))) {
    const box = group ? h("optgroup", { label: group }) : select;
    for (const coloring of desk.colorings.filter((one) => one.group === group)) box.append(h("option", { value: coloring.key }, coloring.title));
    if (box !== select) select.append(box);
  }
  select.addEventListener("change", () => {
    state.coloring = select.value;
    state.singled.clear();
    state.tell("color");
  });
  return select;
}

function selected(desk: Desk): HTMLElement {
  const { state } = desk, text = h("span", {}), clear = button("clear", () => state.setSelected(null), { class: "quiet" });
  const box = h("span", { class: "selected", role: "status" }, text, clear), show = () => {
    box.hidden = !state.selected;
    text.textContent = state.selected ? `${plural(state.selectedCount, "point")} selected` : "";
  };
  state.on(["select"], show);
  show();
  return box;
}
