// The served page, with the program itself (EIGENFOLD=path of it): a method is run, seen to move, stopped, pinned, downloaded.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { UNSEEN, browse, settled } from "./browser.mjs";

const program = process.env.EIGENFOLD, options = { skip: !program && "needs the program: EIGENFOLD=target/release/eigenfold", timeout: 400_000 };
let browser, page, server, ended;

before(async () => {
  if (!program) return;
  server = spawn(program, ["serve", "iris", "--threads", "1", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  ended = new Promise((done) => server.on("exit", done));
  const address = await new Promise((done) => createInterface({ input: server.stdout }).once("line", done));
  browser = await browse(UNSEEN);
  page = await browser.open(address);
}, { timeout: 300_000 });
after(async () => {
  await browser?.close();
  server?.kill("SIGKILL");
});

const press = (name) => page.getByRole("button", { name, exact: true }).click();
const said = (words) => page.waitForFunction((words) => new RegExp(words).test(document.querySelector(".lab .state").textContent), words, { timeout: 200_000 });
const places = () => page.evaluate(() => { const { panel } = window.eigenfold.live.moving; return panel ? [...panel.cloud.points.slice(0, 40)] : null; });
const write = (name, value) => page.locator(`.lab [name="${name}"]`).fill(value);

test("a map moves while it is made, and stays where it is stopped", options, async () => {
  await page.locator(".lab select").first().selectOption("tsne");
  await write("perplexity", "20");
  await write("max-iterations", "1000000");
  await write("tolerance", "0");
  await press("Run");
  await page.waitForFunction(() => window.eigenfold.live.moving.panel, null, { timeout: 200_000 });
  const first = await places();
  await page.waitForFunction((first) => window.eigenfold.live.moving.panel.cloud.points.slice(0, 40).some((x, at) => Math.abs(x - first[at]) > 1e-3), first, { timeout: 200_000 });
  // The objective is not reported while a part of it is exaggerated.
  await said("^tsne .*coordinates, step \\d+, objective ");
  assert.ok(await page.getByRole("button", { name: "Pin", exact: true }).isDisabled());
  await press("Stop");
  await said("was stopped where it is");
  await settled(page);
  const still = await places();
  await page.waitForTimeout(400);
  assert.deepEqual(await places(), still);
});

test("a pinned map stands among the others with its measures", options, async () => {
  const before = await page.locator(".maps .map").count();
  await press("Pin");
  await said("is among the maps below");
  await page.waitForFunction((before) => document.querySelectorAll(".maps .map").length === before + 1, before, { timeout: 200_000 });
  const figure = page.locator('.maps .map[data-map^="tsne"]');
  assert.match(await figure.locator("h3").textContent(), /^t-SNE, /);
  assert.match(await figure.textContent(), /Stopped before its end/);
  const row = page.locator("table.measures tbody tr", { hasText: "t-SNE" });
  assert.match(await row.textContent(), /0\.\d\d/);
  assert.match(await page.locator("header.top").textContent(), /2 embeddings\./);
  await page.reload({ timeout: 200_000 });
  await page.waitForFunction(() => window.eigenfold, null, { timeout: 200_000 });
  assert.equal(await page.locator(".maps .map").count(), before + 1);
});

test("an eigenproblem comes at its end, and is downloaded to all digits", options, async () => {
  await page.locator(".lab select").first().selectOption("isomap");
  await write("k", "7");
  await page.keyboard.press("Enter");
  await said("isomap k=7 is done");
  const [download] = await Promise.all([page.waitForEvent("download"), press("Download the coordinates as CSV")]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.equal(lines[0], "y1,y2");
  assert.equal(lines.length, 151);
  assert.ok(lines.slice(1).some((line) => line.split(",")[0].length > 14), lines[1]);
});

test("what is wrong is said in words", options, async () => {
  await page.locator(".lab select").first().selectOption("tsne");
  await write("perplexity", "few");
  await press("Run");
  await page.waitForFunction(() => /perplexity/.test(document.querySelector('.lab [role="alert"]').textContent));
  // The browser itself writes a line of its own for the refused request.
  assert.deepEqual(page.errors.filter((text) => !/status of 400/.test(text)), []);
  assert.deepEqual(page.requests, []);
});

test("the page says when the server has ended", options, async () => {
  server.kill("SIGINT");
  assert.equal(await ended, 0);
  await press("Run");
  await page.waitForFunction(() => /does not answer/.test(document.querySelector('.lab [role="alert"]').textContent));
});
