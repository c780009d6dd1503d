// The data of the page: a JSON document, and one block of bytes that its references point into.

export type Numbers = Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array;

export interface Ref { at: number; type: "f64" | "f32" | "u32" | "u16" | "u8"; shape: number[] }

/** A reference, resolved. */
export interface Block { values: Numbers; shape: number[] }

export interface Column { name: string; center: number; scale: number; log: boolean | "one_plus" }

export type Label =
  | { name: string; kind: "classes"; classes: string[]; values: Numbers }
  | { name: string; kind: "number"; values: Numbers };

export interface Measure {
  key: string; title: string; explain: string;
  better: "higher" | "lower" | "none";
  low: number | null; high: number | null; pointwise: boolean;
}

export interface LinearInverse { rule: "linear"; mean: Numbers; axes: Numbers; deviations: Numbers; calibration_factor: [number, number] }

export interface KrigingInverse {
  rule: "kriging"; neighbors: number; length: number; noise: number; unit: number; roughness: number | null;
  means: Numbers; spread: Numbers; bases: Numbers; widths: Numbers; components: Numbers | null; calibration_factor: [number, number];
}

export interface Shade { extent: [number, number, number, number]; values: Numbers; width: number; height: number; low: number; high: number }

export interface Animation { frames: Numbers; count: number; labels: string[] }

export interface MapData {
  id: string; method: string; title: string;
  sweep: { parameter: string; value: number | string } | null;
  status: "done" | "stopped" | "failed" | "skipped"; reason: string | null;
  good_for: string; caution: string;
  seconds: number | null; memory_mb: number | null; converged: boolean | null;
  parameters: { name: string; requested: string | null; used: string }[];
  facts: { name: string; value: string; explain: string | null }[];
  warnings: string[];
  dims: number; map: Numbers | null;
  quality: Record<string, { value: number | null; error: number | null }>;
  pointwise: Record<string, Numbers>;
  spectrum: number[] | null; curve: [number, number][] | null;
  rnx: { k: number[]; value: number[] } | null;
  shepard: Numbers | null;
  inverse_transform: LinearInverse | KrigingInverse | null;
  shade: Shade | null; animation: Animation | null;
  /** 1 for the best; 0 if the ranking does not name it. */
  rank: number;
}

export interface Page {
  made_by: string; title: string;
  input: { name: string; n: number; shown: number; features: number; metric: string; notes: string[] };
  /** The points of every map. */
  n: number;
  columns: Column[]; rows: Numbers | null; rows_note: string | null;
  image: { width: number; height: number } | null;
  /** The row of the input of every point, counted from 0, if not all are shown. */
  row_ids: Numbers | null;
  names: string[] | null; labels: Label[];
  density: Numbers | null;
  neighbors: { ids: Numbers; distances: Numbers; k: number } | null;
  measures: Measure[];
  ranking: { rule: string; order: string[] };
  maps: MapData[];
}

/** The document without its arrays, so that words can be shown before the bytes are unpacked. */
export function readDocument(): Record<string, any> {
  const element = document.getElementById("eigenfold-data");
  if (!element) throw new Error("this page has no data; write it with eigenfold compare --report");
  const raw = JSON.parse(element.textContent ?? "");
  if (raw.version !== 1) throw new Error(`the data of this page have version ${raw.version}, and the page reads version 1`);
  return raw;
}

export async function readPage(raw: Record<string, any>): Promise<Page> {
  const element = document.getElementById("eigenfold-bytes");
  const text = element?.textContent?.trim() ?? "";
  element?.remove();
  return resolve(raw, await unpack(text));
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as any).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const out = new Uint8Array((text.length / 4) * 3 - padding);
  const step = 4 * 8192;
  for (let from = 0, to = 0; from < text.length; from += step) {
    const chunk = atob(text.slice(from, from + step));
    for (let i = 0; i < chunk.length; i++) out[to++] = chunk.charCodeAt(i);
  }
  return out;
}

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const TYPES = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array };

/** The array that a reference points to, as a view of the block. */
export function view(block: ArrayBuffer, ref: Ref): Numbers {
  const count = ref.shape.reduce((a, b) => a * b, 1);
  return new TYPES[ref.type](block, ref.at, count);
}

