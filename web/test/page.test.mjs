// The page in a browser: what it draws, what pointer and keys do, and what it must not do.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { kriging } from "../fixtures/math.mjs";
import { Block, writePage } from "../fixtures/block.mjs";
import { UNSEEN, browse, cpu, settled } from "./browser.mjs";

const PAGES = process.env.PAGES ?? "out";
let browser, page;

before(async () => {
  browser = await browse(UNSEEN);
  page = await browser.open(resolve(PAGES, "small.html"));
}, { timeout: 120_000 });
after(() => {
  console.log(`the browser took ${(cpu(browser.profile) / 1000).toFixed(0)} s of processor time`);
  return browser.close();
});

beforeEach(async () => {
  await page.evaluate(() => {
    const { desk, panels } = window.eigenfold, { state } = desk;
    document.querySelector("dialog")?.close();
    document.activeElement?.blur();
    state.lasso = false;
    document.body.classList.remove("lassoing");
    state.singled.clear();
    state.coloring = desk.colorings[0].key;
    document.getElementById("color-by").value = state.coloring;
    state.setPinned(-1);
    state.setHover(-1, null);
    state.setSelected(null);
    state.tell("color");
    panels.forEach((panel) => { panel.view.home(); panel.moved(); });
    document.querySelector(".map").scrollIntoView();
  });
  await page.mouse.move(2, 2);
  await settled(page);
});

const state = (read) => page.evaluate(`(${read})(window.eigenfold.desk.state, window.eigenfold)`);
const plot = (at) => page.locator(".map .plot:not(.absent)").nth(at);

/** Where a point is on the screen. */
async function where(panel, row) {
  const box = await plot(panel).boundingBox(), [x, y] = await page.evaluate(([panel, row]) => { const p = window.eigenfold.panels[panel]; return p.view.of(p.cloud, row); }, [panel, row]);
  return [box.x + x, box.y + y];
}

/** A place of a panel with no point near it. */
async function empty(panel) {
  const box = await plot(panel).boundingBox();
  const [x, y] = await page.evaluate((panel) => {
    const p = window.eigenfold.panels[panel];
    for (let y = 30; y < p.view.height - 30; y += 7) for (let x = 30; x < p.view.width - 30; x += 7) if (p.pick(x, y, 18) < 0) return [x, y];
    return null;
  }, panel);
  return [box.x + x, box.y + y];
}

/** How many pixels of each panel's canvas are not empty. */
const inked = (kind) => page.evaluate((kind) => [...document.querySelectorAll(`.map canvas.${kind}`)].map((canvas) => {
  if (canvas.style.visibility === "hidden") return 0;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let many = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i] > 0) many++;
  return many;
}), kind);

test("it loads without a complaint and asks no network for anything", async () => {
  assert.deepEqual(page.errors, []);
  assert.deepEqual(page.requests, []);
  assert.equal(await page.title(), "digits, drawn by hand");
  assert.equal(await state((_, { desk }) => desk.painter.kind), "webgl");
  assert.doesNotMatch(readFileSync(resolve(PAGES, "small.html"), "utf8"), /readPixels/, "what the browser is allowed, the page is not");
});

test("all maps are drawn, in ranked order, and failed ones are there with their reason", async () => {
  for (const at of [3, 6]) { await plot(at).scrollIntoViewIfNeeded(); await settled(page); }
  const filled = await inked("points");
  assert.equal(filled.length, 7);
  filled.forEach((many, at) => assert.ok(many > 600, `panel ${at} has ${many} pixels`));
  const ranks = (await page.locator(".map .rank").allTextContents()).map(Number);
  assert.deepEqual(ranks, [...ranks].sort((a, b) => a - b));
  assert.equal(await page.locator(".map.none").count(), 2);
  assert.match(await page.locator(".map.none").first().textContent(), /failed.*3 connected components; give more neighbors/);
  for (const caution of await page.locator(".map .caution").all()) assert.ok((await caution.textContent()).length > 20);
});

