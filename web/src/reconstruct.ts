// The inverse transform: the data row at a point of the map, with the 68 % and 95 % intervals of every entry.
//
// A port of crates/core/src/reconstruct/{kriging,neighborhood,prediction}.rs and of the units of preparation/inverse.rs, whose heads have the
// formulas. The linear rule is x̄ + U y. Kriging predicts from the map points nearest to the point:
//
//   C = κ(‖y[a] − y[b]‖ / ℓh) + ηI,   c = κ(‖y[a] − y‖ / ℓh),   α = C⁻¹(c + 1β),   x̂ = Σ w[a] x[a]
//   width[j] = w[j] √(b[j]² u + f[j]²),  at least g(1 − 1ᵀC⁻¹c) σ[j], at most g √2 σ[j]

import type { Column, KrigingInverse, LinearInverse, MapData, Numbers, Page } from "./data";
import { inUnits } from "./data";

/** How many neighbors the average roughness counts for. */
const PRIOR = 4;
/** The largest sum of the absolute weights of a prediction. */
const LEAN = 3;
/** Standard deviations on either side of a 95 % interval. */
export const MARGIN = 1.959963984540054;
/** Distances longer than this many lengths have no covariance. */
const BEYOND = 300;
/** The neighbors that give the scale of a small group. */
const FIRST = 8;
/** Halvings of the interval that a width is searched in. */
const HALVINGS = 40;

/** The prediction at one point. */
export interface Answer {
  row: Float64Array; deviations: Float64Array; margins: Float64Array;
  /** Whether the point is further from all map points than these are from each other. */
  far: boolean;
}

interface Neighborhood { near: number[]; to: number[]; between: Float64Array; typical: number; closeness: number[] }

interface Kriged { weights: Float64Array; variance: number; roughness: number; missing: number; lost: number }

/** The reason why this map has no inverse transform here, or null if it has one. */
export function refusal(page: Page, map: MapData): string | null {
  if (!map.inverse_transform) return "this map has no inverse transform";
  if (map.inverse_transform.rule === "kriging" && !page.rows) return page.rows_note ?? "the rows are not in the page, and the inverse transform needs them";
  if (map.dims > 2) return `a click gives two coordinates and this map has ${map.dims}; eigenfold reconstruct takes them all`;
  return null;
}

/** The data row at a point of the map, as the columns were prepared. */
export function reconstruct(page: Page, map: MapData, place: number[]): Answer {
  const inverse = map.inverse_transform!, near = neighborhood(map.map!, map.dims, place, inverse);
  const answer = inverse.rule === "linear" ? linear(inverse, place) : kriging(page.rows!, page.columns.length, inverse, near);
  return { ...answer, far: near.near.length > 1 && near.to[0] > near.typical };
}

function linear(inverse: LinearInverse, y: number[]): Omit<Answer, "far"> {
  const p = inverse.mean.length, d = y.length, row = new Float64Array(p);
  for (let j = 0; j < p; j++) {
    let along = 0;
    for (let c = 0; c < d; c++) along += inverse.axes[j * d + c] * y[c];
    row[j] = inverse.mean[j] + along;
  }
  const deviations = Float64Array.from(inverse.deviations, (width) => inverse.calibration_factor[0] * width);
  return { row, deviations, margins: Float64Array.from(inverse.deviations, (width) => inverse.calibration_factor[1] * MARGIN * width) };
}

/** The map points nearest to a point, those of its component alone, nearest first. */
function neighborhood(map: Numbers, d: number, place: number[], inverse: KrigingInverse | LinearInverse): Neighborhood {
  const list = ofOneComponent(map, d, place, inverse);
  const near = list.map(({ row }) => row), to = list.map(({ distance }) => distance);
  // The scale is that of the map around the nearest point, so that a gap between clusters counts as far.
  const there = near.length > 0 ? ofOneComponent(map, d, Array.from({ length: d }, (_, c) => map[near[0] * d + c]), inverse).map(({ row }) => row) : [];
  return { near, to, between: between(map, d, near), typical: scale(map, d, there), closeness: closeness(to) };
}