/** One map with every reference resolved. */
export function readMap(map: any, block: ArrayBuffer, order: string[]): MapData {
  const array = (ref: Ref | null | undefined): Numbers | null => (ref ? view(block, ref) : null);
  return {
    ...map,
    map: array(map.map),
    quality: map.quality ?? {},
    pointwise: Object.fromEntries(Object.entries(map.pointwise ?? {}).map(([key, ref]) => [key, array(ref as Ref)!])),
    parameters: map.parameters ?? [], facts: map.facts ?? [], warnings: map.warnings ?? [],
    spectrum: map.spectrum ?? null, curve: map.curve ?? null, rnx: map.rnx ?? null, sweep: map.sweep ?? null,
    shepard: array(map.shepard),
    inverse_transform: inverse(map.inverse_transform, array),
    shade: map.shade && { ...map.shade, values: array(map.shade.values), height: map.shade.values.shape[0], width: map.shade.values.shape[1] },
    animation: map.animation && { frames: array(map.animation.frames), count: map.animation.frames.shape[0], labels: map.animation.labels ?? [] },
    rank: order.indexOf(map.id) + 1,
  };
}

/** The block of bytes in a text. */
export async function unpack(text: string): Promise<ArrayBuffer> {
  return text === "" ? new ArrayBuffer(0) : gunzip(fromBase64(text));
}

/** The document with every reference resolved. */
export function resolve(raw: Record<string, any>, block: ArrayBuffer): Page {
  const array = (ref: Ref | null | undefined): Numbers | null => (ref ? view(block, ref) : null);
  const order: string[] = raw.ranking?.order ?? [];
  const maps: MapData[] = raw.maps.map((map: any) => readMap(map, block, order));
  const first = raw.maps.find((map: any) => map.map);
  return {
    made_by: raw.made_by, title: raw.title, input: { ...raw.input, notes: raw.input.notes ?? [] },
    n: first ? first.map.shape[0] : raw.input.shown,
    columns: raw.columns ?? [], rows: array(raw.rows), rows_note: raw.rows_note ?? null, image: raw.image ?? null,
    row_ids: array(raw.row_ids), names: raw.names ?? null,
    labels: (raw.labels ?? []).map((label: any) => ({ ...label, values: array(label.values) })),
    density: array(raw.density),
    neighbors: raw.neighbors && { ids: array(raw.neighbors.ids)!, distances: array(raw.neighbors.distances)!, k: raw.neighbors.ids.shape[1] },
    measures: raw.measures ?? [], ranking: raw.ranking ?? { rule: "", order: [] },
    maps: ranked(maps),
  };
}

function inverse(raw: any, array: (ref: Ref | null) => Numbers | null): MapData["inverse_transform"] {
  if (!raw) return null;
  const calibration_factor = raw.calibration_factor ?? [1, 1];
  if (raw.rule === "linear") return { rule: "linear", mean: array(raw.mean)!, axes: array(raw.axes)!, deviations: array(raw.deviations)!, calibration_factor };
  if (raw.rule !== "kriging") return null;
  return {
    ...raw, means: array(raw.means), spread: array(raw.spread), bases: array(raw.bases), widths: array(raw.widths),
    components: array(raw.components ?? null), calibration_factor,
  };
}

/** In the order of the ranking; maps that it does not name keep their order after those, and those without a map come last. */
export function ranked(maps: MapData[]): MapData[] {
  const place = (map: MapData) => (map.map ? 0 : 1e9) + (map.rank || 1e6);
  return maps.map((map, at) => ({ map, at })).sort((a, b) => place(a.map) - place(b.map) || a.at - b.at).map(({ map }) => map);
}

/** A value of a column in the user's units. */
export function inUnits(column: Column | undefined, x: number): number {
  if (!column) return x;
  const u = column.center + column.scale * x;
  return column.log === "one_plus" ? Math.expm1(u) : column.log ? Math.exp(u) : u;
}

/** The row of a point, as it was prepared. */
export function rowOf(page: Page, i: number): Numbers | null {
  const p = page.columns.length;
  return page.rows ? page.rows.subarray(i * p, (i + 1) * p) : null;
}

/** What a point is called. */
export function nameOf(page: Page, i: number): string {
  return page.names ? page.names[i] : `row ${indexOf(page, i) + 1}`;
}

/** The row of the input that a point is, counted from 0. */
export function indexOf(page: Page, i: number): number {
  return page.row_ids ? page.row_ids[i] : i;
}