test("points have the colors of their classes", async () => {
  const [x, y] = await where(0, 11), box = await plot(0).boundingBox();
  const [color, wanted] = await page.evaluate(([x, y]) => {
    const { panels, desk } = window.eigenfold, canvas = panels[0].element.querySelector("canvas"), ratio = devicePixelRatio;
    return [[...canvas.getContext("2d").getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data], [...desk.colorsOf(panels[0].map).slice(44, 47)]];
  }, [x - box.x, y - box.y]);
  assert.ok(color[3] > 180, `${color}`);
  wanted.forEach((value, c) => assert.ok(Math.abs(color[c] - value) < 60, `${color} for ${wanted}`));
});

test("hovering lights the point in all maps and shows its row", async () => {
  assert.deepEqual((await inked("marks")).filter((many) => many > 0), []);
  await page.mouse.move(...(await where(0, 41)));
  await settled(page);
  assert.equal(await state((s) => s.hover), 41);
  const marked = await inked("marks"), seen = await state((_, { panels }) => panels.map((panel) => panel.visible));
  marked.forEach((many, at) => assert.ok(!seen[at] || many > 60, `panel ${at}: ${many}`));
  assert.match(await page.locator(".inspector").first().textContent(), /digit 42.*digit1/);
  assert.equal(await page.locator(".inspector canvas.image").count(), 1);
  assert.ok(await page.locator(".hover-card").isVisible());
});

test("a click on a point lists its true neighbors and leads to them", async () => {
  await page.mouse.click(...(await where(0, 41)));
  await settled(page);
  assert.equal(await state((s) => s.pinned), 41);
  assert.equal(await page.locator(".neighbors li").count(), 10);
  const kept = await page.locator(".map .kept").allTextContents();
  assert.ok(kept.every((text) => /^\d+ of its 10 neighbors kept$/.test(text)), kept.join());
  await page.locator(".neighbors button").first().click();
  assert.equal(await state((s, { desk }) => s.pinned === desk.page.neighbors.ids[410]), true);
  await page.keyboard.press("Escape");
  assert.equal(await state((s) => s.pinned), -1);
});

test("a click on the empty background shows the row that the formulas give there", async () => {
  await page.mouse.click(...(await empty(0)));
  await settled(page);
  assert.match(await page.locator(".inspector").first().textContent(), /What would be here/);
  const { place, answer, held } = await page.evaluate(() => {
    const { desk } = window.eigenfold, { map, place } = desk.state.probe, { page } = desk, b = map.inverse_transform;
    const plain = (values) => Array.from(values), inverse = { ...b, means: plain(b.means), spread: plain(b.spread), bases: plain(b.bases), widths: plain(b.widths) };
    const said = window.eigenfold.reconstruct(page, map, place);
    return { place, answer: [plain(said.row), plain(said.deviations)], held: { inverse, map: plain(map.map), rows: plain(page.rows), n: page.n } };
  });
  const slow = kriging(Float64Array.from(held.rows), 64, Float64Array.from(held.map), held.n, 2, held.inverse, place);
  slow.row.forEach((value, j) => assert.ok(Math.abs(value - answer[0][j]) < 1e-6 * held.inverse.unit));
  slow.deviations.forEach((value, j) => assert.ok(Math.abs(value - answer[1][j]) < 1e-6 * held.inverse.unit));
  const pixels = await page.evaluate(() => [...document.querySelectorAll(".inspector canvas.image")].map((canvas) => [...canvas.getContext("2d").getImageData(0, 0, 8, 8).data].filter((_, i) => i % 4 === 0)));
  assert.equal(pixels.length, 2, "the image and its deviation");
  slow.row.forEach((value, j) => assert.ok(Math.abs(pixels[0][j] - Math.min(255, Math.max(0, (255 * value) / 16))) < 1.5, `pixel ${j}`));
});

test("the mark on the background can be dragged", async () => {
  const [x, y] = await empty(0);
  await page.mouse.click(x, y);
  const first = await state((s) => s.probe.place);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 30, y + 12, { steps: 4 });
  await page.mouse.up();
  const second = await state((s) => s.probe.place);
  assert.ok(second[0] > first[0] && second[1] < first[1]);
});

test("a map without an inverse transform is reported", async () => {
  const at = await state((_, { panels }) => panels.findIndex((panel) => panel.map.dims === 3));
  await plot(at).scrollIntoViewIfNeeded();
  await page.mouse.click(...(await empty(at)));
  assert.match(await page.locator(".inspector").first().textContent(), /no inverse transform/);
});

