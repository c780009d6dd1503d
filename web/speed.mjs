// How long a page takes to its first picture, and how long a redraw of all panels:  node speed.mjs PAGE.html ...
import { resolve } from "node:path";
import { browse, cpu, settled } from "./test/browser.mjs";
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
