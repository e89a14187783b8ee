// A form made from a JSON Schema: plain fields for plain values, JSON for everything else.

import { el, pretty } from "/dev/sdk.js";

/** A form of the arguments of a tool; `values()` reads it or throws with what is wrong. */
export function argumentsForm(schema) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, part]) => {
    const found = resolved(part, schema);
    return { name, needed: required.has(name), ...field(name, found, required.has(name)) };
  });
  const form = el("div", { class: "fields" }, fields.map((one) => one.node));
  const raw = el("textarea", { rows: 8, spellcheck: false, class: "mono", "aria-label": "Arguments as JSON" });
  const asJson = el("input", { type: "checkbox" });
  const both = el("div", { class: "field" },
    form,
    el("label", { class: "check" }, asJson, el("span", { text: "Arguments as JSON" })), raw);
  raw.hidden = true;
  if (fields.length === 0) form.append(el("p", { class: "small", text: "It takes no arguments." }));

  const read = () => {
    const found = {};
    for (const one of fields) {
      const value = one.read();
      if (value !== undefined) found[one.name] = value;
    }
    return found;
  };
  asJson.addEventListener("change", () => {
    if (asJson.checked) {
      try {
        raw.value = pretty(read());
      } catch {
        raw.value ||= "{}";
      }
    }
    raw.hidden = !asJson.checked;
    form.hidden = asJson.checked;
  });
  return { node: both, values: () => (asJson.checked ? parsed(raw.value, "The arguments are") : read()) };
}

function resolved(part, whole) {
  let found = part === true ? {} : part;
  for (let step = 0; step < 10 && typeof found.$ref === "string"; step += 1) {
    const target = found.$ref.replace(/^#\/?/, "").split("/").filter(Boolean)
      .reduce((value, key) => value?.[key.replace(/~1/g, "/").replace(/~0/g, "~")], whole);
    found = target && target !== found ? target : {};
  }
  return found;
}

/** One argument: its label and its control, and how it is read; undefined leaves it out. */
function field(name, part, needed) {
  const types = Array.isArray(part.type) ? part.type.filter((one) => one !== "null") : [part.type];
  const { control, read } = controlOf(name, types.length === 1 ? types[0] : undefined, part, needed);
  const facts = [needed ? "required" : "", types.filter(Boolean).join(" or "), part.format ?? "", bounds(part)];
  const node = el("label", { class: "field" },
    el("span", {}, el("b", { text: part.title ?? name }), " ", el("em", { text: facts.filter(Boolean).join(" · ") })),
    control,
    part.description ? el("span", { text: part.description }) : null);
  return { node, read };
}

function bounds(part) {
  const [low, high] = [part.minimum ?? part.minLength, part.maximum ?? part.maxLength];
  if (low === undefined && high === undefined) return "";
  return `${low ?? "any"} to ${high ?? "any"}`;
}

function controlOf(name, type, part, needed) {
  if (Array.isArray(part.enum)) return choice(part.enum, part.default, needed);
  if (type === "boolean") return choice([true, false], part.default, needed);
  if (type === "string") {
    const secret = part.writeOnly === true || part.format === "password";
    const long = (part.maxLength ?? 0) > 200 && !secret;
    const control = long ? el("textarea", { rows: 3 }) : el("input", { type: secret ? "password" : "text" });
    if (typeof part.default === "string") control.value = part.default;
    return { control, read: () => (control.value === "" && !needed ? undefined : control.value) };
  }
  if (type === "number" || type === "integer") {
    const control = el("input", { type: "text", inputmode: "decimal" });
    if (part.default !== undefined) control.value = String(part.default);
    return { control, read: () => numberOf(name, control.value.trim()) };
  }
  const control = el("textarea", { rows: 3, spellcheck: false, class: "mono", placeholder: type === "array" ? "[]" : "{}" });
  if (part.default !== undefined) control.value = pretty(part.default);
  return { control, read: () => (control.value.trim() ? parsed(control.value, `${name} is`) : undefined) };
}

function choice(values, given, needed) {
  const options = values.map((value, index) => el("option", { value: String(index), text: String(value) }));
  const control = el("select", {}, needed ? null : el("option", { value: "", text: "left out" }), options);
  const chosen = values.indexOf(given);
  if (chosen >= 0) control.value = String(chosen);
  return { control, read: () => (control.value === "" ? undefined : values[Number(control.value)]) };
}

/** A number as it is typed; a text that is none goes as it is, and the server says so. */
function numberOf(name, text) {
  if (text === "") return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  if (!Number.isSafeInteger(value) && Number.isInteger(value)) {
    throw new Error(`${name} has more digits than this page can send. Write it as JSON in a command: remit call.`);
  }
  return value;
}

function parsed(text, what) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what} no JSON: ${error.message}`);
  }
}