test("a lasso selects the points inside it, and they can be saved", async () => {
  const box = await plot(0).boundingBox(), around = [[0.02, 0.02], [0.5, 0.02], [0.5, 0.98], [0.02, 0.98]].map(([x, y]) => [box.x + box.width * x, box.y + box.height * y]);
  await page.keyboard.down("Shift");
  await page.mouse.move(...around[0]);
  await page.mouse.down();
  for (const at of around.slice(1)) await page.mouse.move(...at, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await settled(page);
  const wanted = await state((_, { panels: [panel], desk }) => { let many = 0; for (let i = 0; i < desk.page.n; i++) { const [x, y] = panel.view.of(panel.cloud, i); if (x > 0.02 * panel.view.width && x < 0.5 * panel.view.width && y > 0.02 * panel.view.height && y < 0.98 * panel.view.height) many++; } return many; });
  const many = await state((s) => s.selectedCount);
  assert.ok(many > 50 && Math.abs(many - wanted) <= 6, `${many} and not ${wanted}`);
  assert.match(await page.locator(".bar .selected").textContent(), new RegExp(`${many} points selected`));
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save their indices" }).click()]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.equal(lines.length, many + 1);
  assert.equal(lines[0], "index,name");
  await page.keyboard.press("Escape");
  assert.equal(await state((s) => s.selected), null);
});

test("classes are singled out in the legend", async () => {
  await page.locator(".legend li button").nth(2).click();
  assert.deepEqual(await state((s, { desk }) => [s.anyDim, s.lit.filter((bit, i) => (bit === 1) !== (desk.classes[i] === 2)).length]), [true, 0]);
  assert.equal(await page.locator('.legend [aria-pressed="true"]').count(), 1);
});

test("points are colored by numbers, columns and measures; missing ones are grey", async () => {
  const pick = async (title) => { await page.locator("#color-by").selectOption({ label: title }); await settled(page); };
  await pick("mean ink");
  assert.equal(await page.locator(".colorbar").count(), 1);
  assert.deepEqual(await state((_, { desk, panels }) => [...desk.colorsOf(panels[0].map).slice(4 * 49, 4 * 49 + 3)]), [190, 191, 194]);
  await pick("trustworthiness");
  assert.equal(await state((_, { desk, panels }) => desk.colorsOf(panels[0].map) !== desk.colorsOf(panels[1].map)), true);
  await pick("pixel 4,4");
  await pick("density in the data");
  await pick("writer");
  assert.equal(await state((_, { desk, panels }) => new Set(Array.from(desk.colorsOf(panels[0].map)).filter((_, i) => i % 4 === 3)).size), 3);
  await pick("day");
  assert.match(await page.locator(".legend").textContent(), /60 classes are more than the eye can distinguish/);
  assert.deepEqual(page.errors, []);
});

test("the table sorts best first, whichever way is better", async () => {
  const column = async (at) => (await page.locator(`.measures tbody tr:not(.none) td:nth-child(${at + 2}) .value`).allTextContents()).map(Number);
  const press = (name) => page.locator(".measures thead button", { hasText: name }).click();
  await press("trustworthiness");
  let values = await column(0);
  assert.deepEqual(values, [...values].sort((a, b) => b - a));
  await press("stress");
  values = await column(3);
  assert.deepEqual(values, [...values].sort((a, b) => a - b));
  await press("stress");
  values = await column(3);
  assert.deepEqual(values, [...values].sort((a, b) => b - a));
  assert.equal(await page.locator('.measures [aria-sort="ascending"]').count(), 1);
  assert.equal(await page.locator(".measures tbody tr.none").count(), 2, "failed and skipped methods stay");
  await press("Map");
  await page.locator(".measures thead button").nth(1).focus();
  assert.match(await page.locator(".tip").textContent(), /near on the map are near in the data/);
});

test("the animation moves with its handle and by itself", async () => {
  const places = () => state((_, { panels }) => Array.from(panels[0].cloud.points.slice(0, 40))), end = await places();
  const slider = page.locator(".map .animation input").first();
  await slider.fill("3");
  assert.equal(await page.locator(".map .animation output").first().textContent(), "step 30");
  assert.notDeepEqual(await places(), end);
  await slider.fill(await slider.getAttribute("max"));
  assert.deepEqual(await places(), end);
  await page.locator(".map .animation .play").first().click();
  await page.waitForFunction((first) => window.eigenfold.panels[0].cloud.points[0] !== first, end[0]);
  await page.locator(".map .animation .play").first().click();
  await slider.fill(await slider.getAttribute("max"));
});

test("a sweep is one panel with a slider", async () => {
  const slider = page.locator(".map .sweep input"), before = await state((_, { panels }) => panels[0].map.id);
  assert.equal(await slider.count(), 1);
  await slider.fill("0");
  assert.equal(await state((_, { panels }) => panels[0].map.id), "tsne perplexity=5");
  assert.equal(await page.locator(".map .sweep output").textContent(), "perplexity 5");
  await settled(page);
  await page.locator(".map .sweep input").fill(before.endsWith("15") ? "1" : "2");
});

test("the wheel zooms where the reader has clicked, a drag moves, a double click resets", async () => {
  const box = await plot(1).boundingBox(), [x, y] = [box.x + 100, box.y + 120];
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -200);
  assert.equal(await state((_, { panels }) => panels[1].view.zoom), 1, "the wheel scrolls the page");
  // A browser sends a wheel that turns on to where it began to turn.
  await page.waitForTimeout(1000);
  await plot(1).focus();
  await page.evaluate(() => document.querySelector(".map").scrollIntoView());
  const again = await plot(1).boundingBox();
  await page.mouse.move(again.x + 100, again.y + 120);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(() => window.eigenfold.panels[1].view.zoom > 1.3);
  await page.mouse.down();
  await page.mouse.move(again.x + 160, again.y + 150, { steps: 4 });
  await page.mouse.up();
  assert.ok(await state((_, { panels }) => panels[1].view.x !== 0));
  await page.mouse.dblclick(again.x + 40, again.y + 40);
  assert.equal(await state((_, { panels }) => panels[1].view.isHome), true);
  assert.equal(await state((s) => s.probe), null, "a double click does not probe the background");
});

