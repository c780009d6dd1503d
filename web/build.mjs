// Bundles the page into crates/page/assets (or into the folder that is given).
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = new URL(".", import.meta.url), out = process.argv[2] ?? fileURLToPath(new URL("../crates/page/assets", here));
mkdirSync(out, { recursive: true });
const shared = { bundle: true, minify: true, legalComments: "none", logLevel: "warning", absWorkingDir: fileURLToPath(here) };
// Browsers that can unpack gzip themselves.
const target = ["chrome111", "firefox113", "safari16.4"];
await build({ ...shared, target, entryPoints: ["src/main.ts"], outfile: `${out}/page.js`, format: "iife", charset: "utf8" });
await build({ ...shared, target, entryPoints: ["src/style.css"], outfile: `${out}/page.css` });
const script = readFileSync(`${out}/page.js`, "utf8"), style = readFileSync(`${out}/page.css`, "utf8");
// The page may run and wear these two texts and no other.
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const template = readFileSync(new URL("src/page.html", here), "utf8");
writeFileSync(`${out}/page.html`, template.replace("/*style-hash*/", hash(style)).replace("/*script-hash*/", hash(script)));
// Inside a script element these would end it, or begin a comment.
if (/<\/script|<!--/i.test(script)) throw new Error("the bundle has a text that cannot stand inside a script element");
