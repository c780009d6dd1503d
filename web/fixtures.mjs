// Writes pages from the contract alone, without the program, for tests and for looking at.
//   node fixtures.mjs OUT [small] [table] [large] [huge]
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Block, writePage } from "./fixtures/block.mjs";
import { MEASURES, Evaluator } from "./fixtures/quality.mjs";
import { distances, eigenmaps, gaussians, kriging, pca, random, tsne } from "./fixtures/math.mjs";

const GLYPHS = [
  "0011100 0110110 1100011 1100011 1100011 1100011 0110110 0011100", "0001100 0011100 0111100 0001100 0001100 0001100 0001100 0111111",
  "0111110 1100011 0000011 0000110 0011100 0110000 1100000 1111111", "0111110 1100011 0000011 0011110 0000011 0000011 1100011 0111110",
  "0000110 0001110 0011110 0110110 1100110 1111111 0000110 0000110", "1111111 1100000 1100000 1111110 0000011 0000011 1100011 0111110",
  "0011110 0110000 1100000 1111110 1100011 1100011 1100011 0111110", "1111111 0000011 0000110 0001100 0011000 0011000 0011000 0011000",
  "0111110 1100011 1100011 0111110 1100011 1100011 1100011 0111110", "0111110 1100011 1100011 1100011 0111111 0000011 0000110 0111100",
].map((glyph) => glyph.split(" ").map((line) => [...line].map(Number)));

/** Handwriting of a sort: a glyph, moved, slanted, of some weight, with noise; 8 x 8 values from 0 to 16. */
function digits(n) {
  const next = random(1), gauss = gaussians(next), x = new Float32Array(n * 64), labels = new Uint16Array(n);
  for (let i = 0; i < n; i++) {
    const digit = i % 10, glyph = GLYPHS[digit], slant = 0.22 * gauss(), dx = 0.45 * gauss(), dy = 0.35 * gauss(), weight = 13 + 2 * gauss(), size = 1 + 0.08 * gauss();
    labels[i] = i % 97 === 96 ? 65535 : digit;
    for (let r = 0; r < 8; r++) for (let c = 0; c < 8; c++) {
      const y = (r - 3.5) / size + 3.5 - dy, u = (c - 3.5) / size + 3 - dx + slant * (y - 3.5);
      let sum = 0;
      for (let a = Math.floor(y); a <= Math.floor(y) + 1; a++) for (let b = Math.floor(u); b <= Math.floor(u) + 1; b++) {
        const w = (1 - Math.abs(y - a)) * (1 - Math.abs(u - b));
        sum += w * (glyph[a]?.[b] ?? 0);
      }
      x[i * 64 + r * 8 + c] = Math.round(Math.min(16, Math.max(0, weight * sum + 0.8 * gauss())));
    }
  }
  return { x, labels };
}

const HOSTILE = "</script><img src=x onerror=\"window.pwned=1\">";

const ABOUT = {
  tsne: ["Clusters: which points belong together.", "Distances between clusters and their sizes mean nothing; gaps may be made by the method."],
  pca: ["Large differences, exactly: the plane of largest variance.", "What is curved or small lies on top of each other; near on the map need not be near in the data."],
  "laplacian-eigenmaps": ["The coarsest division of the neighborhood graph.", "Corners are often single thin groups; distances along the arms are stretched unevenly."],
  isomap: ["Distances along a curved sheet.", "One wrong neighbor can fold far parts together."],
  umap: ["Clusters and the links between them.", "Density and the width of gaps are set by parameters, not by the data."],
  mvu: ["A sheet unrolled without stretching any neighbor distance.", "Directions of little variance may be lost."],
  gplvm: ["A smooth surface through the data with its doubt.", "The start decides which of many surfaces is found."],
};

