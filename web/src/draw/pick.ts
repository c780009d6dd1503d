// Which point is under the pointer: a grid over the square of a map, built on first use.

import type { Cloud } from "./cloud";
import type { View } from "./view";

export class Grid {
  private readonly cells: number;
  private readonly starts: Uint32Array;
  private readonly rows: Uint32Array;
  private readonly low: [number, number];
  private readonly step: number;

  /** Of flat points: x and y one after the other. */
  constructor(private readonly points: Float32Array) {
    const n = points.length / 2;
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < n; i++) {
      const x = points[2 * i], y = points[2 * i + 1];
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
    }
    // Points far out share the cells at the edge, so that the others do not share one.
    [x0, x1, y0, y1] = [Math.max(x0, -1.5), Math.min(x1, 1.5), Math.max(y0, -1.5), Math.min(y1, 1.5)];
    this.cells = Math.max(1, Math.min(1024, Math.round(Math.sqrt(n / 2))));
    this.low = [x0, y0];
    this.step = Math.max(x1 - x0, y1 - y0, 1e-9) / this.cells;
    this.starts = new Uint32Array(this.cells * this.cells + 1);
    this.rows = new Uint32Array(n);
    const cell = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      cell[i] = this.column(points[2 * i], 0) + this.cells * this.column(points[2 * i + 1], 1);
      this.starts[cell[i] + 1]++;
    }
    for (let c = 0; c < this.cells * this.cells; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice(0, -1);
    for (let i = 0; i < n; i++) this.rows[next[cell[i]]++] = i;
  }

  private column(value: number, axis: 0 | 1): number {
    return Math.max(0, Math.min(this.cells - 1, Math.floor((value - this.low[axis]) / this.step)));
  }

  /** The nearest row that may be found, within a radius; -1 if there is none. */
  nearest(x: number, y: number, radius: number, may: (row: number) => boolean = () => true): number {
    let best = -1, least = radius * radius;
    this.within(x - radius, x + radius, y - radius, y + radius, (i) => {
      const dx = this.points[2 * i] - x, dy = this.points[2 * i + 1] - y, square = dx * dx + dy * dy;
      if ((square < least || (best < 0 && square === least)) && may(i)) { least = square; best = i; }
    });
    return best;
  }

  /** Visits all rows of the cells that touch a box. */
  within(x0: number, x1: number, y0: number, y1: number, visit: (row: number) => void): void {
    const [a, b] = [this.column(x0, 0), this.column(x1, 0)], [c, d] = [this.column(y0, 1), this.column(y1, 1)];
    for (let row = c; row <= d; row++) {
      for (let k = this.starts[row * this.cells + a]; k < this.starts[row * this.cells + b + 1]; k++) visit(this.rows[k]);
    }
  }
}

/** The grid of a cloud as it is seen now, made anew only when points or turn have changed. */
export class Picker {
  private grid: Grid | null = null;
  private stamp = "";

  of(cloud: Cloud, view: View): Grid {
    const stamp = cloud.stride === 2 ? `${cloud.version}` : `${cloud.version} ${view.turn.join()}`;
    if (this.grid && stamp === this.stamp) return this.grid;
    this.stamp = stamp;
    return (this.grid = new Grid(flatPoints(cloud, view)));
  }
}

/** All points after the turn. */
export function flatPoints(cloud: Cloud, view: View): Float32Array {
  if (cloud.stride === 2) return cloud.points;
  const n = cloud.points.length / 3, out = new Float32Array(2 * n);
  for (let i = 0; i < n; i++) out.set(view.flat(cloud, i), 2 * i);
  return out;
}
