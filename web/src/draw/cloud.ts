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
  /** Points beyond the square: a few that are so far out that all others would be one dot. */
  outside = 0;
  /** How much larger the square would be with them. */
  reach = 1;
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
    this.fit(wanted.map((axis) => extent(values, dims, axis)), n);
    const { stride, center, half } = this, points = new Float32Array(n * stride);
    for (let i = 0; i < n; i++) {
      wanted.forEach((axis, c) => { points[i * stride + c] = (values[i * dims + axis] - center[c]) / half; });
      if (dims === 1) points[i * 2 + 1] = STRIP * (2 * jitter(i) - 1);
    }
    this.points = points;
    this.outside = this.reach > 1 ? countOutside(points, stride) : 0;
    this.version++;
  }

  private fit(axes: Extent[], n: number): void {
    this.center = axes.map(({ low, high }) => (n > 0 ? (low + high) / 2 : 0));
    this.half = Math.max(...axes.map(({ low, high }) => (high - low) / 2)) || 1;
    const all = Math.max(...axes.map(({ least, most }, c) => Math.max(most - this.center[c], this.center[c] - least)));
    if (this.stride === 3) this.half *= 1.25;
    this.reach = Math.max(1, Number.isFinite(all) ? all / this.half : 1);
    if (this.reach < 1.5) this.reach = 1;
  }

  /** Points between two frames, both already in the square. */
  between(a: Float32Array, b: Float32Array, t: number): void {
    const points = this.points.length === a.length ? this.points : new Float32Array(a.length);
    for (let c = 0; c < a.length; c++) points[c] = a[c] + t * (b[c] - a[c]);
    this.points = points;
    this.version++;
  }

  /** The map's own coordinates of a position in the square. */
  unplace(x: number, y: number): number[] {
    return this.map.dims === 1 ? [this.center[0] + x * this.half] : [this.center[0] + x * this.half, this.center[1] + y * this.half];
  }

  /** The inverse of unplace. */
  placeOf(place: number[]): [number, number] {
    return [(place[0] - this.center[0]) / this.half, place.length > 1 ? (place[1] - this.center[1]) / this.half : 0];
  }
}

interface Extent { low: number; high: number; least: number; most: number }

/**
 * The least and the largest value of an axis, all of them and without the few that are far out. As in the pictures of the program
 * (docs/decisions/0086), those are left aside only if they are few (three, or one in a hundred) and would leave the
 * others less than a sixth of the axis.
 */
function extent(values: Numbers, dims: number, axis: number): Extent {
  const n = values.length / dims, few = Math.max(3, Math.floor(n / 100));
  let [least, most] = [Infinity, -Infinity];
  for (let at = axis; at < values.length; at += dims) {
    if (values[at] < least) least = values[at];
    if (values[at] > most) most = values[at];
  }
  const all = { low: least, high: most, least, most }, sixth = (most - least) / 6;
  if (n < 8) return all;
  // A sample of values shows in most cases that nothing is far out.
  const some: number[] = [], step = Math.max(1, Math.floor(n / 1000));
  for (let i = 0; i < n; i += step) some.push(values[i * dims + axis]);
  some.sort((a, b) => a - b);
  const rest = some[Math.ceil(0.95 * (some.length - 1))] - some[Math.floor(0.05 * (some.length - 1))];
  if (!(rest < sixth)) return all;
  const sorted = new Float64Array(n);
  for (let i = 0; i < n; i++) sorted[i] = values[i * dims + axis];
  sorted.sort();
  const middle = sorted[Math.floor(n / 2)];
  let [from, to] = [0, n - 1];
  while (sorted[to] - sorted[from] >= sixth && from + n - 1 - to < few) {
    if (middle - sorted[from] > sorted[to] - middle) from++;
    else to--;
  }
  return sorted[to] - sorted[from] < sixth && sorted[to] > sorted[from] ? { low: sorted[from], high: sorted[to], least, most } : all;
}

function countOutside(points: Float32Array, stride: number): number {
  let many = 0;
  for (let i = 0; i < points.length; i += stride) if (Math.abs(points[i]) > 1.05 || Math.abs(points[i + 1]) > 1.05) many++;
  return many;
}

/** A number from 0 to 1 that looks random and is the same every time. */
function jitter(i: number): number {
  let t = Math.imul(i + 1, 0x9e3779b1);
  t = Math.imul(t ^ (t >>> 15), 0x85ebca6b);
  return ((t ^ (t >>> 13)) >>> 0) / 4294967296;
}
