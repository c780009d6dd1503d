// Statistics of every column over the rows of the page, in the user's units.

import { inUnits, type Page } from "../data";

export interface Stats { low: number; high: number; mean: number; spread: number }

const held = new WeakMap<Page, Stats[]>();

export function columnStats(page: Page): Stats[] {
  const known = held.get(page);
  if (known || !page.rows) return known ?? [];
  const p = page.columns.length, rows = page.rows, step = Math.max(1, Math.floor(page.n / 20_000));
  const stats = page.columns.map((column, j) => {
    let [low, high, sum, squares, count] = [Infinity, -Infinity, 0, 0, 0];
    for (let i = 0; i < page.n; i += step) {
      const value = inUnits(column, rows[i * p + j]);
      low = Math.min(low, value);
      high = Math.max(high, value);
      sum += value;
      squares += value * value;
      count++;
    }
    const mean = sum / count;
    return { low, high, mean, spread: Math.sqrt(Math.max(0, squares / count - mean * mean)) };
  });
  held.set(page, stats);
  return stats;
}

/** The darkest and the lightest value of all images. */
export function greys(page: Page): [number, number] {
  const stats = columnStats(page);
  return stats.reduce<[number, number]>(([low, high], one) => [Math.min(low, one.low), Math.max(high, one.high)], [Infinity, -Infinity]);
}