function entry(id, title, more) {
  const method = id.split(" ")[0], [good_for, caution] = ABOUT[method];
  return {
    id, method, title, sweep: null, status: "done", reason: null, good_for, caution, seconds: 1.2, memory_mb: 40, converged: true,
    parameters: [{ name: "dims", requested: "2", used: "2" }], facts: [], warnings: [], dims: 2, map: null, quality: {}, pointwise: {},
    spectrum: null, curve: null, rnx: null, shepard: null, inverse_transform: null, shade: null, animation: null, ...more,
  };
}

/** An inverse transform as the program would learn it, roughly. */
function inverseTransform(x, n, p) {
  const means = new Float64Array(p), spread = new Float64Array(p);
  let unit = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < p; j++) means[j] += x[i * p + j] / n;
  for (let i = 0; i < n * p; i++) unit = Math.max(unit, Math.abs(x[i] - means[i % p]));
  for (let i = 0; i < n * p; i++) spread[i % p] += ((x[i] - means[i % p]) / unit) ** 2 / n;
  const bases = spread.map((s) => 0.5 * Math.sqrt(s)), widths = new Float64Array(2 * p);
  for (let j = 0; j < p; j++) { widths[2 * j] = 0.9 + 0.01 * (j % 9); widths[2 * j + 1] = 1.9 + 0.02 * (j % 7); }
  return { rule: "kriging", neighbors: Math.min(32, n), length: 1, noise: 0.01, unit, roughness: 0.4, means, spread, bases, widths, components: null, calibration_factor: [1.1, 1.05] };
}

function referTo(block, inverse) {
  if (!inverse) return null;
  const refs = Object.entries(inverse).map(([key, value]) => [key, ArrayBuffer.isView(value)
    ? block.add(value, key === "widths" ? [value.length / 2, 2] : key === "axes" ? [value.length / 2, 2] : [value.length]) : value]);
  return Object.fromEntries(refs);
}

function shade(block, x, p, map, n, inverse) {
  const w = 40, h = 40, values = new Uint8Array(w * h);
  const extent = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < n; i++) for (let c = 0; c < 2; c++) {
    extent[2 * c] = Math.min(extent[2 * c], map[2 * i + c]); extent[2 * c + 1] = Math.max(extent[2 * c + 1], map[2 * i + c]);
  }
  for (let c = 0; c < 2; c++) { const m = 0.12 * (extent[2 * c + 1] - extent[2 * c]); extent[2 * c] -= m; extent[2 * c + 1] += m; }
  const few = { ...inverse, neighbors: 8 }, total = inverse.spread.reduce((a, b) => a + b, 0);
  const all = [];
  for (let r = 0; r < h; r++) for (let c = 0; c < w; c++) {
    const at = kriging(x, p, map, n, 2, few, [extent[0] + (c + 0.5) / w * (extent[1] - extent[0]), extent[2] + (r + 0.5) / h * (extent[3] - extent[2])]);
    all.push(Math.sqrt(at.deviations.reduce((s, v) => s + (v / inverse.unit) ** 2, 0) / total));
  }
  const low = Math.min(...all), high = Math.max(...all);
  all.forEach((value, at) => { values[at] = Math.round(255 * (value - low) / (high - low)); });
  return { extent, values: block.add(values, [h, w]), low, high };
}

function evaluated(block, evaluator, map, d, n) {
  const { quality, pointwise, rnx, pairs } = evaluator.of(map, d);
  return {
    map: block.add(map, [n, d]), dims: d, quality, rnx, shepard: block.add(pairs, [pairs.length / 2, 2]),
    pointwise: Object.fromEntries(Object.entries(pointwise).map(([key, values]) => [key, block.add(values)])),
  };
}

