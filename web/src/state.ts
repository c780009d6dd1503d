// The state of the page, which all maps share, and the listeners to its changes.

import type { MapData, Page } from "./data";

/** A point of one map where the inverse transform is shown. */
export interface Probe { map: MapData; place: number[] }

export type Topic = "color" | "hover" | "pin" | "select" | "probe" | "shade" | "theme" | "lasso" | "best";

export class State {
  hover = -1;
  /** The map that the pointer is over. */
  over: MapData | null = null;
  pinned = -1;
  probe: Probe | null = null;
  selected: Uint8Array | null = null;
  selectedCount = 0;
  /** Classes that were singled out in the legend; none means all. */
  singled = new Set<number>();
  /** Which points are lit: 0 as usual, 1 lit, 2 dim. */
  readonly lit: Uint8Array;
  anyDim = false;
  coloring = "";
  shaded = true;
  lasso = false;
  dark = false;

  private within: (() => void)[] | null = null;
  private readonly listeners = new Map<Topic, Set<() => void>>();

  constructor(readonly page: Page) {
    this.lit = new Uint8Array(page.n);
  }

  /** Hears of a topic until the answer is called. */
  on(topics: Topic[], listener: () => void): () => void {
    for (const topic of topics) {
      if (!this.listeners.has(topic)) this.listeners.set(topic, new Set());
      this.listeners.get(topic)!.add(listener);
    }
    const off = () => topics.forEach((topic) => this.listeners.get(topic)?.delete(listener));
    this.within?.push(off);
    return off;
  }

  /** Listeners added during `act` are removed by the returned function: for temporary elements. */
  during(act: () => void): () => void {
    const offs: (() => void)[] = (this.within = []);
    act();
    this.within = null;
    return () => offs.forEach((off) => off());
  }

  tell(topic: Topic): void {
    this.listeners.get(topic)?.forEach((listener) => listener());
  }

  setHover(row: number, over: MapData | null): void {
    if (row === this.hover && over === this.over) return;
    this.hover = row;
    this.over = over;
    this.tell("hover");
  }

  setPinned(row: number): void {
    this.probe = null;
    this.pinned = row;
    this.tell("pin");
    this.tell("probe");
  }

  setProbe(probe: Probe | null): void {
    const pinned = this.pinned;
    this.probe = probe;
    if (probe) this.pinned = -1;
    if (pinned !== this.pinned) this.tell("pin");
    this.tell("probe");
  }

  setSelected(rows: Uint8Array | null): void {
    this.selectedCount = rows ? rows.reduce((sum, bit) => sum + bit, 0) : 0;
    this.selected = this.selectedCount > 0 ? rows : null;
    this.tell("select");
  }

  /** Works out which points are lit, from the selection and the classes that were singled out. */
  light(classes: ArrayLike<number> | null): void {
    const { lit, selected, singled } = this;
    this.anyDim = selected !== null || (singled.size > 0 && classes !== null);
    if (!this.anyDim) {
      lit.fill(0);
      return;
    }
    for (let i = 0; i < lit.length; i++) {
      const inClass = singled.size === 0 || classes === null || singled.has(classes[i]);
      lit[i] = inClass && (selected === null || selected[i] === 1) ? 1 : 2;
    }
  }
}
