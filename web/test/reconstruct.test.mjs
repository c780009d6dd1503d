// The inverse transform of the page against the same formulas solved slowly and independently (fixtures/math.mjs).
import assert from "node:assert/strict";
import { test } from "node:test";
import { gaussians, kriging, pca, random } from "../fixtures/math.mjs";
import { load } from "./sources.mjs";

const { reconstruct, refusal, widthsInUnits, nearest, MARGIN } = await load("reconstruct.ts");

const n = 150, p = 6, d = 2, gauss = gaussians(random(4));
const map = Float64Array.from({ length: n * d }, gauss);
const rows = new Float64Array(n * p);
for (let i = 0; i < n; i++) for (let j = 0; j < p; j++) rows[i * p + j] = j === 5 ? 7 : Math.sin((j + 1) * map[2 * i]) + map[2 * i + 1] * j + 0.1 * gauss();
const means = new Float64Array(p), spread = new Float64Array(p);
for (let i = 0; i < n * p; i++) means[i % p] += rows[i] / n;
const unit = Math.max(...rows.map((x, at) => Math.abs(x - means[at % p])));
for (let i = 0; i < n * p; i++) spread[i % p] += ((rows[i] - means[i % p]) / unit) ** 2 / n;
spread[5] = 0;
const inverse = {
  rule: "kriging", neighbors: 32, length: 2, noise: 1e-3, unit, roughness: 0.02, means, spread, calibration_factor: [1.3, 1.1], components: null,
  bases: spread.map((s) => 0.7 * Math.sqrt(s)), widths: Float64Array.from({ length: 2 * p }, (_, at) => (at % 2 ? 2.2 : 1.1) + 0.05 * at),
};
const page = { rows, n, columns: Array.from({ length: p }, () => ({ name: "", center: 0, scale: 1, log: false })) };
const places = [[0, 0], [0.3, -0.4], [2.2, 2.4], [5, -3], [40, 40], [map[20], map[21]]];

function agrees(way, places, what) {
  for (const place of places) {
    const fast = reconstruct(page, { map, dims: d, inverse_transform: way }, place), slow = kriging(rows, p, map, n, d, way, place);
    for (const key of ["row", "deviations", "margins"]) slow[key].forEach((value, j) => {
      const off = Math.abs(fast[key][j] - value) / (Math.abs(value) + 1e-3 * unit);
      assert.ok(off < 1e-8, `${what} at ${place}: ${key}[${j}] is ${fast[key][j]} and should be ${value}`);
    });
    assert.equal(fast.far, slow.far, `${what} at ${place}: far`);
  }
}

test("kriging gives the same as its formulas solved one by one", () => agrees(inverse, places, "plain"));

test("weights are held where they would lean too hard, and the floors grow there", () => {
  const smooth = { ...inverse, length: 8, noise: 1e-6 }, beside = [[1.5, 2.8], [-3.2, 1], [3.1, -2.9]];
  agrees(smooth, beside, "held");
  const held = kriging(rows, p, map, n, d, smooth, beside[0]), free = kriging(rows, p, map, n, d, smooth, [0, 0]);
  assert.ok(held.deviations[1] > 3 * free.deviations[1]);
});

test("without an evaluation the variance is that of the kriging alone", () => agrees({ ...inverse, roughness: null }, places, "not evaluated"));

test("a component of the map is predicted from its own points", () => agrees({ ...inverse, components: Uint32Array.from({ length: n }, (_, i) => (map[2 * i] > 0 ? 1 : 0)) }, places, "components"));

test("coinciding points and a single neighbor do no harm", () => {
  const same = new Float64Array(n * d).fill(1), one = { ...inverse, neighbors: 1 };
  for (const [where, way] of [[same, inverse], [map, one]]) {
    const fast = reconstruct(page, { map: where, dims: d, inverse_transform: way }, [1.5, 1]), slow = kriging(rows, p, where, n, d, way, [1.5, 1]);
    slow.row.forEach((value, j) => assert.ok(Math.abs(fast.row[j] - value) < 1e-6 * unit, `${fast.row[j]} ${value}`));
  }
});

