// Colors that can be distinguished, and the small geometry of the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gaussians, random } from "../fixtures/math.mjs";
import { load } from "./sources.mjs";

const { TEN, rgb, missing, classColor, classShape, sequential, MOST } = await load("color/palette.ts");
const { Grid } = await load("draw/pick.ts");
const { Cloud } = await load("draw/cloud.ts");
const { inside, around } = await load("lasso.ts");
const { ticks, number, seconds } = await load("format.ts");

const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);

/** B. Ottosson. A perceptual color space for image processing. 2020. */
function oklab([r, g, b]) {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b), m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b), s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

/** Machado, Oliveira and Fernandes 2009, severity 1: without red, green or blue cones. */
const BLIND = [
  [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
];

function seen(color) {
  const light = color.map(linear);
  return BLIND.map((sight) => oklab(sight.map((row) => Math.min(1, Math.max(0, row.reduce((sum, w, c) => sum + w * light[c], 0))))));
}

test("no two of the ten colors look alike, whatever color vision one has", () => {
  for (const theme of ["light", "dark"]) {
    const own = TEN[theme], all = [...own.map(rgb), missing(theme === "dark")].map(seen);
    // By the same measure tab10 has 0.007, Tol's nine muted colors 0.05 and Petroff's ten 0.06; normal sight is asked for more.
    for (let a = 0; a < own.length; a++) for (let b = 0; b < all.length; b++) if (a !== b) all[a].forEach((color, sight) => {
      const away = Math.hypot(...color.map((value, c) => value - all[b][sight][c]));
      assert.ok(away > (sight === 0 ? 0.14 : 0.075), `${own[a]} and ${own[b] ?? "missing"} by sight ${sight}: ${away}`);
    });
  }
});

test("classes with neighboring numbers differ more", () => {
  for (const theme of ["light", "dark"]) TEN[theme].slice(1).forEach((color, at) => {
    const [a, b] = [TEN[theme][at], color].map((hex) => seen(rgb(hex))[0]);
    assert.ok(Math.hypot(...a.map((value, c) => value - b[c])) > 0.18, `${TEN[theme][at]} and ${color}`);
  });
});

test("the pictures of the program have the same colors", () => {
  const rust = readFileSync(new URL("../../crates/plot/src/palette.rs", import.meta.url), "utf8");
  for (const theme of ["light", "dark"]) {
    const block = rust.match(new RegExp(`const ${theme.toUpperCase()}_CLASSES[^=]*= \\[([^;]*)\\];`))[1];
    const theirs = [...block.matchAll(/Rgb\((\d+), (\d+), (\d+)\)/g)].map(([, ...color]) => color.map(Number));
    assert.deepEqual(theirs, TEN[theme].map(rgb));
    assert.ok(rust.includes(`other: Rgb(${missing(theme === "dark").join(", ")})`), `missing values, ${theme}`);
  }
});

test("up to 26 classes no color is used twice, and ten share a shape at most", () => {
  const pairs = new Set(Array.from({ length: MOST }, (_, at) => String(classColor(at, MOST, false))));
  assert.equal(pairs.size, MOST);
  assert.deepEqual([0, 9, 10, 19, 20, 25].map((at) => classShape(at, MOST)), [0, 0, 1, 1, 2, 2]);
});

test("larger numbers are lighter", () => {
  for (const dark of [false, true]) for (let at = 1; at < 20; at++) assert.ok(oklab(sequential(at / 19, dark).map(linear))[0] > oklab(sequential((at - 1) / 19, dark).map(linear))[0]);
});

test("the grid finds the point that a look at all points finds", () => {
  const gauss = gaussians(random(8)), points = Float32Array.from({ length: 2000 }, gauss), grid = new Grid(points), next = random(2);
  for (let round = 0; round < 300; round++) {
    const [x, y, reach] = [4 * next() - 2, 4 * next() - 2, 0.3 * next()];
    let best = -1, least = reach;
    for (let i = 0; i < 1000; i++) { const away = Math.hypot(points[2 * i] - x, points[2 * i + 1] - y); if (away < least) { least = away; best = i; } }
    assert.equal(grid.nearest(x, y, reach), best);
    assert.notEqual(grid.nearest(x, y, reach, (i) => i !== best), best === -1 ? 0.5 : best);
  }
});

test("points on one place, one point and no point have a grid", () => {
  assert.equal(new Grid(new Float32Array(0)).nearest(0, 0, 1), -1);
  assert.equal(new Grid(Float32Array.of(0.5, 0.5)).nearest(0.4, 0.5, 0.2), 0);
  assert.equal(new Grid(new Float32Array(20).fill(3)).nearest(3, 3, 0.1), 0);
});

test("a few points far out do not make a dot of all others, and are counted; a tail stays in the frame", () => {
  const gauss = gaussians(random(3)), values = Float64Array.from({ length: 1000 }, gauss), map = { map: values, dims: 2 };
  assert.deepEqual([new Cloud(map).outside, new Cloud(map).reach], [0, 1]);
  values[10] = 500;
  values[21] = -90;
  const cloud = new Cloud(map);
  assert.equal(cloud.outside, 2);
  assert.ok(cloud.half < 5 && cloud.reach > 100);
  const tail = Float64Array.from({ length: 1000 }, (_, at) => Math.exp(values[at % 900 + 30]));
  assert.equal(new Cloud({ map: tail, dims: 2 }).outside, 0);
});

test("a lasso holds what is inside its line, also where it is not convex", () => {
  const line = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]], at = [[1, 1], [2, 2], [3, 1], [5, 1], [2, 0.5]];
  assert.deepEqual([...inside(line, (i) => at[i], at.length)], [1, 0, 1, 0, 1]);
  assert.deepEqual([...around(2, 1, 1.1, (i) => at[i], at.length)], [1, 1, 1, 0, 1]);
});

test("numbers are short and ticks are round", () => {
  assert.deepEqual([0.98012, 12345.6, -0.5, 1.5e-7, 0, NaN, null].map((x) => number(x)), ["0.98", "12,346", "−0.5", "1.50e−7", "0", "–", "–"]);
  assert.deepEqual([0.004, 3.14, 300, 36000].map(seconds), ["4 ms", "3.1 s", "5 min", "10 h"]);
  assert.deepEqual(ticks(0, 1, 4), [0, 0.5, 1]);
  assert.deepEqual(ticks(-3, 7, 5), [-2, 0, 2, 4, 6]);
});