function ofOneComponent(map: Numbers, d: number, place: ArrayLike<number>, inverse: KrigingInverse | LinearInverse): { row: number; distance: number }[] {
  const list = nearest(map, d, place, inverse.rule === "kriging" ? inverse.neighbors : 32);
  const components = inverse.rule === "kriging" ? inverse.components : null;
  return components ? list.filter(({ row }) => components[row] === components[list[0].row]) : list;
}

/** The median distance between the neighbors of a map point; that of the first few, if they are closer together than all of them. */
function scale(map: Numbers, d: number, there: number[]): number {
  const all = typical(between(map, d, there));
  if (there.length <= FIRST) return all;
  const first = (there.length / FIRST) ** (1 / d) * typical(between(map, d, there.slice(0, FIRST)));
  return first > 0 ? Math.min(all, first) : all;
}

/** The distances from each of some points to those before it, row after row. */
function between(map: Numbers, d: number, some: number[]): Float64Array {
  const all = new Float64Array((some.length * (some.length - 1)) / 2);
  for (let a = 0, at = 0; a < some.length; a++) for (let b = 0; b < a; b++) all[at++] = distance(map, d, some[a], some[b]);
  return all;
}

/** The k rows nearest to a point; ties by index. */
export function nearest(map: Numbers, d: number, place: ArrayLike<number>, k: number, without = -1): { row: number; distance: number }[] {
  const rows: number[] = [], squares: number[] = [], n = map.length / d;
  for (let i = 0; i < n; i++) {
    let square = 0;
    for (let c = 0; c < d; c++) square += (map[i * d + c] - place[c]) ** 2;
    if (i === without || (rows.length === k && square >= squares[k - 1])) continue;
    let at = Math.min(rows.length, k - 1);
    if (rows.length < k) { rows.push(i); squares.push(square); }
    for (; at > 0 && squares[at - 1] > square; at--) { squares[at] = squares[at - 1]; rows[at] = rows[at - 1]; }
    squares[at] = square;
    rows[at] = i;
  }
  return rows.map((row, at) => ({ row, distance: Math.sqrt(squares[at]) }));
}

function distance(map: Numbers, d: number, a: number, b: number): number {
  let square = 0;
  for (let c = 0; c < d; c++) square += (map[a * d + c] - map[b * d + c]) ** 2;
  return Math.sqrt(square);
}

/** The median, or the largest where more than half are zero; zero for none. */
function typical(distances: Float64Array): number {
  if (distances.length === 0) return 0;
  const sorted = distances.slice().sort();
  const median = sorted[Math.floor(sorted.length / 2)];
  return median > 0 ? median : sorted[sorted.length - 1];
}

/** In proportion to 1/d², summing to one; those at the place itself share it. */
function closeness(to: number[]): number[] {
  const weights = to.map((d) => (d > to[0] ? (to[0] / d) ** 2 : 1)), total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}

/** Matérn's covariance of smoothness 5/2. */
function matern(distance: number, scale: number): number {
  if (distance === 0) return 1;
  const t = (Math.sqrt(5) * distance) / scale;
  return t < BEYOND ? (1 + t + (t * t) / 3) * Math.exp(-t) : 0;
}

/** The inner products of the neighbors' values as seen from the nearest, divided by the unit. */
function gram(rows: Numbers, p: number, near: number[], unit: number): Float64Array {
  const m = near.length, away = new Float64Array(m * p), center = near[0] * p, out = new Float64Array(m * m);
  near.forEach((row, a) => { for (let j = 0; j < p; j++) away[a * p + j] = (rows[row * p + j] - rows[center + j]) / unit; });
  for (let a = 0; a < m; a++) for (let b = 0; b <= a; b++) {
    let sum = 0;
    for (let j = 0; j < p; j++) sum += away[a * p + j] * away[b * p + j];
    out[a * m + b] = out[b * m + a] = sum;
  }
  return out;
}

