// One map on the page: its points, the marks on them, and what pointer and keys do there.

import type { Desk, Drawn } from "./desk";
import type { MapData } from "./data";
import { h, sharp } from "./dom";
import { Cloud } from "./draw/cloud";
import { drawMarks, type Cross } from "./draw/marks";
import { drawShade } from "./draw/shade";
import { Picker } from "./draw/pick";
import { View } from "./draw/view";
import { Hands } from "./hands";

/** How far from a point the pointer still finds it, in pixels. */
export const REACH = 11;

/** The pointer rests after this many milliseconds without a move. */
const RESTED = 160;

const seen = new Map<Element, Panel>();
const watcher = typeof IntersectionObserver === "undefined" ? null : new IntersectionObserver((entries) => {
  for (const entry of entries) seen.get(entry.target)?.show(entry.isIntersecting);
}, { rootMargin: "300px" });
const sizes = typeof ResizeObserver === "undefined" ? null : new ResizeObserver((entries) => {
  for (const entry of entries) seen.get(entry.target)?.resize();
});

export class Panel implements Drawn {
  readonly element: HTMLElement;
  readonly view = new View();
  readonly picker = new Picker();
  cloud: Cloud;
  visible = watcher === null;
  /** The line that is being drawn around points. */
  line: [number, number][] | null = null;
  cross: Cross | null = null;
  private moving = false;
  private rest = 0;
  private readonly points = h("canvas", { class: "points", "aria-hidden": "true" });
  private readonly marks = h("canvas", { class: "marks", "aria-hidden": "true" });
  private readonly off: (() => void)[] = [];
  private readonly hands: Hands;

  constructor(readonly desk: Desk, public map: MapData, readonly large = false) {
    this.cloud = new Cloud(map);
    this.element = h("div", { class: `plot${large ? " large" : ""}`, tabindex: 0, role: "application", "aria-label": this.words() }, this.points, this.marks);
    this.hands = new Hands(this);
    const { state } = desk;
    this.off.push(
      state.on(["color", "select", "theme", "shade"], () => desk.ask(this, "all")),
      state.on(["hover", "pin", "probe", "lasso"], () => desk.ask(this, "marks")),
    );
    seen.set(this.element, this);
    watcher?.observe(this.element);
    sizes?.observe(this.element);
  }

  private words(): string {
    return `Map by ${this.map.title}. Arrow keys move a cross, Enter looks at the point or the background there, S selects the points around it, `
      + "left and right bracket change how far around, plus and minus zoom, 0 resets, Escape clears.";
  }

  /** Shows another map in the same place. */
  change(map: MapData): void {
    this.desk.painter.forget(this.cloud);
    this.map = map;
    this.cloud = new Cloud(map);
    this.view.home();
    this.element.setAttribute("aria-label", this.words());
    this.desk.ask(this, "all");
  }

  show(visible: boolean): void {
    this.visible = visible;
    if (visible) this.desk.ask(this, "all");
  }

  resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || (clientWidth === this.view.width && clientHeight === this.view.height)) return;
    this.view.resize(clientWidth, clientHeight);
    this.desk.ask(this, "all");
  }

  /** Follows a hand: of many points a sample is drawn at once, and all of them when the hand rests. */
  follow(): void {
    if (this.desk.page.n > this.desk.painter.nimble) {
      this.moving = true;
      clearTimeout(this.rest);
      this.rest = window.setTimeout(() => {
        this.moving = false;
        this.moved();
      }, RESTED);
    }
    this.moved();
  }

  moved(): void {
    this.view.smallest = Math.min(0.5, 0.9 / this.cloud.reach);
    this.desk.ask(this, "all");
  }

  draw(): void {
    const { view } = this;
    if (view.width <= 1) this.view.resize(this.element.clientWidth, this.element.clientHeight);
    const context = sharp(this.points, view.width, view.height);
    this.paint(context, window.devicePixelRatio || 1);
  }

  /** Draws shade and points; at any size, for files too. */
  paint(context: CanvasRenderingContext2D, ratio: number): void {
    const { desk, view, cloud } = this;
    if (desk.state.shaded && this.map.shade) drawShade(context, this.map.shade, cloud, view, desk.state.dark);
    desk.painter.paint(context, {
      cloud, view, colors: desk.colorsOf(this.map), lit: desk.state.lit, litVersion: desk.litVersion, anyDim: desk.state.anyDim,
      ratio, dark: desk.state.dark, count: this.moving ? desk.painter.nimble : desk.page.n,
    });
  }

  drawMarks(): void {
    const { state } = this.desk, any = state.hover >= 0 || state.pinned >= 0 || state.probe?.map === this.map || this.line || this.cross;
    // Hidden, not only cleared: some browsers show the last frame again after a frame with nothing but a clearing in it.
    this.marks.style.visibility = any ? "visible" : "hidden";
    if (any) drawMarks(sharp(this.marks, this.view.width, this.view.height), this);
  }

  /** The row at a position of the panel, if one is near; dim rows are not found. */
  pick(px: number, py: number, reach = REACH): number {
    const [x, y] = this.view.fromScreen(px, py), { lit, anyDim } = this.desk.state;
    return this.picker.of(this.cloud, this.view).nearest(x, y, reach / this.view.scale, (i) => !anyDim || lit[i] === 1);
  }

  /** A point was clicked, or the background. */
  click(px: number, py: number): void {
    const row = this.pick(px, py), { state } = this.desk;
    if (row >= 0) state.setPinned(row === state.pinned ? -1 : row);
    else this.dig(px, py);
  }

  /** Reconstructs the data row at a position of the background. */
  dig(px: number, py: number): void {
    this.desk.state.setProbe({ map: this.map, place: this.cloud.unplace(...this.view.fromScreen(px, py)) });
  }

  destroy(): void {
    this.off.forEach((off) => off());
    this.hands.destroy();
    watcher?.unobserve(this.element);
    sizes?.unobserve(this.element);
    seen.delete(this.element);
    this.desk.painter.forget(this.cloud);
  }
}
