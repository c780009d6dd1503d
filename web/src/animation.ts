// The animation of an optimization, frame by frame, with a slider.

import type { Animation } from "./data";
import { h } from "./dom";
import type { Panel } from "./panel";
import { stillPreferred } from "./theme";

/** Frames per second. */
const SPEED = 8;

export function animationStrip(panel: Panel, animation: Animation): HTMLElement {
  const last = animation.count, n2 = animation.frames.length / animation.count, frames = new Map<number, Float32Array>();
  const play = h("button", { type: "button", class: "icon play", "aria-label": "Play the optimization" }, "▶");
  const slider = h("input", { type: "range", min: 0, max: last, step: 1, value: last, "aria-label": `Frames of the optimization of ${panel.map.title}` });
  const label = h("output", {}, "the map");
  let running = 0;

  /** A frame in its square; the frame after the last is the map itself. */
  const frame = (at: number): Float32Array => {
    let points = frames.get(at);
    if (!points) {
      if (at >= last) panel.cloud.place(panel.map.map!, panel.map.dims);
      else panel.cloud.place(animation.frames.subarray(at * n2, (at + 1) * n2), 2);
      frames.set(at, (points = panel.cloud.points.slice()));
      if (frames.size > 12) frames.delete(frames.keys().next().value!);
    }
    return points;
  };
  const show = (at: number) => {
    const whole = Math.floor(at), part = at - whole;
    const text = whole >= last ? "the map" : animation.labels[whole] ?? `frame ${whole + 1}`;
    panel.cloud.isMap = whole >= last;
    if (panel.cloud.isMap) panel.cloud.place(panel.map.map!, panel.map.dims);
    else panel.cloud.between(frame(whole), frame(Math.min(last, whole + 1)), part);
    slider.setAttribute("aria-valuetext", text);
    label.textContent = text;
    panel.follow();
  };
  const stop = () => {
    cancelAnimationFrame(running);
    running = 0;
    play.textContent = "▶";
    play.setAttribute("aria-label", "Play the optimization");
  };
  const start = () => {
    const from = slider.valueAsNumber >= last ? 0 : slider.valueAsNumber, began = performance.now(), still = stillPreferred();
    play.textContent = "❚❚";
    play.setAttribute("aria-label", "Pause the optimization");
    const step = (now: number) => {
      if (!label.isConnected) return;
      const at = Math.min(last, from + ((now - began) / 1000) * SPEED);
      slider.value = String(Math.floor(at));
      show(still ? Math.floor(at) : at);
      if (at >= last) stop();
      else running = requestAnimationFrame(step);
    };
    running = requestAnimationFrame(step);
  };
  play.addEventListener("click", () => (running ? stop() : start()));
  slider.addEventListener("input", () => {
    stop();
    show(slider.valueAsNumber);
  });
  return h("div", { class: "animation", title: "Every frame is scaled to fit; between frames points move in straight lines" }, play, slider, label);
}
