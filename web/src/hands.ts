// Pointer, wheel, fingers and keys on one panel.

import { around, inside } from "./lasso";
import type { Panel } from "./panel";

/** A drag shorter than this is a click, in pixels. */
const STILL = 4;
const STEP = 12;

type Drag = { kind: "pan" | "lasso" | "probe"; x: number; y: number; from: [number, number]; far: boolean };

export class Hands {
  private readonly fingers = new Map<number, [number, number]>();
  private drag: Drag | null = null;
  private pinch = 0;
  private before: { pinned: number; probe: any } | null = null;
  private radius = 30;
  private readonly off: (() => void)[] = [];

  constructor(private readonly panel: Panel) {
    this.hear("pointermove", (event) => this.move(event));
    this.hear("pointerdown", (event) => this.down(event));
    this.hear("pointerup", (event) => this.up(event));
    this.hear("pointercancel", (event) => this.cancel(event));
    this.hear("pointerleave", () => this.leave());
    this.hear("wheel", (event) => this.wheel(event), { passive: false });
    this.hear("dblclick", () => this.reset());
    this.hear("keydown", (event) => this.key(event));
    this.hear("blur", () => this.uncross());
  }

  private get state() {
    return this.panel.desk.state;
  }

  private hear<K extends keyof HTMLElementEventMap>(kind: K, act: (event: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions): void {
    this.panel.element.addEventListener(kind, act, options);
    this.off.push(() => this.panel.element.removeEventListener(kind, act, options));
  }

  destroy(): void {
    this.off.forEach((off) => off());
  }

  private place(event: MouseEvent): [number, number] {
    const box = this.panel.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const [x, y] = this.place(event), { panel, state } = this;
    this.fingers.set(event.pointerId, [x, y]);
    if (this.fingers.size === 2) {
      this.drag = null;
      this.pinch = this.span();
      return;
    }
    panel.cross = null;
    const kind = state.lasso || event.shiftKey ? "lasso" : this.nearProbe(x, y) ? "probe" : "pan";
    this.drag = { kind, x, y, from: [x, y], far: false };
    if (kind === "lasso") panel.line = [[x, y]];
    if (event.pointerType !== "touch" || kind !== "pan" || panel.large) panel.element.setPointerCapture(event.pointerId);
  }

  private nearProbe(x: number, y: number): boolean {
    const { probe } = this.state;
    if (!probe || probe.map !== this.panel.map) return false;
    const [px, py] = this.panel.view.toScreen(...this.panel.cloud.placeOf(probe.place));
    return Math.hypot(px - x, py - y) < 14;
  }

  private span(): number {
    const [a, b] = [...this.fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
  }

  private move(event: PointerEvent): void {
    const [x, y] = this.place(event), { panel, drag } = this;
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, [x, y]);
    if (this.fingers.size === 2) {
      const [a, b] = [...this.fingers.values()], span = this.span();
      panel.view.zoomAt((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, span / this.pinch);
      this.pinch = span;
      panel.follow();
      return;
    }
    if (!drag) {
      this.state.setHover(panel.pick(x, y), panel.map);
      return;
    }
    if (!drag.far && Math.hypot(x - drag.from[0], y - drag.from[1]) < STILL) return;
    drag.far = true;
    if (drag.kind === "lasso") {
      panel.line!.push([x, y]);
      panel.desk.ask(panel, "marks");
    } else if (drag.kind === "probe") {
      panel.dig(x, y);
    } else {
      if (panel.cloud.stride === 3) panel.view.rotate(x - drag.x, y - drag.y);
      else panel.view.pan(x - drag.x, y - drag.y);
      panel.element.classList.add("dragging");
      panel.follow();
    }
    drag.x = x;
    drag.y = y;
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    const { drag, panel } = this;
    this.drag = null;
    panel.element.classList.remove("dragging");
    if (!drag) return;
    if (drag.kind === "lasso" && drag.far) this.select(inside(panel.line!, (i) => panel.view.of(panel.cloud, i), panel.desk.page.n), event.ctrlKey || event.metaKey);
    else if (!drag.far) {
      this.before ??= { pinned: this.state.pinned, probe: this.state.probe };
      setTimeout(() => { this.before = null; }, 600);
      panel.click(...this.place(event));
    }
    panel.line = null;
    panel.desk.ask(panel, "marks");
  }

  private cancel(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.drag = null;
    this.panel.line = null;
    this.panel.element.classList.remove("dragging");
  }

  /** Selects rows, or adds them to those that are. */
  private select(rows: Uint8Array, more: boolean): void {
    const held = this.state.selected;
    if (more && held) held.forEach((bit, i) => { rows[i] |= bit; });
    this.state.setSelected(rows);
  }

  private leave(): void {
    if (!this.drag) this.state.setHover(-1, null);
  }

  /** The wheel zooms where the reader has clicked, or with control; elsewhere it scrolls the page, as it should. */
  private wheel(event: WheelEvent): void {
    const { panel } = this, held = panel.large || event.ctrlKey || event.metaKey || document.activeElement === panel.element;
    if (!held) {
      panel.element.dispatchEvent(new CustomEvent("wheelhint", { bubbles: true }));
      return;
    }
    event.preventDefault();
    const amount = event.deltaMode === 1 ? event.deltaY * 24 : event.deltaY;
    panel.view.zoomAt(...this.place(event), Math.exp(-amount * (event.ctrlKey ? 0.01 : 0.0022)));
    panel.follow();
  }

  private reset(): void {
    if (this.before) {
      this.state.setPinned(this.before.pinned);
      if (this.before.probe) this.state.setProbe(this.before.probe);
      this.before = null;
    }
    this.panel.view.home();
    this.panel.moved();
  }

  private uncross(): void {
    if (!this.panel.cross) return;
    this.panel.cross = null;
    this.panel.desk.ask(this.panel, "marks");
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { panel } = this, { view } = panel, cross = panel.cross ?? { x: view.width / 2, y: view.height / 2, radius: this.radius };
    const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    if (arrow) {
      const step = event.shiftKey ? 4 * STEP : STEP;
      cross.x = Math.min(view.width, Math.max(0, cross.x + step * arrow[0]));
      cross.y = Math.min(view.height, Math.max(0, cross.y + step * arrow[1]));
    } else if (event.key === "[" || event.key === "]") {
      this.radius = cross.radius = Math.min(300, Math.max(6, cross.radius * (event.key === "]" ? 1.25 : 0.8)));
    } else if (event.key === "s" || event.key === "S") {
      this.select(around(cross.x, cross.y, cross.radius, (i) => view.of(panel.cloud, i), panel.desk.page.n), event.shiftKey);
    } else if (event.key === "Enter" || event.key === " ") panel.click(cross.x, cross.y);
    else if (event.key === "+" || event.key === "=") view.zoomAt(cross.x, cross.y, 1.25);
    else if (event.key === "-") view.zoomAt(cross.x, cross.y, 0.8);
    else if (event.key === "0") view.home();
    else return;
    event.preventDefault();
    panel.cross = cross;
    this.state.setHover(panel.pick(cross.x, cross.y), panel.map);
    panel.follow();
  }
}
