// The page's own modules for tests without a browser.
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export async function load(name) {
  const folder = mkdtempSync(join(tmpdir(), "eigenfold-source-")), outfile = join(folder, "module.mjs");
  await build({ entryPoints: [fileURLToPath(new URL(`../src/${name}`, import.meta.url))], bundle: true, format: "esm", outfile, logLevel: "error" });
  const module = await import(outfile);
  rmSync(folder, { recursive: true, force: true });
  return module;
}
