// What points can be colored by, and the colors of all points for one choice.

import type { MapData, Numbers, Page } from "../data";
import { inUnits } from "../data";
import { classColor, classShape, missing, plain, sequential } from "./palette";

export interface Coloring {
  key: string; title: string; group: string;
  classes: string[] | null;
  /** The values of all points; those of a measure differ from map to map. */
  values: (map: MapData | null) => ArrayLike<number> | null;
  perMap: boolean;
  /** The ends of the color bar, common to all maps. */
  range: [number, number];
  explain: string | null;
}

const NONE = 65535;
/** Columns offered for coloring; more would make the list too long. */
const COLUMNS = 1000;

export function colorings(page: Page): Coloring[] {
  const out: Coloring[] = [];
  page.labels.forEach((label, at) => out.push({
    key: `label ${at}`, title: label.name, group: "Labels", perMap: false, explain: null,
    classes: label.kind === "classes" ? label.classes : null,
    values: () => label.values,
    range: label.kind === "classes" ? [0, 0] : range([label.values]),
  }));
  for (const measure of page.measures.filter((measure) => measure.pointwise)) {
    const held = page.maps.map((map) => map.pointwise[measure.key]).filter((values): values is Numbers => Boolean(values));
    if (held.length === 0) continue;
    out.push({
      key: `measure ${measure.key}`, title: measure.title, group: "Quality of each point", perMap: true, classes: null, explain: measure.explain,
      values: (map) => map?.pointwise[measure.key] ?? null, range: range(held),
    });
  }
  if (page.density) {
    const density = page.density;
    out.push({ key: "density", title: "density in the data", group: "Data", perMap: false, classes: null, explain: "The logarithm of the density in the data, by the nearest neighbors.", values: () => density, range: range([density]) });
  }
  page.columns.slice(0, page.rows ? COLUMNS : 0).forEach((column, j) => {
    let held: Float32Array | null = null, ends: [number, number] | null = null;
    const values = () => (held ??= columnOf(page, j));
    out.push({
      key: `column ${j}`, title: column.name, group: page.columns.length > COLUMNS ? `Columns (the first ${COLUMNS})` : "Columns", perMap: false, classes: null, explain: null,
      values, get range() { return (ends ??= range([values()])); },
    });
  });
  if (out.length === 0) out.push({ key: "none", title: "nothing", group: "", perMap: false, classes: null, explain: null, values: () => null, range: [0, 1] });
  return out;
}

function columnOf(page: Page, j: number): Float32Array {
  const p = page.columns.length, rows = page.rows!, out = new Float32Array(page.n);
  for (let i = 0; i < page.n; i++) out[i] = inUnits(page.columns[j], rows[i * p + j]);
  return out;
}

/** From the 2nd to the 98th percentile, so that a few far ones do not take all colors; all of them if that is one value. */
function range(blocks: ArrayLike<number>[]): [number, number] {
  const sample: number[] = [];
  for (const block of blocks) {
    const step = Math.max(1, Math.floor((block.length * blocks.length) / 20_000));
    for (let i = 0; i < block.length; i += step) if (Number.isFinite(block[i])) sample.push(block[i]);
  }
  if (sample.length === 0) return [0, 1];
  sample.sort((a, b) => a - b);
  const at = (share: number) => sample[Math.round(share * (sample.length - 1))];
  return at(0.98) > at(0.02) ? [at(0.02), at(0.98)] : [at(0), at(1) > at(0) ? at(1) : at(0) + 1];
}

/** Red, green, blue and shape of every point, one byte each. */
export function paint(coloring: Coloring, map: MapData | null, n: number, dark: boolean): Uint8Array {
  const out = new Uint8Array(4 * n), values = coloring.values(map), none = missing(dark);
  if (coloring.classes) {
    const total = coloring.classes.length;
    const table = coloring.classes.map((_, at) => [...classColor(at, total, dark), classShape(at, total)]);
    for (let i = 0; i < n; i++) {
      const one = values![i] === NONE ? undefined : table[values![i]];
      out.set(one ?? [...none, 0], 4 * i);
    }
    return out;
  }
  if (values === null) {
    const color = coloring.perMap ? none : plain(dark);
    for (let i = 0; i < n; i++) out.set(color, 4 * i);
    return out;
  }
  const steps = Array.from({ length: 256 }, (_, at) => sequential(at / 255, dark)), [low, high] = coloring.range;
  for (let i = 0; i < n; i++) {
    const value = values[i];
    const color = Number.isNaN(value) ? none : steps[Math.max(0, Math.min(255, Math.round((255 * (value - low)) / (high - low))))];
    out[4 * i] = color[0]; out[4 * i + 1] = color[1]; out[4 * i + 2] = color[2];
  }
  return out;
}

/** The words of a point's value. */
export function valueText(coloring: Coloring, value: number, number: (x: number) => string): string {
  if (coloring.classes) return value === NONE ? "missing" : coloring.classes[value] ?? "missing";
  return Number.isNaN(value) ? "missing" : number(value);
}