test("three coordinates turn, one is a strip, four are chosen from", async () => {
  const find = (dims) => page.evaluate((dims) => window.eigenfold.panels.findIndex((panel) => panel.map.dims === dims), dims);
  const three = await find(3);
  await plot(three).scrollIntoViewIfNeeded();
  const box = await plot(three).boundingBox();
  await page.mouse.move(box.x + 60, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 140, box.y + 90, { steps: 4 });
  await page.mouse.up();
  const turn = await page.evaluate((at) => window.eigenfold.panels[at].view.turn, three);
  assert.ok(Math.abs(turn[0]) < 0.95);
  for (let r = 0; r < 3; r++) assert.ok(Math.abs(Math.hypot(...turn.slice(3 * r, 3 * r + 3)) - 1) < 1e-9);
  assert.match(await page.locator(".map", { hasText: "Isomap, 1 coordinate" }).textContent(), /the height is scattered at random and means nothing/);
  const four = await find(4), first = await page.evaluate((at) => window.eigenfold.panels[at].cloud.points[0], four);
  await page.locator(".map .pair select").first().selectOption("3");
  assert.notEqual(await page.evaluate((at) => window.eigenfold.panels[at].cloud.points[0], four), first);
});

test("the name of a map opens all that is known of it, and Escape closes it", async () => {
  const title = page.locator(".map .title").first();
  await title.focus();
  await page.keyboard.press("Enter");
  const dialog = page.locator("dialog[open]"), text = await dialog.textContent();
  for (const part of ["Warnings", "Quality", "Facts", "divergence", "Optimization", "Neighborhoods kept", "Parameters", "perplexity", "default", "Distances between clusters"]) assert.ok(text.includes(part), part);
  await page.keyboard.press("Escape");
  assert.equal(await dialog.count(), 0);
  assert.ok(await title.evaluate((element) => element === document.activeElement), "focus returns");
});

