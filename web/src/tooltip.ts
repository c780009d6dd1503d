// Small words beside what they explain: on hover and on focus, gone with Escape.

import { freshId, h } from "./dom";

let box: HTMLElement | null = null;

function show(element: HTMLElement, text: string): void {
  hide();
  const id = freshId("tip");
  box = h("div", { class: "tip", role: "tooltip", id }, text);
  (element.closest("dialog") ?? document.body).append(box);
  element.setAttribute("aria-describedby", id);
  const at = element.getBoundingClientRect(), own = box.getBoundingClientRect();
  const left = Math.min(innerWidth - own.width - 8, Math.max(8, at.left + at.width / 2 - own.width / 2));
  const above = at.top - own.height - 8;
  box.style.left = `${left}px`;
  box.style.top = `${above > 4 ? above : at.bottom + 8}px`;
}

function hide(): void {
  box?.remove();
  box = null;
}

/** Explains an element that can be reached by keys. */
export function explain<T extends HTMLElement>(element: T, text: string | null): T {
  if (!text) return element;
  element.addEventListener("pointerenter", () => show(element, text));
  element.addEventListener("pointerleave", hide);
  element.addEventListener("focus", () => show(element, text));
  element.addEventListener("blur", hide);
  element.addEventListener("keydown", (event) => { if (event.key === "Escape" && box) { event.stopPropagation(); hide(); } });
  return element;
}
