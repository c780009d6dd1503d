// What all parts of the page share: the data, the state, the painter, the colors in use, and the turn in which panels are drawn.

import { type Coloring, colorings, paint } from "./color/coloring";
import type { MapData, Page } from "./data";
import { makePainter, type Painter } from "./draw/painter";
import { State } from "./state";

/** A part of the page that draws in its turn. */
export interface Drawn { visible: boolean; draw(): void; drawMarks(): void }

/** What a turn may take before the page answers the reader again, in milliseconds. */
const TURN = 20;

export class Desk {
  readonly state: State;
  readonly painter: Painter;
  readonly colorings: Coloring[];
  litVersion = 0;
  /** How many pictures were painted; tests wait for it. */
  painted = 0;
  private colors = new Map<MapData | null, Uint8Array>();
  private colorsKey = "";
  private full = new Set<Drawn>();
  private marks = new Set<Drawn>();
  private requested = false;

  constructor(readonly page: Page) {
    this.state = new State(page);
    this.painter = makePainter(page.n, () => this.state.tell("theme"));
    this.colorings = colorings(page);
    this.state.coloring = this.colorings[0].key;
    this.state.on(["select", "color"], () => this.light());
  }

  get coloring(): Coloring {
    return this.colorings.find((coloring) => coloring.key === this.state.coloring) ?? this.colorings[0];
  }

  /** The class of every point, where points are colored by classes. */
  get classes(): ArrayLike<number> | null {
    return this.coloring.classes ? this.coloring.values(null) : null;
  }

  private light(): void {
    this.state.light(this.classes);
    this.litVersion++;
  }

  colorsOf(map: MapData): Uint8Array {
    const { coloring, state } = this, key = `${coloring.key} ${state.dark}`;
    if (key !== this.colorsKey) {
      this.colorsKey = key;
      this.colors.clear();
    }
    const of = coloring.perMap ? map : null;
    let colors = this.colors.get(of);
    if (!colors) this.colors.set(of, (colors = paint(coloring, of, this.page.n, state.dark)));
    return colors;
  }

  /** Asks for a new picture, or for new marks on the one there is. */
  ask(drawn: Drawn, what: "all" | "marks"): void {
    (what === "all" ? this.full : this.marks).add(drawn);
    if (this.requested) return;
    this.requested = true;
    requestAnimationFrame(() => this.turn());
  }

  private turn(): void {
    this.requested = false;
    const began = performance.now();
    for (const drawn of this.marks) if (drawn.visible) drawn.drawMarks();
    this.marks.clear();
    for (const drawn of [...this.full]) {
      if (!drawn.visible) continue;
      this.full.delete(drawn);
      drawn.draw();
      drawn.drawMarks();
      this.painted++;
      if (performance.now() - began > TURN) break;
    }
    if ([...this.full].some((drawn) => drawn.visible)) this.again();
  }

  private again(): void {
    this.requested = true;
    requestAnimationFrame(() => this.turn());
  }

  /** Draws at once, as for print. */
  flush(everyone: Iterable<Drawn>): void {
    for (const drawn of everyone) {
      drawn.draw();
      drawn.drawMarks();
      this.full.delete(drawn);
    }
  }
}
