// The top of a report page as two pictures, for documents:  node hero.mjs PAGE.html OUT  writes OUT/page.png and OUT/page-dark.png.
import { resolve } from "node:path";
import { browse, settled } from "./test/browser.mjs";

const [path, out = "."] = process.argv.slice(2), width = 1280;
/** Free paper above the title that is left out. */
const TOP = 44;
const browser = await browse({ context: { viewport: { width, height: 1400 }, deviceScaleFactor: 2 } });
const page = await browser.open(resolve(path));
for (const [scheme, name] of [["light", "page"], ["dark", "page-dark"]]) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.mouse.move(2, 2);
  await settled(page);
  await page.waitForTimeout(400);
  // From the title to the end of the first row of maps, between two lines of text, so that nothing is cut.
  const bottom = await page.evaluate(() => {
    const tops = [...document.querySelectorAll(".map")].map((map) => Math.round(map.getBoundingClientRect().top + scrollY));
    return tops.find((top) => top > tops[0]) - 12;
  });
  await page.screenshot({ path: `${out}/${name}.png`, clip: { x: 0, y: TOP, width, height: bottom - TOP }, fullPage: true });
}
if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
await browser.close();
