// Numbers as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

/** So many digits that count, without an exponent where that is readable. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return minus(value.toExponential(digits - 1));
  if (size >= 10 ** digits) return minus(whole.format(value));
  return minus(Number(value.toPrecision(digits)).toString());
}

/** With a fixed number of decimals, so that a column lines up. */
export function fixed(value: number, decimals: number): string {
  return minus(value.toFixed(decimals));
}

function minus(text: string): string {
  return text.replace(/^-/, "−").replace("e-", "e−").replace("e+", "e");
}

export function seconds(value: number | null): string {
  if (value === null) return "–";
  if (value < 0.0995) return `${number(value * 1000, 2)} ms`;
  if (value < 99.5) return `${number(value, 2)} s`;
  const minutes = value / 60;
  return minutes < 99.5 ? `${number(minutes, 2)} min` : `${number(minutes / 60, 2)} h`;
}

export function megabytes(value: number | null): string {
  if (value === null) return "–";
  return value < 999.5 ? `${number(value, 2)} MB` : `${number(value / 1000, 2)} GB`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Words in a row: a, b and c. */
export function listed(words: string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** `about` round numbers from low to high, roughly. */
export function ticks(low: number, high: number, about: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999) ?? power * 10;
  const out: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}