/** Images, many kinds of maps, hostile names. */
export function small() {
  const n = 600, p = 64, { x, labels } = digits(n), block = new Block(), dist = distances(x, n, p), evaluator = new Evaluator(dist, n);
  const four = pca(x, n, p, 4), take = (d) => Float64Array.from({ length: n * d }, (_, at) => four.map[Math.floor(at / d) * 4 + (at % d)]);
  const two = { map: take(2), axes: Float64Array.from({ length: p * 2 }, (_, at) => four.axes[Math.floor(at / 2) * 4 + (at % 2)]) };
  const residual = new Float64Array(p);
  for (let i = 0; i < n; i++) for (let j = 0; j < p; j++)
    residual[j] += (x[i * p + j] - four.mean[j] - two.map[2 * i] * two.axes[2 * j] - two.map[2 * i + 1] * two.axes[2 * j + 1]) ** 2 / n;
  const linear = { rule: "linear", mean: four.mean, axes: two.axes, deviations: residual.map(Math.sqrt) };
  const start = two.map.map((v) => v * 1e-3), inverse = inverseTransform(x, n, p);
  const swept = [5, 15, 40].map((perplexity) => ({ perplexity, ...tsne(dist, n, perplexity, start, 240, 10) }));
  const le = eigenmaps(evaluator.order, n, 8, 3), leTwo = Float64Array.from({ length: 2 * n }, (_, at) => le.map[Math.floor(at / 2) * 3 + (at % 2)]);
  const smooth = swept[1].map.map((v, at) => 0.65 * v + 1.4 * two.map[at]), line = Float64Array.from({ length: n }, (_, i) => leTwo[2 * i]);
  const maps = swept.map(({ perplexity, map, frames, curve }) => entry(`tsne perplexity=${perplexity}`, "t-SNE", {
    ...evaluated(block, evaluator, map, 2, n), sweep: { parameter: "perplexity", value: perplexity }, curve,
    inverse_transform: referTo(block, inverse), shade: perplexity === 15 ? shade(block, x, p, map, n, inverse) : null,
    animation: { frames: block.add(Float32Array.from(frames.flatMap((frame) => [...frame])), [frames.length, n, 2]), labels: frames.map((_, at) => `step ${at * 10}`) },
    parameters: [{ name: "perplexity", requested: String(perplexity), used: String(perplexity) }, { name: "steps", requested: null, used: "240" }, { name: "start", requested: null, used: "pca" }],
    facts: [{ name: "divergence", value: curve.at(-1)[1].toFixed(4), explain: "Kullback and Leibler's, at the end of the descent." }],
    converged: false, warnings: ["the descent ended after 240 steps, before its gradient was small; more steps may change the map"], seconds: 3.1,
  }));
  maps.push(
    entry("pca", "PCA", { ...evaluated(block, evaluator, two.map, 2, n), spectrum: four.values, inverse_transform: referTo(block, linear), seconds: 0.004, memory_mb: 1.1, facts: [{ name: "variance kept", value: "0.38", explain: "The share of the variance that the two coordinates have." }] }),
    entry("laplacian-eigenmaps", "Laplacian eigenmaps", { ...evaluated(block, evaluator, leTwo, 2, n), spectrum: le.values, inverse_transform: referTo(block, { ...inverse, roughness: null }), facts: [{ name: "largest residual", value: "3.1e-13", explain: "Of the eigenpairs, relative to the norm." }, { name: "log likelihood", value: "-1,204.7", explain: null }] }),
    entry("umap", "UMAP", { ...evaluated(block, evaluator, smooth, 2, n), status: "stopped", reason: "stopped after 30 s; what was reached is shown", converged: false }),
    entry("isomap", "Isomap, 3 coordinates", { ...evaluated(block, evaluator, take(3), 3, n), spectrum: four.values }),
    entry("isomap line", "Isomap, 1 coordinate", { ...evaluated(block, evaluator, line, 1, n), inverse_transform: referTo(block, inverse) }),
    entry("pca four", "PCA, 4 coordinates", { ...evaluated(block, evaluator, four.map, 4, n), spectrum: four.values }),
    entry("mvu", "Maximum variance unfolding", { status: "failed", reason: "the neighborhood graph has 3 connected components; give more neighbors (12 connect them)", seconds: 0.2, converged: null }),
    entry("gplvm", `GP-LVM ${HOSTILE}`, { status: "skipped", reason: "it needs about 4 GB for 600 rows and 1 GB was allowed; allow more memory, or give fewer inducing points", seconds: null, memory_mb: null, converged: null, good_for: HOSTILE }),
  );
  const order = maps.filter((map) => map.map).sort((a, b) => b.quality.rnx.value - a.quality.rnx.value).map((map) => map.id);
  const k = 10, ids = new Uint32Array(n * k), lengths = new Float32Array(n * k), density = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    evaluator.order[i].slice(0, k).forEach((a, r) => { ids[i * k + r] = a; lengths[i * k + r] = dist[i * n + a]; });
    density[i] = -Math.log(lengths[i * k + k - 1]);
  }
  const names = Array.from({ length: n }, (_, i) => (i === 3 ? HOSTILE : i === 7 ? "🦆 déjà vu ‮txet" : `digit ${i + 1}`));
  const slant = Float32Array.from({ length: n }, (_, i) => (i % 50 === 49 ? NaN : x.subarray(i * p, (i + 1) * p).reduce((a, b) => a + b, 0) / p));
  return {
    block, document: {
      version: 1, made_by: "eigenfold 0.1.0", title: "digits, drawn by hand",
      input: { name: "digits.csv", n, shown: n, features: p, metric: "euclidean", notes: ["6 of 600 labels are missing"] },
      columns: Array.from({ length: p }, (_, j) => ({ name: j === 5 ? HOSTILE : `pixel ${Math.floor(j / 8) + 1},${(j % 8) + 1}`, center: 0, scale: 1, log: false })),
      rows: block.add(x, [n, p]), image: { width: 8, height: 8 }, names,
      labels: [
        { name: "digit", kind: "classes", classes: ["0", "1", "2", "3", "4", "5", "6", "7", "8", HOSTILE], values: block.add(labels) },
        { name: "mean ink", kind: "number", values: block.add(slant) },
        { name: "writer", kind: "classes", classes: Array.from({ length: 24 }, (_, c) => `writer ${c + 1}`), values: block.add(Uint16Array.from({ length: n }, (_, i) => Math.floor(i / 25))) },
        { name: "day", kind: "classes", classes: Array.from({ length: 60 }, (_, c) => `day ${c + 1}`), values: block.add(Uint16Array.from({ length: n }, (_, i) => Math.floor(i / 10))) },
      ],
      density: block.add(density), neighbors: { ids: block.add(ids, [n, k]), distances: block.add(lengths, [n, k]) },
      measures: MEASURES, ranking: { rule: "the area under R_NX, larger is better", order }, maps, live: null,
    },
  };
}