test("keys alone reach a map, a point, the background and a selection", async () => {
  await page.locator(".map .title").first().focus();
  await page.keyboard.press("Tab");
  assert.ok(await plot(0).evaluate((element) => element === document.activeElement));
  const [target, from] = await state((_, { panels: [panel] }) => [panel.view.of(panel.cloud, 41), [panel.view.width / 2, panel.view.height / 2]]);
  const steps = [Math.round((target[0] - from[0]) / 12), Math.round((target[1] - from[1]) / 12)];
  for (let i = 0; i < Math.abs(steps[0]); i++) await page.keyboard.press(steps[0] < 0 ? "ArrowLeft" : "ArrowRight");
  for (let i = 0; i < Math.abs(steps[1]); i++) await page.keyboard.press(steps[1] < 0 ? "ArrowUp" : "ArrowDown");
  assert.ok(await state((s) => s.hover >= 0), "a point under the cross is lit");
  await page.keyboard.press("Enter");
  assert.ok(await state((s) => s.pinned >= 0 || s.probe !== null));
  await page.keyboard.press("s");
  assert.ok(await state((s) => s.selectedCount > 0));
  for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
  assert.deepEqual(await state((s) => [s.pinned, s.probe, s.selected]), [-1, null, null]);
  await page.keyboard.press("+");
  assert.ok(await state((_, { panels }) => panels[0].view.zoom > 1));
  await page.keyboard.press("0");
});

test("texts of the data are texts: nothing in them runs", async () => {
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator("img").count(), 0);
  await page.evaluate(() => window.eigenfold.desk.state.setPinned(3));
  assert.match(await page.locator(".inspector h2").first().textContent(), /<\/script><img src=x/);
  await page.locator(".map.none .title").last().click();
  assert.equal(await page.locator("dialog[open] img").count(), 0);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(page.requests, []);
});

test("what the page is forbidden stays forbidden", async () => {
  const tried = await page.evaluate(async () => {
    const out = [];
    try { await fetch("https://example.org/"); out.push("fetched"); } catch { out.push("refused"); }
    const image = new Image();
    out.push(await new Promise((done) => { image.onload = () => done("loaded"); image.onerror = () => done("refused"); image.src = "https://example.org/x.png"; }));
    try { out.push(String(eval("1+1"))); } catch { out.push("refused"); }
    return out;
  });
  assert.deepEqual(tried, ["refused", "refused", "refused"]);
  page.errors.length = 0;
  page.requests.length = 0;
});

test("a map is saved as a table and as a picture", async () => {
  await page.locator(".map").nth(1).hover();
  const [table] = await Promise.all([page.waitForEvent("download"), page.locator(".map").nth(1).getByText("CSV").click()]);
  const lines = readFileSync(await table.path(), "utf8").trim().split("\n");
  assert.equal(lines.length, 601);
  assert.equal(lines[0], "name,y1,y2,y3,y4");
  assert.equal(Number(lines[1].split(",")[1]), await state((_, { panels }) => panels[1].map.map[0]));
  const [picture] = await Promise.all([page.waitForEvent("download"), page.locator(".map").nth(1).getByText("PNG").click()]);
  const bytes = readFileSync(await picture.path());
  assert.deepEqual([...bytes.subarray(1, 4)], [80, 78, 71]);
  assert.ok(bytes.length > 20_000);
});

test("dark colors follow the system and the toggle", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor), light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  await settled(page);
  assert.notEqual(await background(), light);
  await page.getByRole("button", { name: "Use light colors" }).click();
  assert.equal(await background(), light);
  await page.emulateMedia({ colorScheme: "light" });
});

test("on a phone nothing is wider than the screen", async () => {
  await page.setViewportSize({ width: 375, height: 800 });
  await settled(page);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 375);
  await page.locator(".map .title").first().click();
  assert.ok((await page.evaluate(() => document.querySelector("dialog").scrollWidth)) <= 375);
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 1400, height: 1000 });
});

test("rows that are no images have bars with whiskers, in the user's units", async () => {
  const other = await browser.open(resolve(PAGES, "table.html"));
  await other.evaluate(() => { const { desk, panels } = window.eigenfold, { map } = panels.find((panel) => panel.map.inverse_transform); desk.state.setProbe({ map, place: [0.2, 0.1] }); });
  assert.equal(await other.locator(".inspector .deviation").count(), 7);
  const values = await other.locator(".inspector .bars .value").allTextContents();
  assert.ok(values.every((text) => / ± /.test(text)), values.join());
  await other.evaluate(() => window.eigenfold.desk.state.setPinned(5));
  assert.equal(await other.locator(".inspector h2").first().textContent(), "row 104");
  assert.deepEqual([other.errors, other.requests], [[], []]);
  await other.close();
});

