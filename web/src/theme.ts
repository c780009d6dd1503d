// Light or dark: the setting of the system, until the reader changes it.

import type { Desk } from "./desk";
import { h } from "./dom";

export function themeToggle(desk: Desk): HTMLElement {
  const { state } = desk, system = matchMedia("(prefers-color-scheme: dark)");
  const element = h("button", { type: "button", class: "icon" });
  let chosen: boolean | null = null;
  const apply = () => {
    const dark = chosen ?? system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    element.textContent = dark ? "☀" : "☾";
    element.setAttribute("aria-label", dark ? "Use light colors" : "Use dark colors");
    element.title = dark ? "Light" : "Dark";
    if (state.dark === dark) return;
    state.dark = dark;
    state.tell("theme");
  };
  element.addEventListener("click", () => {
    chosen = !(chosen ?? system.matches);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
  return element;
}

export function stillPreferred(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
