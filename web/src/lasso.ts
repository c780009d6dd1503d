// A line drawn around points selects them.

/** The rows inside a closed line; both in the pixels of a panel, points as x and y one after the other. */
export function inside(line: [number, number][], points: (i: number) => [number, number], n: number): Uint8Array {
  const rows = new Uint8Array(n);
  if (line.length < 3) return rows;
  const xs = line.map(([x]) => x), ys = line.map(([, y]) => y);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  for (let i = 0; i < n; i++) {
    const [x, y] = points(i);
    if (x >= x0 && x <= x1 && y >= y0 && y <= y1 && winds(line, x, y)) rows[i] = 1;
  }
  return rows;
}

/** Whether a position is inside, by the crossings of a ray to the right. */
function winds(line: [number, number][], x: number, y: number): boolean {
  let within = false;
  for (let a = 0, b = line.length - 1; a < line.length; b = a++) {
    const [xa, ya] = line[a], [xb, yb] = line[b];
    if (ya > y !== yb > y && x < ((xb - xa) * (y - ya)) / (yb - ya) + xa) within = !within;
  }
  return within;
}

/** The rows within a radius of a position. */
export function around(x: number, y: number, radius: number, points: (i: number) => [number, number], n: number): Uint8Array {
  const rows = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const [px, py] = points(i);
    if ((px - x) ** 2 + (py - y) ** 2 <= radius * radius) rows[i] = 1;
  }
  return rows;
}
