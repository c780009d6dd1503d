// A page that the program wrote (PAGE=report.html), and its inverse transform against `eigenfold reconstruct`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { solve } from "../fixtures/math.mjs";
import { UNSEEN, browse, settled } from "./browser.mjs";

const { PAGE, INVERSE, MAP, PLACES, ROWS, STD, INTERVALS } = process.env, skip = PAGE ? false : "no PAGE was given";
let browser, page, document_;

before(async () => {
  if (skip) return;
  document_ = JSON.parse(readFileSync(PAGE, "utf8").match(/<script id="eigenfold-data" type="application\/json">([\s\S]*?)<\/script>/)[1]);
  browser = await browse(UNSEEN);
  page = await browser.open(PAGE);
}, { timeout: 300_000 });
after(() => browser?.close());

test("the program's page loads without a complaint and without a request", { skip }, () => {
  assert.deepEqual([page.errors, page.requests], [[], []]);
});

test("every map of the document is in the page, drawn or with its reason", { skip }, async () => {
  assert.equal(await page.locator(".measures tbody tr").count(), document_.maps.length);
  const count = await page.evaluate(() => window.eigenfold.panels.length);
  for (let at = 0; at < count; at++) {
    await page.evaluate((at) => window.eigenfold.panels[at].element.scrollIntoView(), at);
    await page.waitForFunction((at) => window.eigenfold.panels[at].visible, at);
    await settled(page);
    const many = await page.evaluate((at) => {
      const canvas = window.eigenfold.panels[at].element.querySelector("canvas"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let sum = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] > 0) sum++;
      return sum;
    }, at);
    assert.ok(many > 100, `panel ${at} has ${many} pixels`);
  }
});

test("every number of every map is finite, and every neighbor is a row", { skip }, async () => {
  const wrong = await page.evaluate(() => {
    const { page } = window.eigenfold.desk, out = [];
    for (const map of page.maps) if (map.map && (map.map.length !== page.n * map.dims || map.map.some((y) => !Number.isFinite(y)))) out.push(map.id);
    if (page.neighbors?.ids.some((i) => i >= page.n)) out.push("neighbors");
    if (page.rows && page.rows.length !== page.n * page.columns.length) out.push("rows");
    for (const label of page.labels) if (label.values.length !== page.n) out.push(label.name);
    return out;
  });
  assert.deepEqual(wrong, []);
});

test("the program's page fits a phone", { skip }, async () => {
  await page.setViewportSize({ width: 375, height: 800 });
  await settled(page);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 375);
  await page.setViewportSize({ width: 1400, height: 1000 });
});

/** Lines of numbers; a first line with a letter in it is a head. */
function csv(path) {
  const lines = readFileSync(path, "utf8").trim().split(/\r?\n/).map((line) => line.split(","));
  return (lines[0].some((cell) => Number.isNaN(Number(cell))) ? lines.slice(1) : lines).map((line) => line.map(Number));
}

/** Places of a map as they are on the same map turned, mirrored and moved: the best affine map between the two, which must fit. */
function turned(from, to, places) {
  const rows = from.map(([x, y]) => [x, y, 1]), A = [0, 1, 2].map((a) => [0, 1, 2].map((b) => rows.reduce((sum, row) => sum + row[a] * row[b], 0)));
  const fit = [0, 1].map((c) => solve(A, [0, 1, 2].map((a) => rows.reduce((sum, row, i) => sum + row[a] * to[2 * i + c], 0)))), size = Math.max(...to.map(Math.abs));
  const at = ([x, y]) => fit.map(([a, b, c]) => a * x + b * y + c);
  from.forEach((place, i) => at(place).forEach((value, c) => assert.ok(Math.abs(value - to[2 * i + c]) < 1e-9 * size, `MAP is another map: row ${i + 1} is ${value - to[2 * i + c]} off`)));
  return places.map(at);
}

test("the inverse transform is that of eigenfold reconstruct", { skip: INVERSE && PLACES ? skip : "no INVERSE and PLACES were given" }, async () => {
  const here = await page.evaluate((id) => Array.from(window.eigenfold.desk.page.maps.find((one) => one.id === id).map), INVERSE);
  const places = MAP ? turned(csv(MAP), here, csv(PLACES)) : csv(PLACES), said = await page.evaluate(([id, places]) => {
    const { desk, reconstruct, answerInUnits } = window.eigenfold, map = desk.page.maps.find((one) => one.id === id);
    return places.map((place) => { const { row, deviations, margins } = answerInUnits(desk.page.columns, reconstruct(desk.page, map, place)); return [row, deviations, margins].map((values) => Array.from(values)); });
  }, [INVERSE, places]);
  [ROWS, STD, INTERVALS].forEach((path, what) => {
    if (!path) return;
    const wanted = csv(path), size = Math.max(...wanted.flat().map(Math.abs));
    let worst = 0;
    wanted.forEach((line, i) => line.forEach((value, j) => { worst = Math.max(worst, Math.abs(said[i][what][j] - value) / size); }));
    console.log(`${path}: off by at most ${worst.toExponential(1)} of the largest`);
    assert.ok(worst < 1e-6, `${path}: off by ${worst}`);
  });
});
