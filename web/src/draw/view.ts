// From the square of a map to the pixels of its panel: middle, zoom, and a turn for maps with three coordinates.

import type { Cloud } from "./cloud";

const LARGEST = 200;

export class View {
  x = 0;
  y = 0;
  zoom = 1;
  /** Rows of the turn: what screen x, y and depth are made of. */
  turn = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  width = 1;
  height = 1;
  /** How far one can zoom out. */
  smallest = 0.5;
  version = 0;

  get scale(): number {
    return this.zoom * 0.465 * Math.min(this.width, this.height);
  }

  get isHome(): boolean {
    return this.x === 0 && this.y === 0 && this.zoom === 1 && this.turn[0] === 1 && this.turn[4] === 1;
  }

  home(): void {
    this.x = this.y = 0;
    this.zoom = 1;
    this.turn = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    this.version++;
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.version++;
  }

  toScreen(x: number, y: number): [number, number] {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  fromScreen(px: number, py: number): [number, number] {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  /** Where a point of a cloud is in the panel. */
  of(cloud: Cloud, i: number): [number, number] {
    return this.toScreen(...this.flat(cloud, i));
  }

  /** A point of a cloud after the turn. */
  flat(cloud: Cloud, i: number): [number, number] {
    const { points, stride } = cloud, at = i * stride;
    if (stride === 2) return [points[at], points[at + 1]];
    const t = this.turn, a = points[at], b = points[at + 1], c = points[at + 2];
    return [t[0] * a + t[1] * b + t[2] * c, t[3] * a + t[4] * b + t[5] * c];
  }

  zoomAt(px: number, py: number, factor: number): void {
    const before = this.fromScreen(px, py);
    this.zoom = Math.min(LARGEST, Math.max(this.smallest, this.zoom * factor));
    const after = this.fromScreen(px, py);
    this.x += before[0] - after[0];
    this.y += before[1] - after[1];
    this.version++;
  }

  pan(dx: number, dy: number): void {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
    this.version++;
  }

  /** Turns by a drag over the panel, about the screen's own axes. */
  rotate(dx: number, dy: number): void {
    const speed = 2.6 / Math.min(this.width, this.height), a = dx * speed, b = dy * speed;
    this.turn = times(times([1, 0, 0, 0, Math.cos(b), -Math.sin(b), 0, Math.sin(b), Math.cos(b)], [Math.cos(a), 0, Math.sin(a), 0, 1, 0, -Math.sin(a), 0, Math.cos(a)]), this.turn);
    this.version++;
  }
}

function times(a: number[], b: number[]): number[] {
  const out = new Array<number>(9).fill(0);
  for (let r = 0; r < 3; r++) for (let c = 0; c < 3; c++) for (let k = 0; k < 3; k++) out[3 * r + c] += a[3 * r + k] * b[3 * k + c];
  return out;
}

/** Radius in CSS pixels and opacity: few points are large and solid, many are small and let each other through. */
export function marks(n: number, view: View): { radius: number; opacity: number } {
  const area = view.width * view.height * Math.max(1, view.zoom * view.zoom);
  const radius = Math.min(5, Math.max(0.75, Math.sqrt((0.2 * area) / (Math.PI * Math.max(1, n))), 0), 3.3 + 0.4 * Math.log2(Math.max(1, view.zoom)) + view.width / 600);
  const cover = (n * Math.PI * radius * radius) / area;
  return { radius, opacity: Math.min(0.85, 0.85 * (0.25 / Math.max(0.25, cover)) ** 0.4) };
}
