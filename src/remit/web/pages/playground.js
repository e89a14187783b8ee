// The playground: one tool, called as a back end calls it, with the request, the answer, what was
// made of it, and why. Guard, approvals, mapping and record are those of production.

import { ask, path, user } from "/dev/api.js";
import { answered, approvalPart } from "/dev/answering.js";
import { framing } from "/dev/chat.js";
import { connectForm } from "/dev/connect.js";
import { card, clock, el, folded, pre, pretty, settled, shown, textsOf } from "/dev/sdk.js";
import { argumentsForm } from "/dev/form.js";
import { record } from "/dev/record.js";
import { speak } from "/dev/speaking.js";

const OPEN = new Set(["waiting_human", "polling", "sending", "waiting_client"]);
const WAIT_MS = 500;
const WORDS = {
  waiting_human: "It waits for a person; nothing was sent so far.",
  polling: "The app works on it.",
  sending: "It is on its way.",
  waiting_client: "It waits for a client.",
  ok: "It was done.",
  error: "It failed.",
  denied: "It was refused; nothing was sent.",
  expired: "Nobody answered in time; nothing was sent.",
  cancelled: "It was stopped.",
  outcome_unknown: "This may have happened. Check before trying again.",
};

/** The playground pane; `state()` is what the server says of the run of `remit dev`. */
export class Playground {
  constructor(bench, state) {
    this.bench = bench;
    this.state = state;
    this.tools = new Map();
    this.pick = el("select", { id: "tool" });
    this.pick.addEventListener("change", () => this.show());
    this.place = el("div");
    this.done = el("div", { "aria-live": "off" });
    bench.append(
      el("div", { class: "field" }, el("label", { for: "tool", class: "inline", text: "Tool" }), this.pick),
      this.place,
      this.done);
  }

  /** Read the catalogs anew; the tool that was chosen stays chosen. */
  async load() {
    const chosen = this.pick.value;
    const before = this.tools.get(chosen)?.text;
    this.tools.clear();
    const groups = [];
    for (const app of this.state().apps.filter((one) => one.id && one.version)) {
      const group = el("optgroup", { label: app.name });
      try {
        const { tools } = await ask("GET", path`/v1/apps/${app.id}/catalog`);
        for (const tool of tools) {
          const key = `${app.id}/${tool.name}`;
          this.tools.set(key, { app, tool, text: JSON.stringify(tool) });
          group.append(el("option", { value: key, text: tool.title ?? tool.displayName ?? tool.name }));
        }
      } catch (error) {
        group.append(el("option", { value: "", disabled: true, text: error.message }));
      }
      groups.push(group);
    }
    this.pick.replaceChildren(...groups);
    if (this.tools.has(chosen)) this.pick.value = chosen;
    this.pick.disabled = this.tools.size === 0;
    // What is being filled in stays, unless the tool is another one now.
    if (!this.tools.has(chosen) || this.tools.get(chosen).text !== before) this.show();
  }

