// Puts the present bundle into pages that were written before:  node reuse.mjs PAGE.html ...
import { readFileSync, writeFileSync } from "node:fs";
const read = (name) => readFileSync(new URL(`../crates/page/assets/${name}`, import.meta.url), "utf8");
for (const path of process.argv.slice(2)) {
  const old = readFileSync(path, "utf8");
  const title = old.match(/<title>([\s\S]*?)<\/title>/)[1], data = old.match(/<script id="eigenfold-data"[\s\S]*?<\/script>\s*<script id="eigenfold-bytes"[\s\S]*?<\/script>/)[0];
  writeFileSync(path, read("page.html").replace("<!--title-->", () => title).replace("/*style*/", () => read("page.css")).replace("<!--data-->", () => data).replace("/*script*/", () => read("page.js")));
}
