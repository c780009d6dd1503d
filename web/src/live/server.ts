// Requests of the page to its server. Addresses are relative: the access token is in the address of the page.

export interface Choice { name: string; help?: string }

export interface Parameter {
  name: string; default: string | number | boolean; help: string;
  kind: "number" | "count" | "choice" | "switch" | "text";
  choices?: Choice[];
  /** The parameter has a part only if another one has one of these values. */
  applies?: Record<string, string[]>;
}

export interface Method { name: string; title: string; summary: string; good_for: string; caution: string; needs_graph: boolean; moves: boolean; parameters: Parameter[] }

/** What the form is made of. */
export interface Live { methods: Method[]; method: string; neighbors: number | null; dims: number }

export interface Request { method: string; neighbors?: number; dims?: number; parameters: Record<string, string> }

export interface Answer {
  run: number;
  status: "idle" | "running" | "evaluating" | "done" | "stopped" | "failed" | "pinned";
  name: string; reason: string | null; note: string | null; seconds: number; converged: boolean | null; warnings: string[] | null;
  stage: string | null; fraction: number; objective: number | null; gap: number | null; step: number | null;
  version: number;
  map: { dims: number; type: "f32" | "f64"; values: string } | null;
}

export interface Pinned { map: any; bytes: string; order: string[] }

async function ask<T>(what: string, body?: unknown): Promise<T> {
  const options: RequestInit = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  let answer: Response;
  try {
    answer = await fetch(what, { ...options, cache: "no-store" });
  } catch {
    throw new Error("the server does not answer; if it was ended, start eigenfold serve again");
  }
  if (!answer.ok) throw new Error((await answer.text()) || `the server answered ${answer.status}`);
  return answer.json();
}

export const begin = (request: Request) => ask<{ run: number }>("run", request);
export const state = (after: number) => ask<Answer>(`state?after=${after}`);
export const stop = () => ask<unknown>("stop", {});
export const pin = () => ask<Pinned>("pin", {});
