// Files made in the page, without any network.

import type { MapData, Page } from "./data";
import { indexOf, nameOf } from "./data";
import { h } from "./dom";

function save(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob), link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function saveText(name: string, text: string, type: string): void {
  save(name, new Blob([text], { type }));
}

export function saveCanvas(name: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((blob) => { if (blob) save(name, blob); }, "image/png");
}

/** Coordinates as the program writes them, y1 to yd, with the names of the rows if there are any. */
export function mapCsv(page: Page, map: MapData): string {
  const head = [...(page.row_ids ? ["index"] : []), ...(page.names ? ["name"] : []), ...Array.from({ length: map.dims }, (_, c) => `y${c + 1}`)];
  const lines = [head.join(",")];
  for (let i = 0; i < page.n; i++) {
    const cells = Array.from(map.map!.subarray(i * map.dims, (i + 1) * map.dims), String);
    lines.push([...(page.row_ids ? [String(indexOf(page, i))] : []), ...(page.names ? [quoted(nameOf(page, i))] : []), ...cells].join(","));
  }
  return `${lines.join("\n")}\n`;
}

/** Rows of the input, counted from 0, with their names if they have any. */
export function rowsCsv(page: Page, rows: number[]): string {
  const line = (i: number) => (page.names ? `${indexOf(page, i)},${quoted(nameOf(page, i))}` : `${indexOf(page, i)}`);
  return `${[page.names ? "index,name" : "index", ...rows.map(line)].join("\n")}\n`;
}

/** A text as a cell; one that a spreadsheet would take for a formula is kept a text. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** A name that every file system takes. */
export function fileName(text: string): string {
  return text.replace(/[^\p{L}\p{N}=.-]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 80) || "map";
}
