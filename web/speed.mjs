// How long a page takes to its first picture, and how long a redraw of all panels:  node speed.mjs PAGE.html ...
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { browse, settled } from "./test/browser.mjs";
/** Processor time of a browser and all its processes, in milliseconds. */
function cpu(profile) {
  const all = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) try {
    const line = readFileSync(`/proc/${pid}/cmdline`, "utf8"), stat = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
    all.set(Number(pid), { line, parent: Number(stat[1]), ticks: Number(stat[11]) + Number(stat[12]) });
  } catch { /* it has ended */ }
  const ours = (pid) => { for (let at = all.get(pid); at; at = all.get(at.parent)) if (at.line.includes(profile)) return true; return false; };
  return [...all].reduce((sum, [pid, { ticks }]) => sum + (ours(pid) ? ticks * 10 : 0), 0);
}

for (const path of process.argv.slice(2)) {
  const browser = await browse(), page = await browser.context.newPage();
  await page.addInitScript(() => {
    const look = () => { if (window.eigenfold?.desk.painted > 0) window.first = performance.now(); else requestAnimationFrame(look); };
    requestAnimationFrame(look);
  });
  const before = cpu(browser.profile);
  await page.goto(`file://${resolve(path)}`);
  await page.waitForFunction(() => window.first > 0, null, { timeout: 120_000 });
  const spent = cpu(browser.profile) - before;
  await settled(page);
  const figures = await page.evaluate(async () => {
    const { desk, panels } = window.eigenfold, out = { points: desk.page.n, panels: panels.length, drawnBy: desk.painter.kind, first: Math.round(window.first), interactive: Math.round(performance.getEntriesByType("navigation")[0].domInteractive) };
    for (const { name, startTime } of performance.getEntriesByType('mark')) out[name] = Math.round(startTime);
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    let began = performance.now();
    for (let i = 0; i < 10; i++) { panels[0].view.pan(3, 0); panels[0].follow(); await frame(); await frame(); }
    out.pan = Math.round((performance.now() - began) / 10);
    began = performance.now();
    for (let i = 0; i < 20; i++) { desk.state.setHover(i * 31, panels[0].map); await frame(); }
    out.hover = Math.round((performance.now() - began) / 20);
    began = performance.now();
    const rows = new Uint8Array(desk.page.n).map((_, i) => (i % 3 === 0 ? 1 : 0)), before = desk.painted;
    desk.state.setSelected(rows);
    while (desk.painted < before + panels.filter((p) => p.visible).length) await frame();
    out.select = Math.round(performance.now() - began);
    began = performance.now();
    panels[0].pick(100, 100);
    out.grid = Math.round(performance.now() - began);
    return out;
  });
  console.log(path, JSON.stringify({ ...figures, cpuToFirst: spent }));
  await browser.close();
}