/** L of C = LLᵀ, and its inverse; both lower, row-major. */
function factor(around: Neighborhood, scale: number, noise: number): { lower: Float64Array; inverse: Float64Array } {
  const m = around.near.length, lower = new Float64Array(m * m), inverse = new Float64Array(m * m);
  for (let i = 0; i < m; i++) for (let j = 0; j <= i; j++) {
    let sum = i === j ? 1 + noise : matern(around.between[(i * (i - 1)) / 2 + j], scale);
    for (let k = 0; k < j; k++) sum -= lower[i * m + k] * lower[j * m + k];
    // In exact arithmetic no pivot is smaller than the noise.
    lower[i * m + j] = i === j ? Math.sqrt(Math.max(sum, noise)) : sum / lower[j * m + j];
  }
  for (let i = 0; i < m; i++) {
    for (let k = 0; k < i; k++) for (let at = 0; at <= k; at++) inverse[i * m + at] -= lower[i * m + k] * inverse[k * m + at];
    for (let at = 0; at < i; at++) inverse[i * m + at] /= lower[i * m + i];
    inverse[i * m + i] = 1 / lower[i * m + i];
  }
  return { lower, inverse };
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** Tᵀx for a lower triangle T. */
function timesTransposed(triangle: Float64Array, x: Float64Array): Float64Array {
  const m = x.length, out = new Float64Array(m);
  for (let a = 0; a < m; a++) for (let at = 0; at <= a; at++) out[at] += triangle[a * m + at] * x[a];
  return out;
}

/** xᵀGx for the leading rows of G that x has. */
function quadratic(g: Float64Array, m: number, x: ArrayLike<number>): number {
  let sum = 0;
  for (let a = 0; a < x.length; a++) for (let b = 0; b < x.length; b++) sum += x[a] * g[a * m + b] * x[b];
  return sum;
}

/** Solves the kriging equations for a length and a noise ratio. */
function solve(around: Neighborhood, length: number, noise: number, g: Float64Array): Kriged {
  const m = around.near.length, scale = length * around.typical, { lower, inverse } = factor(around, scale, noise);
  const toward = around.to.map((d) => matern(d, scale)), row = (a: number) => inverse.subarray(a * m, a * m + a + 1);
  // L⁻¹c and L⁻¹1.
  const w = Float64Array.from(around.near, (_, a) => dot(row(a), toward)), u = Float64Array.from(around.near, (_, a) => row(a).reduce((s, v) => s + v, 0));
  const ones = dot(u, u), missing = 1 - dot(u, w), beta = missing / ones;
  const weights = timesTransposed(inverse, w.map((value, a) => value + beta * u[a])), mean = timesTransposed(inverse, u);
  let variance = 1 + noise - dot(w, w) + beta * missing;
  const lean = weights.reduce((sum, weight) => sum + Math.abs(weight), 0), s = lean > LEAN ? (LEAN - 1) / (lean - 1) : 1;
  if (s < 1) {
    // C(sα + (1 − s)p) with Cα = c + β, and C = LLᵀ.
    const p = around.closeness, along = new Float64Array(m);
    for (let b = 0; b < m; b++) for (let a = b; a < m; a++) along[b] += lower[a * m + b] * p[a];
    const square = s * s * (dot(weights, toward) + beta) + 2 * s * (1 - s) * (dot(p, toward) + beta) + (1 - s) * (1 - s) * dot(along, along);
    for (let a = 0; a < m; a++) weights[a] = s * weights[a] + (1 - s) * p[a];
    variance = 1 + noise - 2 * dot(weights, toward) + square;
  }
  // tr(C⁻¹G) less what the mean takes.
  let total = 0;
  for (let a = 0; a < m; a++) total += quadratic(g, m, row(a));
  const roughness = total - quadratic(g, m, mean) / ones;
  return { weights, variance: Math.max(variance, noise), roughness: Math.max(roughness, 0), missing: Math.min(1, Math.max(0, missing)), lost: 1 - s };
}

function kriging(rows: Numbers, p: number, inverse: KrigingInverse, around: Neighborhood): Omit<Answer, "far"> {
  const { near } = around, m = near.length, kriged = solve(around, inverse.length, inverse.noise, gram(rows, p, near, inverse.unit));
  // Summed as differences from the nearest row, so that a constant feature keeps its value.
  const center = near[0] * p, row = new Float64Array(p);
  near.forEach((a, at) => { for (let j = 0; j < p; j++) row[j] += kriged.weights[at] * (rows[a * p + j] - rows[center + j]); });
  for (let j = 0; j < p; j++) row[j] += rows[center + j];
  const place = inverse.roughness === null ? kriged.variance : (kriged.variance * (PRIOR * inverse.roughness + kriged.roughness)) / (PRIOR + m - 1);
  const deviation = Math.sqrt(place), widths = [new Float64Array(p), new Float64Array(p)];
  for (let j = 0; j < p; j++) {
    let floor = kriged.missing ** 2 * inverse.spread[j];
    if (kriged.lost > 0) near.forEach((a, at) => { floor += around.closeness[at] * kriged.lost ** 2 * ((rows[a * p + j] - row[j]) / inverse.unit) ** 2; });
    const scale = Math.hypot(inverse.bases[j] * deviation, Math.sqrt(floor));
    const least = inverse.unit * kriged.missing * Math.sqrt(inverse.spread[j]);
    const most = inverse.unit * Math.SQRT2 * Math.sqrt(inverse.spread[j]);
    for (const level of [0, 1]) {
      const g = level === 0 ? 1 : MARGIN, width = inverse.unit * inverse.widths[2 * j + level] * scale;
      widths[level][j] = Math.min(Math.max(inverse.calibration_factor[level] * width, g * least), g * most);
    }
  }
  return { row, deviations: widths[0], margins: widths[1] };
}

/** The prediction in the user's units: rows, and half-widths of their 68 % and 95 % intervals. */
export function answerInUnits(columns: Column[], answer: Answer): Answer {
  const row = answer.row.map((z, j) => inUnits(columns[j], z)), deviations = answer.deviations.slice(), margins = answer.margins.slice();
  columns.forEach((column, j) => { [deviations[j], margins[j]] = widthsInUnits(column, answer.row[j], [answer.deviations[j], answer.margins[j]]); });
  return { ...answer, row, deviations, margins };
}

/** The widths of a number in the user's units; for a logarithm those with the nominal coverage. */
export function widthsInUnits(column: Column, z: number, widths: [number, number]): [number, number] {
  if (!column.log) return [column.scale * widths[0], column.scale * widths[1]];
  const deviation = widths[0], margin = Math.max(widths[0], widths[1]), x = inUnits(column, z);
  const standard = (size: number) => size <= deviation ? size / deviation
    : size <= margin ? 1 + ((size - deviation) / (margin - deviation)) * (MARGIN - 1) : (size / margin) * MARGIN;
  return [0, 1].map((level) => {
    const width = widths[level], promised = 2 * normal(level === 0 ? 1 : MARGIN) - 1;
    let low = x - inUnits(column, z - width), high = inUnits(column, z + width) - x;
    for (let step = 0; step < HALVINGS; step++) {
      const middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      const above = normal(standard(prepared(column, x + middle) - z)), least = prepared(column, x - middle);
      // Below the domain there is nothing.
      const below = Number.isFinite(least) ? normal(-standard(z - least)) : 0;
      if (above - below < promised) low = middle;
      else high = middle;
    }
    return high;
  }) as [number, number];
}

/** The inverse of inUnits. */
function prepared(column: Column, x: number): number {
  const g = column.log === "one_plus" ? Math.log1p(x) : column.log ? Math.log(x) : x;
  return (g - column.center) / column.scale;
}

/** Φ, by its series (Marsaglia, Journal of Statistical Software 11(4), 2004). */
function normal(z: number): number {
  if (Math.abs(z) > 8) return z > 0 ? 1 : 0;
  let sum = z, term = z;
  for (let odd = 3; ; odd += 2) {
    term *= (z * z) / odd;
    const more = sum + term;
    if (more === sum) break;
    sum = more;
  }
  return 0.5 + (sum * Math.exp(-0.5 * z * z)) / Math.sqrt(2 * Math.PI);
}