/** A table of named columns in units, some by logarithm; two classes, no names. */
export function table() {
  const n = 240, p = 7, next = random(3), gauss = gaussians(next), x = new Float32Array(n * p), block = new Block(), classes = new Uint16Array(n);
  for (let i = 0; i < n; i++) {
    const t = next() * 3, kind = i % 3;
    classes[i] = kind;
    [t + kind, Math.sin(2 * t) + kind, 0.5 * t * t, gauss() * 0.2 + kind, t - kind, gauss(), 0.3 * gauss() + t].forEach((v, j) => { x[i * p + j] = v + 0.1 * gauss(); });
  }
  const evaluator = new Evaluator(distances(x, n, p), n), two = pca(x, n, p, 2), inverse = inverseTransform(x, n, p), le = eigenmaps(evaluator.order, n, 10, 2);
  const maps = [
    entry("pca", "PCA", { ...evaluated(block, evaluator, two.map, 2, n), spectrum: two.values, inverse_transform: referTo(block, inverse), shade: shade(block, x, p, two.map, n, inverse) }),
    entry("laplacian-eigenmaps", "Laplacian eigenmaps", { ...evaluated(block, evaluator, le.map, 2, n), spectrum: le.values }),
  ];
  const names = ["wavelength", "flux", "age", "mass", "a column whose name is very long indeed", "noise", "depth"];
  return {
    block, document: {
      version: 1, made_by: "eigenfold 0.1.0", title: "stars", input: { name: "stars.parquet", n: 5000, shown: n, features: p, metric: "euclidean", notes: ["240 of 5,000 rows are shown, drawn at random"] },
      columns: names.map((name, j) => ({ name, center: 10 * j, scale: 1 + j, log: j === 2 ? true : j === 3 ? "one_plus" : false })).map((c) => (c.log ? { ...c, center: 1, scale: 0.5 } : c)),
      rows: block.add(x, [n, p]), image: null, row_ids: block.add(Uint32Array.from({ length: n }, (_, i) => 20 * i + 3)), names: null, labels: [{ name: "kind", kind: "classes", classes: ["dwarf", "giant", "other"], values: block.add(classes) }],
      density: null, neighbors: null, measures: MEASURES, ranking: { rule: "trustworthiness, larger is better", order: ["laplacian-eigenmaps", "pca"] }, maps, live: null,
    },
  };
}

