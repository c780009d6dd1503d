// A browser for tests: Debian's chromium, drawing in software, with a profile of its own.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps"];

/** For tests, where nobody looks: maps are drawn by WebGL as ever, but frames are put together without it, which takes less than half the processor time. */
export const UNSEEN = { flags: ["--disable-gpu-compositing"] };

/** A browser whose pages fail the test on any console error and on any request beyond the file itself, or beyond the address of a served page. */
export async function browse(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), "eigenfold-page-"));
  const context = await chromium.launchPersistentContext(profile, { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: [...FLAGS, ...(options.flags ?? [])], viewport: { width: 1400, height: 1000 }, acceptDownloads: true, ...options.context });
  return {
    context, profile,
    async open(path, query = "") {
      const page = await context.newPage(), errors = [], requests = [];
      // The tests read pixels back, and so does a browser that puts its frames together without WebGL. The page does not: these hints are for them.
      page.on("console", (message) => { if (/^(error|warning)$/.test(message.type()) && !/willReadFrequently|GPU stall due to ReadPixels/.test(message.text())) errors.push(message.text()); });
      page.on("pageerror", (error) => errors.push(String(error)));
      const served = /^http:/.test(path), own = served ? new URL(path).href : "file:";
      page.on("request", (request) => { if (!request.url().startsWith(own) && !/^(data|blob):/.test(request.url())) requests.push(request.url()); });
      await page.goto(served ? path : `file://${path}${query}`);
      await page.waitForFunction(() => window.eigenfold || document.querySelector(".broken"), null, { timeout: 60_000 });
      await settled(page);
      return Object.assign(page, { errors, requests });
    },
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Waits until two frames have passed without a picture being painted. */
export async function settled(page) {
  await page.evaluate(() => new Promise((done) => {
    let last = -1, still = 0;
    const look = () => {
      const { painted } = window.eigenfold?.desk ?? { painted: 0 };
      still = painted === last ? still + 1 : 0;
      last = painted;
      if (still > 3) done();
      else requestAnimationFrame(look);
    };
    look();
  }));
}

/** Processor time of a browser and all its processes, in milliseconds. */
export function cpu(profile) {
  const all = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) try {
    const line = readFileSync(`/proc/${pid}/cmdline`, "utf8"), stat = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
    all.set(Number(pid), { line, parent: Number(stat[1]), ticks: Number(stat[11]) + Number(stat[12]) });
  } catch { /* it has ended */ }
  const ours = (pid) => { for (let at = all.get(pid); at; at = all.get(at.parent)) if (at.line.includes(profile)) return true; return false; };
  return [...all].reduce((sum, [pid, { ticks }]) => sum + (ours(pid) ? ticks * 10 : 0), 0);
}
