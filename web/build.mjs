// Bundles the page into crates/page/assets (or into the folder that is given).
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = new URL(".", import.meta.url), out = process.argv[2] ?? fileURLToPath(new URL("../crates/page/assets", here));
mkdirSync(out, { recursive: true });
const shared = { bundle: true, minify: true, legalComments: "none", logLevel: "warning", absWorkingDir: fileURLToPath(here) };
// Browsers that can unpack gzip themselves.
const target = ["chrome111", "firefox113", "safari16.4"];
await build({ ...shared, target, entryPoints: ["src/main.ts"], outfile: `${out}/page.js`, format: "iife", charset: "utf8" });
await build({ ...shared, target, entryPoints: ["src/style.css"], outfile: `${out}/page.css` });
copyFileSync(new URL("src/page.html", here), `${out}/page.html`);
const script = readFileSync(`${out}/page.js`, "utf8");
// Inside a script element these would end it, or begin a comment.
if (/<\/script|<!--/i.test(script)) throw new Error("the bundle has a text that cannot stand inside a script element");