/** Many points: blobs and arms, several maps of them, no rows. */
export function many(n, count, title) {
  const block = new Block(), next = random(9), gauss = gaussians(next), classes = new Uint16Array(n), maps = [];
  for (let i = 0; i < n; i++) classes[i] = Math.floor(next() * 12);
  const methods = ["tsne", "umap", "pca", "isomap", "laplacian-eigenmaps", "mvu", "gplvm", "umap second", "tsne second", "pca second", "isomap second", "mvu second"];
  for (let m = 0; m < count; m++) {
    const map = new Float32Array(2 * n), turn = 0.4 * m;
    for (let i = 0; i < n; i++) {
      const c = classes[i], angle = (c / 12) * 2 * Math.PI + turn, r = 3 + (c % 3), t = next() * 2;
      map[2 * i] = r * Math.cos(angle) + 0.3 * gauss() + t * Math.cos(angle + m);
      map[2 * i + 1] = r * Math.sin(angle) + 0.3 * gauss() + t * Math.sin(angle + m);
    }
    maps.push(entry(methods[m], methods[m].toUpperCase(), { map: block.add(map, [n, 2]), quality: { trustworthiness: { value: 0.97 - 0.02 * m, error: 0.002 } }, rnx: { k: [1, 4, 16, 64, 256], value: [0.4, 0.45, 0.5, 0.4, 0.2].map((v) => v - 0.03 * m) } }));
  }
  return {
    block, document: {
      version: 1, made_by: "eigenfold 0.1.0", title, input: { name: `${title}.npy`, n, shown: n, features: 50, metric: "euclidean", notes: [] },
      columns: Array.from({ length: 50 }, (_, j) => ({ name: `x${j + 1}`, center: 0, scale: 1, log: false })), rows: null, rows_note: `the rows (${n} x 50 numbers) are not in the page`, image: null, names: null,
      labels: [{ name: "kind", kind: "classes", classes: Array.from({ length: 12 }, (_, c) => `kind ${c + 1}`), values: block.add(classes) }],
      density: null, neighbors: null, measures: MEASURES, ranking: { rule: "trustworthiness, larger is better", order: maps.map((map) => map.id) }, maps, live: null,
    },
  };
}

const MAKERS = { small, table, large: () => many(100_000, 12, "large"), huge: () => many(1_000_000, 2, "huge") };
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out = "out", ...names] = process.argv.slice(2);
  mkdirSync(out, { recursive: true });
  for (const name of names.length ? names : Object.keys(MAKERS)) {
    const began = Date.now(), { document, block } = MAKERS[name]();
    writePage(`${out}/${name}.html`, new URL("../crates/page/assets/", import.meta.url), document, block);
    console.log(`${out}/${name}.html: ${((Date.now() - began) / 1000).toFixed(1)} s, ${(block.size / 1e6).toFixed(1)} MB unpacked`);
  }
}
