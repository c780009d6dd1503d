// Colors that people with any kind of color vision can tell apart.
//
// Ten colors for classes, found by a search for the largest least distance (OKLab) between any two of them and the grey of missing
// values, as seen with normal sight and with three kinds of color blindness (G. M. Machado, M. M. Oliveira, L. A. F. Fernandes. A
// physiologically-based model for simulation of color vision deficiency. IEEE TVCG 15(6), 2009); test/color.test.mjs
// holds the distance. The pictures of the program have the same colors: crates/plot/src/palette.rs. Numbers: viridis by S. van der Walt and N. Smith, 2015, less the end that vanishes on the background: the yellow one on white,
// the dark one on black.

export type Rgb = [number, number, number];

export const TEN = {
  light: ["#0959bf", "#fc9000", "#28c874", "#8e2989", "#da517d", "#0097ac", "#9e7c00", "#e08cfb", "#ae2a00", "#8c6ee6"],
  dark: ["#537ae3", "#fba619", "#55d581", "#9846a6", "#e96689", "#00a9b9", "#9f9300", "#c78fff", "#be470b", "#018042"],
};

/** How many classes have a pair of color and shape of their own. */
export const MOST = 26;

const VIRIDIS = ["#440154", "#481467", "#482576", "#453781", "#404688", "#39558c", "#33638d", "#2d718e", "#287d8e", "#238a8d", "#1f968b", "#20a386", "#29af7f", "#3cbc75", "#56c667", "#74d055", "#94d840", "#b8de29", "#dce319", "#fde725"].map(rgb);

export function rgb(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${r},${g},${b})`;
}

export function missing(dark: boolean): Rgb {
  return dark ? [92, 94, 100] : [190, 191, 194];
}

/** One color for all points, where there is nothing to color by. */
export function plain(dark: boolean): Rgb {
  return dark ? [108, 176, 200] : [40, 96, 128];
}

const ten = { light: TEN.light.map(rgb), dark: TEN.dark.map(rgb) };

/**
 * The color of a class. Ten have their own; the next ten are lighter triangles, the rest darker crosses, so that
 * they can still be distinguished where points are too small to have a shape.
 */
export function classColor(at: number, classes: number, dark: boolean): Rgb {
  const own = dark ? ten.dark : ten.light;
  if (classes <= MOST) return [mixed(own[at % 10], 255, 0), mixed(own[at % 10], 255, 0.48), mixed(own[at % 10], 0, dark ? 0.32 : 0.42)][Math.floor(at / 10)];
  // Golden steps around the wheel, so that classes with near numbers are far in color; far ones may look alike.
  const hue = (at * 137.508) % 360, light = [0.5, 0.62, 0.42][Math.floor(at / 9) % 3];
  return hsl(hue, 0.55, light);
}

function mixed(color: Rgb, other: number, share: number): Rgb {
  return color.map((value) => Math.round(value + share * (other - value))) as Rgb;
}

/** 0 a disc, 1 a triangle, 2 a cross: they differ even where points are small (docs/decisions/0086). */
export function classShape(at: number, classes: number): number {
  return classes <= MOST ? Math.floor(at / 10) : 0;
}

/** A number from 0 to 1 as a color. */
export function sequential(t: number, dark: boolean): Rgb {
  const [low, high] = dark ? [0.14, 1] : [0, 0.93];
  const at = (low + (high - low) * Math.min(1, Math.max(0, t))) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at)), f = at - i;
  return [0, 1, 2].map((c) => Math.round(VIRIDIS[i][c] * (1 - f) + VIRIDIS[i + 1][c] * f)) as Rgb;
}

function hsl(hue: number, s: number, l: number): Rgb {
  const a = s * Math.min(l, 1 - l);
  const f = (n: number) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [f(0), f(8), f(4)];
}