  show() {
    const found = this.tools.get(this.pick.value);
    if (!found) {
      this.place.replaceChildren(el("p", { class: "note", text: "There is no tool to call yet." }));
      return;
    }
    const { app, tool } = found;
    const fields = argumentsForm(tool.parameters ?? {});
    const failed = el("p", { class: "small bad", role: "alert" });
    const button = el("button", { type: "submit", class: "primary", text: "Call" });
    const facts = [tool.name, tool.category, tool.dangerLevel, tool.requiresApproval ? "asks a person" : "", whereTo(tool)];
    const form = el("form", { autocomplete: "off" },
      el("p", { text: tool.description ?? "" }),
      el("p", { class: "facts", text: facts.filter(Boolean).join(" · ") }),
      fields.node,
      el("div", { class: "buttons" }, button),
      failed);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      failed.textContent = "";
      let args;
      try {
        args = fields.values();
      } catch (error) {
        failed.textContent = error.message;
        return;
      }
      button.disabled = true;
      await this.call(app, tool, args).finally(() => { button.disabled = false; });
    });
    this.place.replaceChildren(form);
    this.connect(form, app);
  }

  /** Where the user is not connected, the form that connects stands above the call. */
  connect(form, app) {
    this.unconnected = null;
    if (!app.wants) return;
    const words = `${user()} is not connected to ${app.name} yet, so that its calls are refused.`;
    const made = el("div", { class: "card" }, el("p", { text: words }), connectForm(app.id, app.wants, () => made.remove()));
    form.before(made);
    this.unconnected = { app: app.id, made };
  }

  /** The user may be connected by now, from the chat or elsewhere. */
  seen() {
    const wants = new Map(this.state().apps.map((one) => [one.id, one.wants]));
    for (const found of this.tools.values()) found.app.wants = wants.get(found.app.id) ?? "";
    if (this.unconnected && !wants.get(this.unconnected.app)) this.unconnected.made.remove();
  }

  async call(app, tool, args) {
    const words = el("p", { text: WORDS.sending });
    const body = el("div", { class: "shown" });
    const block = el("article", { class: "call" },
      el("div", { class: "head" },
        el("h3", { text: tool.title ?? tool.name }),
        el("span", { class: "small", text: clock(new Date().toISOString()) })),
      words, body);
    this.done.prepend(block);
    block.scrollIntoView({ block: "start" });
    try {
      const where = path`/v1/tools/${app.id}/${tool.name}/call`;
      let answer = await ask("POST", where, { user: user(), args }, { Prefer: "wait=30" });
      if (OPEN.has(answer.outcome)) answer = await this.wait(answer, words, body);
      this.ended(answer, words, body);
    } catch (error) {
      words.textContent = error.message;
      words.className = "bad";
      speak(error.message);
      if (error.code === "not_connected" && app.wants) body.append(connectForm(app.id, app.wants));
      const call = error.problem?.callId;
      body.append(...[
        error.problem?.details ? folded("Details", pre(pretty(error.problem.details))) : null,
        call ? record(call) : null,
      ].filter(Boolean));
    }
  }

  /** Until the call has ended, whoever answers it; the record in the form of an answer. */
  async wait(answer, words, body) {
    let asked = null;
    for (;;) {
      words.textContent = WORDS[answer.outcome] ?? answer.outcome;
      if (answer.inputId && answer.outcome === "waiting_human" && asked !== answer.inputId) {
        asked = answer.inputId;
        const input = await ask("GET", path`/v1/inputs/${asked}`);
        if (input.status === "open") {
          const made = this.card(input);
          body.replaceChildren(made);
          made.scrollIntoView({ block: "nearest" });
          speak(`An answer is needed. ${input.title}`);
        }
      }
      await new Promise((done) => setTimeout(done, WAIT_MS));
      const found = await ask("GET", path`/v1/calls/${answer.callId}`);
      answer = { ...found, callId: found.id, result: found.mapped };
      if (!OPEN.has(answer.outcome)) {
        body.querySelector(".card")?.remove();
        return answer;
      }
    }
  }

  /** The card of what waits; answered, it becomes the line that says how. */
  card(input) {
    const desk = {
      texts: textsOf("en"),
      locale: navigator.language,
      standsIn: true,
      approvalPart,
      connectPart: () => null,
      answer: async (asked, given) => {
        const { stands, again } = await answered(asked, given);
        if (stands) {
          const resolved = { ...stands, by: stands.answeredBy, at: stands.answeredAt };
          made.replaceWith(settled({ input: asked, resolved }, desk));
        }
        return again;
      },
    };
    const made = card(input, desk);
    return made;
  }

  async ended(answer, words, body) {
    words.textContent = answer.error?.message ?? WORDS[answer.outcome] ?? answer.outcome;
    words.className = answer.outcome === "ok" ? "" : "bad";
    speak(words.textContent);
    const drawn = answer.display ? shown(answer.display, framing()) : null;
    if (answer.error?.mayHaveHappened) body.append(el("p", { class: "note bad", text: WORDS.outcome_unknown }));
    if (drawn) body.append(drawn);
    if (answer.result !== undefined) body.append(folded("Result, as it was mapped", pre(pretty(answer.result))));
    if (answer.content) body.append(folded("What a model would read", pre(answer.content)));
    if (answer.error?.details) body.append(folded("Details", pre(pretty(answer.error.details))));
    const request = folded("The request");
    request.addEventListener("toggle", async () => {
      if (!request.open || request.childElementCount > 1) return;
      const found = await ask("GET", path`/v1/calls/${answer.callId}`).catch(() => ({}));
      const sent = found.request ?? {};
      request.append(
        pre(`${sent.method} ${sent.url}`),
        ...(Object.keys(sent.headers ?? {}).length ? [pre(pretty(sent.headers))] : []),
        ...(sent.body === null || sent.body === undefined ? [] : [pre(pretty(sent.body))]));
    });
    body.append(request, record(answer.callId));
    body.querySelector("details")?.setAttribute("open", "");
  }
}

function whereTo(tool) {
  const target = tool.endpoint ?? tool.target ?? {};
  return target.path || target.url ? `${target.method ?? ""} ${target.path ?? target.url}`.trim() : target.type ?? "";
}
