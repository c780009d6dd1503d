// Try it: run a method, see its map move, stop it, pin it beside the others, take it along.

import { type MapData, readMap, unpack } from "../data";
import type { Desk } from "../desk";
import { button, h } from "../dom";
import { fileName, mapCsv, saveText } from "../download";
import { number, seconds } from "../format";
import { Form } from "./form";
import { Moving } from "./moving";
import { type Answer, begin, type Live, pin, state, stop } from "./server";

/** The pause between two questions where a fit is, in milliseconds. */
const PAUSE = 90;

/** `add` puts a map among the others, in the order that is given. */
export function lab(desk: Desk, live: Live, add: (map: MapData, order: string[]) => void): { element: HTMLElement; moving: Moving } {
  const moving = new Moving(desk), bar = h("progress", { max: 1, value: 0, "aria-label": "How far the fit is" });
  const words = h("p", { class: "state" }), said = h("p", { class: "visually-hidden", role: "status" }), wrong = h("p", { class: "warn", role: "alert" });
  let last: Answer | null = null, version = 0, waiting = 0;

  const busy = () => last?.status === "running" || last?.status === "evaluating";
  const act = (work: () => Promise<void>) => () => { wrong.textContent = ""; work().catch(fail); };
  const fail = (error: unknown) => { wrong.textContent = error instanceof Error ? error.message : String(error); show(); };

  const runs = h("button", { type: "submit", class: "toggle run" }, "Run");
  const stops = button("Stop", act(async () => { await stop(); await look(); }), { class: "toggle" });
  const pins = button("Pin", act(async () => {
    last = last && { ...last, status: "evaluating" };
    show();
    const pinned = await pin().finally(() => look());
    add(readMap(pinned.map, await unpack(pinned.bytes), pinned.order), pinned.order);
    said.textContent = `${pinned.map.title} is among the maps.`;
  }), { class: "toggle", title: "Evaluate this map and put it among the others" });
  const saves = button("CSV", () => { const { map } = moving; if (map) saveText(`${fileName(map.id)}.csv`, mapCsv(desk.page, map), "text/csv"); }, { class: "toggle", title: "Download the coordinates", "aria-label": "Download the coordinates as CSV" });
  const form = new Form(live, h("div", { class: "buttons" }, runs, stops, pins, saves));
  form.element.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!busy()) act(async () => { await begin(form.request()); await look(); })();
  });

  /** Asks where the fit is, and again while it is going on. */
  async function look(): Promise<void> {
    clearTimeout(waiting);
    const before = last, answer = await state(version);
    last = answer;
    version = answer.version;
    moving.show(answer, live.methods.find(({ name }) => name === answer.name.split(" ")[0]));
    if (before?.status !== answer.status) said.textContent = sentence(answer);
    show();
    if (busy()) waiting = window.setTimeout(() => look().catch(fail), PAUSE);
  }

  function show(): void {
    const status = last?.status ?? "idle", running = status === "running";
    runs.disabled = busy();
    stops.disabled = !running;
    pins.disabled = status !== "done" && status !== "stopped";
    saves.disabled = running || !moving.map;
    bar.hidden = !busy();
    if (running && last!.fraction > 0) bar.value = last!.fraction;
    else bar.removeAttribute("value");
    words.textContent = last ? message(last) : "";
    words.classList.toggle("warn", status === "failed" || status === "stopped");
  }

  show();
  look().catch(fail);
  const element = h("section", { class: "lab", "aria-labelledby": "lab-title" }, h("div", {}, h("h2", { id: "lab-title" }, "Try it"), form.element), h("div", { class: "bench" }, moving.element, bar, words, wrong, said));
  return { element, moving };
}

/** All that is known of a fit, in one line. */
function message(answer: Answer): string {
  const figures = [answer.step !== null && `step ${answer.step}`, answer.objective !== null && `objective ${number(answer.objective)}`, answer.gap !== null && `gap ${number(answer.gap)}`, answer.status !== "idle" && seconds(answer.seconds)].filter(Boolean);
  const parts = [answer.status === "running" && answer.stage ? `${answer.name}: ${answer.stage}` : sentence(answer), ...figures];
  return parts.join(", ") + (answer.status === "running" && answer.note ? `. ${answer.note}` : "");
}

function sentence(answer: Answer): string {
  const { name, reason } = answer;
  switch (answer.status) {
    case "idle": return "";
    case "running": return `${name} is running`;
    case "evaluating": return `${name} is being evaluated`;
    case "done": return `${name} is done${answer.converged === false ? ", not converged" : ""}`;
    case "stopped": return `${name} was stopped where it is${reason && reason !== "stopped by you" ? ` (${reason})` : ""}`;
    case "failed": return `${name} has no map: ${reason ?? "no reason was given"}`;
    case "pinned": return `${name} is among the maps below`;
  }
}
