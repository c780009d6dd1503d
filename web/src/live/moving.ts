// The map that is being made: a panel whose points move from where they were to where they are now.

import { fromBase64, type MapData, type Numbers } from "../data";
import type { Desk } from "../desk";
import { fill, h } from "../dom";
import { Panel } from "../panel";
import { stillPreferred } from "../theme";
import type { Answer, Method } from "./server";

/** How long points take from one map to the next, in milliseconds. */
const WAY = 110;

export class Moving {
  readonly element = h("div", { class: "moving" }, h("div", { class: "plot absent" }, h("p", {}, h("span", {}, "Run a method to see its map here."))));
  panel: Panel | null = null;
  private way = 0;

  constructor(private readonly desk: Desk) {}

  /** The map as it is now, with all that is known of it. */
  get map(): MapData | null {
    return this.panel?.map ?? null;
  }

  show(answer: Answer, method: Method | undefined): void {
    if (!answer.map) return;
    const { dims, type } = answer.map, bytes = fromBase64(answer.map.values);
    const values: Numbers = type === "f64" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
    const map = bare(answer, method, dims, values);
    if (!this.panel || this.panel.map.dims !== dims) this.replace(map);
    else this.go(map, values, dims);
  }

  private replace(map: MapData): void {
    cancelAnimationFrame(this.way);
    this.panel?.destroy();
    this.panel = new Panel(this.desk, map);
    fill(this.element, this.panel.element);
  }

  /** Straight lines from map to map, in the square that each fits. */
  private go(map: MapData, values: Numbers, dims: number): void {
    const panel = this.panel!, { cloud } = panel, from = cloud.points.slice();
    cancelAnimationFrame(this.way);
    panel.map = map;
    panel.element.setAttribute("aria-label", `Map by ${map.title}, as it is now.`);
    cloud.place(values, dims);
    if (stillPreferred() || from.length !== cloud.points.length) return panel.follow();
    const to = cloud.points.slice(), began = performance.now();
    const step = (now: number) => {
      const t = Math.min(1, Math.max(0, (now - began) / WAY));
      cloud.between(from, to, t);
      panel.follow();
      if (t < 1) this.way = requestAnimationFrame(step);
    };
    step(began);
  }
}

/** A map with coordinates only. */
function bare(answer: Answer, method: Method | undefined, dims: number, map: Numbers): MapData {
  return {
    id: answer.name, method: method?.name ?? answer.name, title: method?.title ?? answer.name, sweep: null,
    status: answer.status === "stopped" ? "stopped" : "done", reason: answer.reason, good_for: "", caution: "",
    seconds: answer.seconds, memory_mb: null, converged: answer.converged, parameters: [], facts: [], warnings: answer.warnings ?? [],
    dims, map, quality: {}, pointwise: {}, spectrum: null, curve: null, rnx: null, shepard: null, inverse_transform: null, shade: null, animation: null, rank: 0,
  };
}
