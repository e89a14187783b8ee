// Takes a credential of the user for an app; it is kept nowhere in this page.

import { ask, path, user } from "/dev/api.js";
import { el } from "/dev/sdk.js";

const WORDS = { basic: "user:password", apiKey: "API key", bearer: "Token" };

/** A form for a credential; `type` is what the app takes. */
export function connectForm(app, type, done = () => {}) {
  const secret = el("input", { type: "password", autocomplete: "off", required: true });
  const said = el("p", { class: "small", role: "status" });
  const form = el("form", { autocomplete: "off" },
    el("label", { class: "field" }, el("span", { text: `${WORDS[type] ?? "Token"} of ${user()} for ${app}` }), secret),
    el("div", { class: "buttons" }, el("button", { type: "submit", text: "Connect" })), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [name, ...rest] = secret.value.split(":");
    const body = type === "basic"
      ? { type, username: name, password: rest.join(":") }
      : { type, [type === "apiKey" ? "key" : "token"]: secret.value };
    secret.value = "";
    try {
      await ask("PUT", path`/v1/connections/${app}/${user()}`, body);
      said.textContent = "Connected.";
      done();
    } catch (error) {
      said.textContent = error.message;
    }
  });
  return form;
}
