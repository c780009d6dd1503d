// The points of one map as they are drawn: in a square from -1 to 1, with one scale for all axes.

import type { MapData, Numbers } from "../data";

/** How high the strip of a map with one coordinate is; the height of a point in it means nothing. */
const STRIP = 0.28;

export class Cloud {
  points: Float32Array;
  /** 2, or 3 for a map that can be turned. */
  readonly stride: 2 | 3;
  center: number[] = [];
  half = 1;
  /** Whether these are the points of the map itself, not of a frame on the way there. */
  isMap = true;
  /** Counts up when the points move. */
  version = 0;

  constructor(readonly map: MapData, public axes: [number, number] = [0, 1]) {
    this.stride = map.dims === 3 ? 3 : 2;
    this.points = new Float32Array(0);
    this.place(map.map!, map.dims);
  }

  /** Which two of many coordinates are drawn. */
  choose(axes: [number, number]): void {
    this.axes = axes;
    this.place(this.map.map!, this.map.dims);
  }

  /** Takes other points, as those of a frame; each set fits the square. */
  place(values: Numbers, dims: number): void {
    const n = values.length / dims, wanted = dims === 1 ? [0] : dims === 3 ? [0, 1, 2] : this.axes;
    const low = wanted.map(() => Infinity), high = wanted.map(() => -Infinity);
    for (let i = 0; i < n; i++) wanted.forEach((axis, c) => {
      const value = values[i * dims + axis];
      if (value < low[c]) low[c] = value;
      if (value > high[c]) high[c] = value;
    });
    this.center = low.map((value, c) => (n > 0 ? (value + high[c]) / 2 : 0));
    this.half = Math.max(...low.map((value, c) => (high[c] - value) / 2)) || 1;
    if (this.stride === 3) this.half *= 1.25;
    const { stride, center, half } = this, points = new Float32Array(n * stride);
    for (let i = 0; i < n; i++) {
      wanted.forEach((axis, c) => { points[i * stride + c] = (values[i * dims + axis] - center[c]) / half; });
      if (dims === 1) points[i * 2 + 1] = STRIP * (2 * jitter(i) - 1);
    }
    this.points = points;
    this.version++;
  }

  /** Points between two frames, both already in the square. */
  between(a: Float32Array, b: Float32Array, t: number): void {
    const points = this.points.length === a.length ? this.points : new Float32Array(a.length);
    for (let c = 0; c < a.length; c++) points[c] = a[c] + t * (b[c] - a[c]);
    this.points = points;
    this.version++;
  }

  /** The place in the map's own coordinates of a place in the square. */
  unplace(x: number, y: number): number[] {
    return this.map.dims === 1 ? [this.center[0] + x * this.half] : [this.center[0] + x * this.half, this.center[1] + y * this.half];
  }

  /** The inverse of unplace. */
  placeOf(place: number[]): [number, number] {
    return [(place[0] - this.center[0]) / this.half, place.length > 1 ? (place[1] - this.center[1]) / this.half : 0];
  }
}

/** A number from 0 to 1 that looks random and is the same every time. */
function jitter(i: number): number {
  let t = Math.imul(i + 1, 0x9e3779b1);
  t = Math.imul(t ^ (t >>> 15), 0x85ebca6b);
  return ((t ^ (t >>> 13)) >>> 0) / 4294967296;
}