test("a feature that is the same everywhere is reconstructed to the last bit and is certain", () => {
  for (const place of places) {
    const answer = reconstruct(page, { map, dims: d, inverse_transform: inverse }, place);
    assert.equal(answer.row[5], 7);
    assert.equal(answer.deviations[5], 0);
  }
});

test("the linear inverse transform of a principal plane returns the data's projection", () => {
  const { mean, axes, map: plane } = pca(rows, n, p, 2), linear = { rule: "linear", mean, axes, deviations: new Float64Array(p).fill(0.5), calibration_factor: [1, 1] };
  const answer = reconstruct(page, { map: plane, dims: 2, inverse_transform: linear }, [plane[6], plane[7]]);
  for (let j = 0; j < p; j++) {
    let wanted = mean[j];
    for (let c = 0; c < 2; c++) for (let k = 0; k < p; k++) wanted += axes[2 * j + c] * axes[2 * k + c] * (rows[3 * p + k] - mean[k]);
    assert.ok(Math.abs(answer.row[j] - wanted) < 1e-12);
    assert.ok(Math.abs(answer.margins[j] - MARGIN * 0.5) < 1e-15);
  }
});

test("the nearest rows are those of a full sort, ties by their number", () => {
  const grid = Float64Array.from({ length: 200 }, (_, at) => (at % 2 ? at % 7 : Math.floor(at / 3) % 5)), found = nearest(grid, 2, [2, 3], 12);
  const sorted = Array.from({ length: 100 }, (_, i) => [Math.hypot(grid[2 * i] - 2, grid[2 * i + 1] - 3), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, 12);
  assert.deepEqual(found.map(({ row }) => row), sorted.map(([, i]) => i));
});

/** The part of a Gaussian between two numbers, by Simpson's rule. */
function between(a, b) {
  const steps = 4000, h = (b - a) / steps, density = (z) => Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
  let sum = density(a) + density(b);
  for (let i = 1; i < steps; i++) sum += density(a + i * h) * (i % 2 ? 4 : 2);
  return (sum * h) / 3;
}

test("widths in units hold the share that was promised, for logarithms too", () => {
  assert.deepEqual(widthsInUnits({ center: 3, scale: 2, log: false }, 1, [0.5, 1]), [1, 2]);
  for (const log of [true, "one_plus"]) for (const width of [1e-6, 0.2, 1.1]) {
    const column = { center: 0.4, scale: 0.8, log }, z = 0.7, inverse = (z) => (log === true ? Math.exp : Math.expm1)(0.4 + 0.8 * z), of = (x) => ((log === true ? Math.log : Math.log1p)(x) - 0.4) / 0.8;
    const [deviation, margin] = widthsInUnits(column, z, [width, MARGIN * width]), x = inverse(z);
    for (const [D, share] of [[deviation, 0.6826894921], [margin, 0.95]]) {
      const low = of(x - D), held = between(Math.max(-9, Number.isFinite(low) ? (low - z) / width : -9), (of(x + D) - z) / width);
      assert.ok(Math.abs(held - share) < 1e-6, `${log} ${width}: ${held} and not ${share}`);
    }
  }
});

test("a map without an inverse transform gives the reason", () => {
  assert.match(refusal(page, { inverse_transform: null, dims: 2 }), /no inverse transform/);
  assert.match(refusal({ ...page, rows: null, rows_note: "too large" }, { inverse_transform: inverse, dims: 2 }), /too large/);
  assert.match(refusal(page, { inverse_transform: inverse, dims: 3 }), /two coordinates and this map has 3/);
  assert.equal(refusal(page, { inverse_transform: inverse, dims: 2 }), null);
});
