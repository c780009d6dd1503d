// The form: a method, and all of its parameters from the program's own table. An empty field keeps its default.

import { fill, freshId, h } from "../dom";
import { explain } from "../tooltip";
import type { Request, Live, Method, Parameter } from "./server";

export class Form {
  readonly element = h("form", { class: "form", novalidate: true });
  private readonly methods = h("select", { "aria-label": "Method" });
  private readonly words = h("p", { class: "note" });
  private readonly fields = h("div", { class: "fields" });
  private readonly values = new Map<string, HTMLInputElement | HTMLSelectElement>();
  private readonly neighbors: HTMLInputElement;
  private readonly dims: HTMLInputElement;
  private readonly around: HTMLElement;

  constructor(private readonly live: Live, buttons: HTMLElement) {
    for (const { name, title } of live.methods) this.methods.append(h("option", { value: name, selected: name === live.method }, title));
    this.neighbors = entry(live.neighbors === null ? "as given" : String(live.neighbors));
    this.dims = entry(String(live.dims));
    this.around = field("k", this.neighbors, "How many neighbors each point has in the graph.");
    this.methods.addEventListener("change", () => this.show());
    this.element.append(h("label", { class: "method" }, h("span", {}, "Method"), this.methods), this.words, this.fields, buttons);
    this.show();
  }

  get method(): Method {
    return this.live.methods.find(({ name }) => name === this.methods.value) ?? this.live.methods[0];
  }

  /** The fields of the method. */
  private show(): void {
    const { method } = this;
    this.values.clear();
    this.words.textContent = `${method.good_for.charAt(0).toUpperCase()}${method.good_for.slice(1)}. ${method.moves ? "Its map moves while it is made." : "Its map comes at the end."}`;
    const own = method.parameters.map((parameter) => {
      const input = control(parameter);
      this.values.set(parameter.name, input);
      input.addEventListener("change", () => this.apply());
      return field(parameter.name, input, parameter.help);
    });
    fill(this.fields, method.needs_graph && this.around, field("dims", this.dims, "How many coordinates the map has."), ...own);
    this.apply();
  }

  /** Hides what has no part in what was chosen. */
  private apply(): void {
    for (const { name, applies } of this.method.parameters) {
      const has = Object.entries(applies ?? {}).every(([on, values]) => values.includes(this.value(on)));
      this.values.get(name)!.closest<HTMLElement>(".field")!.hidden = !has;
    }
  }

  private value(name: string): string {
    const input = this.values.get(name), parameter = this.method.parameters.find((one) => one.name === name);
    return input?.value.trim() || String(parameter?.default ?? "");
  }

  /** The request: only values that differ from the defaults. */
  request(): Request {
    const { method } = this, request: Request = { method: method.name, parameters: {} };
    if (method.needs_graph && this.neighbors.value.trim() !== "") request.neighbors = Number(this.neighbors.value);
    if (this.dims.value.trim() !== "") request.dims = Number(this.dims.value);
    for (const parameter of method.parameters) {
      const input = this.values.get(parameter.name)!, value = input.value.trim(), hidden = input.closest<HTMLElement>(".field")!.hidden;
      if (!hidden && value !== "" && value !== String(parameter.default)) request.parameters[parameter.name] = value;
    }
    return request;
  }
}

function entry(usual: string): HTMLInputElement {
  return h("input", { type: "text", placeholder: usual, autocomplete: "off", spellcheck: "false" });
}

function control(parameter: Parameter): HTMLInputElement | HTMLSelectElement {
  if (!parameter.choices || parameter.kind === "text") return entry(String(parameter.default));
  const usual = String(parameter.default), names = parameter.choices.map(({ name }) => name);
  return h("select", {}, ...[...(names.includes(usual) ? [] : [usual]), ...names].map((name) => h("option", { value: name, selected: name === usual }, name)));
}

function field(name: string, input: HTMLInputElement | HTMLSelectElement, words: string): HTMLElement {
  input.id = freshId("field");
  input.name = name;
  return h("div", { class: "field" }, h("label", { for: input.id }, name), explain(input, words));
}