test("without WebGL the same maps are drawn by the pen, and the page says so", async () => {
  const other = await browser.open(resolve(PAGES, "table.html"), "#draw=canvas");
  assert.equal(await other.evaluate(() => window.eigenfold.desk.painter.kind), "canvas");
  assert.match(await other.locator(".made").textContent(), /WebGL is not available/);
  const many = await other.evaluate(() => { const canvas = document.querySelector("canvas.points"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height); return data.filter((value, i) => i % 4 === 3 && value > 0).length; });
  assert.ok(many > 1000);
  await other.close();
});

test("poor pages open too: no map at all, one row, no labels, values that are missing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "eigenfold-poor-")), assets = new URL("../../crates/page/assets/", import.meta.url);
  const map = { id: "pca", method: "pca", title: "PCA", sweep: null, status: "done", reason: null, good_for: "", caution: "", seconds: null, memory_mb: null, converged: null, parameters: [], facts: [], warnings: [], dims: 2, quality: {}, pointwise: {}, spectrum: null, curve: null, rnx: null, shepard: null, inverse_transform: null, shade: null, animation: null };
  const input = (n) => ({ name: "x.csv", n, shown: n, features: 2, metric: "cosine", notes: [] });
  const base = { version: 1, made_by: "eigenfold", title: "poor", columns: [{ name: "a", center: 0, scale: 1, log: false }, { name: "b", center: 0, scale: 1, log: false }], rows: null, image: null, names: null, labels: [], density: null, neighbors: null, measures: [], ranking: { rule: "", order: [] }, live: null };
  const poor = {
    failed: (block) => ({ ...base, input: input(0), maps: [{ ...map, status: "failed", reason: "the input has no rows", map: null }] }),
    one: (block) => ({ ...base, input: input(1), rows: block.add(Float32Array.of(1, 2), [1, 2]), maps: [{ ...map, map: block.add(Float64Array.of(0, 0), [1, 2]) }] }),
    missing: (block) => ({ ...base, input: input(3), measures: [{ key: "t", title: "t", explain: "", better: "higher", low: null, high: null, pointwise: true }], labels: [{ name: "c", kind: "classes", classes: [], values: block.add(Uint16Array.of(65535, 65535, 65535)) }, { name: "v", kind: "number", values: block.add(Float32Array.of(NaN, NaN, NaN)) }],
      maps: [{ ...map, map: block.add(Float64Array.of(1, 1, 1, 1, 1, 1), [3, 2]), quality: { t: { value: null, error: null } }, pointwise: { t: block.add(Float32Array.of(NaN, NaN, 0.5)) }, spectrum: [], curve: [], rnx: { k: [1], value: [0.5] }, shepard: block.add(new Float32Array(0), [0, 2]) }] }),
  };
  for (const [name, make] of Object.entries(poor)) {
    const block = new Block(), path = join(folder, `${name}.html`);
    writePage(path, assets, make(block), block);
    const other = await browser.open(path);
    assert.deepEqual([name, other.errors, other.requests, await other.locator(".broken").count()], [name, [], [], 0]);
    for (const option of await other.locator("#color-by option").all()) await other.locator("#color-by").selectOption(await option.getAttribute("value"));
    await other.locator(".map .title").first().click();
    await settled(other);
    assert.deepEqual([name, other.errors, await other.locator("dialog[open]").count()], [name, [], 1]);
    await other.close();
  }
  rmSync(folder, { recursive: true });
});

test("a page without its data says what is wrong", async () => {
  const other = await browser.context.newPage(), read = (name) => readFileSync(new URL(`../../crates/page/assets/${name}`, import.meta.url), "utf8");
  await other.setContent(read("page.html").replace("/*script*/", () => read("page.js")));
  assert.match(await other.locator(".broken").textContent(), /this page has no data; write it with eigenfold/);
  await other.close();
});

test("nothing went wrong in all this", () => assert.deepEqual([page.errors, page.requests], [[], []]));
