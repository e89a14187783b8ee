// The conversation: what is said, what is done, and what waits. All of it comes from the events of
// the session; what is typed here goes to the server and comes back as one.

import { ask, follow, path, user } from "/dev/api.js";
import { card, settled } from "/dev/cards.js";
import { shown } from "/dev/display.js";
import { el, pre, pretty, speak, took, visible } from "/dev/dom.js";
import { record } from "/dev/record.js";

const STORED = "remit.dev.session";
const UNKNOWN = "This may have happened. Check before trying again.";
const ENDINGS = {
  denied: "not done: it was refused",
  skipped: "skipped",
  expired: "not done: nobody answered in time",
  cancelled: "stopped",
  outcome_unknown: UNKNOWN,
};

const BAD = new Set(["error", "expired", "outcome_unknown"]);

const at = (id) => document.getElementById(id);

/** Whether it happened just now, and is not read from the log of an earlier time. */
const isNew = (when) => Date.now() - Date.parse(when) < 10_000;

/** The chat pane; `state()` is what the server says of the run of `remit dev`. */
export class Chat {
  constructor(state) {
    this.state = state;
    this.session = null;
    this.transcript = at("transcript");
    this.clear();
    this.composer();
    this.keepAtEnd();
    at("new-chat").addEventListener("click", () => this.change(null));
    at("earlier").addEventListener("change", (event) => this.change(event.target.value || null));
    setInterval(() => this.tick(), 1000);
  }

  /** Whoever reads at the end stays at the end, also when a picture arrives later. */
  keepAtEnd() {
    const scroll = at("scroll");
    scroll.addEventListener("scroll", () => {
      this.atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
    });
    const seen = new ResizeObserver(() => {
      if (this.atEnd) scroll.scrollTop = scroll.scrollHeight;
    });
    seen.observe(this.transcript);
    seen.observe(scroll);
  }

  /** Take up the conversation of this tab, or wait for a first message. */
  async start() {
    const kept = sessionStorage.getItem(STORED);
    // Another run of `remit dev` may have had it, with a store of its own.
    const there = kept !== null && (await isThere(kept));
    if (there && !this.session) {
      this.session = kept;
      this.follow();
    }
    this.list();
    this.refresh();
  }

  clear() {
    this.messages = new Map();
    this.calls = new Map();
    this.cards = new Map();
    this.status = "idle";
    this.began = null;
    this.atEnd = true;
    this.connection = "";
    this.problem = "";
    this.transcript.replaceChildren();
  }

  change(session) {
    this.reading?.abort();
    // What is still on its way belongs to the conversation it was said in.
    this.sending = null;
    this.session = session;
    if (session) sessionStorage.setItem(STORED, session);
    else sessionStorage.removeItem(STORED);
    this.clear();
    if (session) this.follow();
    this.list();
    this.refresh();
    at("words").focus();
  }

  // --- what is typed ------------------------------------------------------------------------

  composer() {
    const words = at("words");
    at("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    words.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.send();
      }
    });
    at("chat").addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.busy) this.stop();
    });
    at("stop").addEventListener("click", () => this.stop());
  }

  get busy() {
    return this.status !== "idle" && this.status !== "closed";
  }

  async send() {
    const text = at("words").value.trim();
    if (!text || this.sending || at("words").disabled) return;
    const mine = (this.sending = {});
    this.atEnd = true;
    this.problem = "";
    // People correct by typing: what waits for an answer is taken back. What is said while the
    // agent works is its next message.
    const how = this.status === "waiting_human" ? { withdraw: true } : { queue: true };
    at("words").value = "";
    this.refresh();
    try {
      const session = this.session ?? await this.begin(mine);
      await ask("POST", path`/v1/sessions/${session}/messages`, { text, ...how });
    } catch (error) {
      at("words").value ||= text;
      this.problem = error.message;
    }
    if (this.sending === mine) this.sending = null;
    this.refresh();
  }

  /** The id of a new conversation; it is the one shown, unless another was chosen meanwhile. */
  async begin(sending) {
    const apps = this.state().apps.filter((one) => one.id && one.version).map((one) => ({ id: one.id }));
    const made = await ask("POST", "/v1/sessions", { user: user(), apps });
    if (this.sending !== sending) return made.id;
    this.session = made.id;
    sessionStorage.setItem(STORED, made.id);
    this.follow();
    return made.id;
  }

  async stop() {
    try {
      await ask("POST", path`/v1/sessions/${this.session}/cancel`, {});
    } catch (error) {
      this.problem = error.message;
      this.refresh();
    }
  }

  /** The earlier conversations of the user. */
  async list() {
    const found = await ask("GET", path`/v1/sessions?limit=20&user=${user()}`).catch(() => ({ items: [] }));
    const items = found.items ?? [];
    const earlier = at("earlier");
    const name = (one) => one.title || `${one.id.slice(0, 12)}…`;
    earlier.replaceChildren(
      el("option", { value: "", text: "A new one" }),
      ...items.map((one) => el("option", { value: one.id, text: name(one), selected: one.id === this.session })));
    earlier.hidden = at("earlier-label").hidden = items.length === 0;
    at("new-chat").hidden = !this.session;
  }

  // --- what happens -------------------------------------------------------------------------

  follow() {
    const reading = (this.reading = new AbortController());
    follow(this.session, reading.signal, {
      event: (type, data, when) => this.happened(type, data, when),
      lost: () => this.connected("The connection is lost. Trying again."),
      back: () => this.connected(""),
      over: (words) => {
        if (words) this.connected(words);
        this.status = "closed";
        this.refresh();
      },
    });
  }

  connected(words) {
    this.connection = words;
    if (words) speak(words);
    this.refresh();
  }

  happened(type, data, when) {
    const work = {
      message: () => this.message(data, when),
      text_delta: () => this.piece(data),
      run_started: () => { this.began = Date.parse(when); },
      tool_call: () => this.called(data, when),
      tool_progress: () => this.progress(data),
      tool_result: () => this.result(data, when),
      human_input_needed: () => this.needed(data, when),
      human_input_resolved: () => this.resolved(data, when),
      client_tool_call: () => this.note("It waits for a browser of the app; this page has no tools of its own."),
      widget: () => this.note(`${data.widget} is drawn in the app, not here.`),
      catalog: () => this.catalog(data),
      status: () => { this.status = data.status; },
      run_finished: () => this.finished(data),
    }[type];
    work?.();
    this.refresh();
  }

  add(made) {
    this.transcript.append(made);
    return made;
  }

  note(words, bad = false) {
    return this.add(el("p", { className: bad ? "note bad" : "note", text: words }));
  }

  message(data, when) {
    if (data.role === "user") {
      this.began = Date.parse(when);
      this.add(el("div", { className: "turn user", text: data.text }));
      return;
    }
    const made = this.turn(data.messageId);
    made.node.textContent = visible(data.text);
    this.messages.delete(data.messageId);
    if (data.partial) this.note("Cut off here.");
    // The whole answer at once: single words would be read one by one.
    if (isNew(when)) speak(data.text);
  }

  piece(data) {
    const made = this.turn(data.messageId);
    const characters = [...made.text];
    if (data.offset > characters.length) return;
    made.text = characters.slice(0, data.offset).join("") + data.text;
    made.node.textContent = visible(made.text);
  }

  turn(id) {
    let made = this.messages.get(id);
    if (!made) {
      made = { text: "", node: this.add(el("div", { className: "turn" })) };
      this.messages.set(id, made);
    }
    return made;
  }

  catalog(data) {
    for (const app of data.apps ?? []) {
      if (app.unavailable) this.note(`${app.app} cannot be used now: ${app.unavailable}`, true);
      for (const tool of app.dropped ?? []) this.note(`${app.app} offers no ${tool.name}: ${tool.reason}`, true);
    }
  }

  // --- calls --------------------------------------------------------------------------------

  called(data, when) {
    const meta = el("span", { text: "at work" });
    const inside = el("div", { className: "inside" }, el("h3", { text: "Arguments" }), pre(pretty(data.args ?? {})));
    const node = el("details", { className: "act" },
      el("summary", {}, el("b", { text: data.title || data.tool }), meta), inside);
    this.calls.set(data.callId, { title: data.title || data.tool, meta, inside, node, last: node, since: Date.parse(when), word: "at work", kept: Boolean(data.app) });
    this.add(node);
  }

  progress(data) {
    const call = this.calls.get(data.callId);
    if (call) call.word = `${data.status} · poll ${data.polls}`;
  }

  result(data, when) {
    const call = this.calls.get(data.callId);
    if (!call) return;
    this.calls.delete(data.callId);
    const error = data.display?.error;
    const good = data.outcome === "ok";
    call.meta.className = BAD.has(data.outcome) ? "bad" : "";
    call.meta.textContent = good
      ? `· ${took(Math.max(0, Date.parse(when) - call.since))}`
      : `· ${data.outcome === "error" ? "failed" : ENDINGS[data.outcome] ?? data.outcome}`;
    call.inside.append(el("h3", { text: "What the agent was told" }), pre(data.content ?? ""));
    // What the model made up was no call, and has no record.
    if (call.kept) call.inside.append(record(data.callId));
    // A person's no says itself; what refused it otherwise, and why, does not.
    if (error && (data.outcome === "error" || (data.outcome === "denied" && error.code !== "denied"))) call.last.after(el("p", { className: "note bad", text: error.message }));
    if (error?.mayHaveHappened && data.outcome !== "outcome_unknown") this.note(UNKNOWN, true);
    const drawn = good ? shown(data.display) : null;
    if (drawn) call.last.after(drawn);
  }

  // --- people -------------------------------------------------------------------------------

  needed(data, when) {
    const wants = this.state().apps.find((one) => one.id === data.app)?.wants;
    const made = card(data, { wants });
    this.cards.set(data.id, made);
    this.add(made);
    // What is approved is read before its button: where not all of it fits, its head is shown.
    if (this.atEnd && made.offsetHeight > at("scroll").clientHeight - 32) {
      this.atEnd = false;
      made.scrollIntoView({ block: "start" });
    }
    const call = this.calls.get(data.callId);
    if (call) Object.assign(call, { word: "waits for an answer", last: made });
    if (isNew(when)) speak(`An answer is needed. ${data.line ? `${data.line.act}, ${data.line.danger}.` : ""} ${data.title}`);
  }

  resolved(data, when) {
    const made = this.cards.get(data.inputId);
    this.cards.delete(data.inputId);
    for (const call of this.calls.values()) {
      if (call.word === "waits for an answer") Object.assign(call, { word: "at work", since: Date.parse(when) });
    }
    // It is a line already where it was answered here.
    if (made?.classList.contains("card")) settled(made, data, when);
  }

  finished(data) {
    if (data.reason === "waiting") return;
    this.began = null;
    if (data.reason === "cancelled") this.note("Stopped.");
    if (data.reason === "failed" || data.reason === "limit") {
      const words = data.error?.message ?? "The run has failed.";
      this.note(words, true);
      speak(words);
    }
    this.list();
  }

  // --- the line below -----------------------------------------------------------------------

  tick() {
    for (const call of this.calls.values()) {
      call.meta.textContent = `· ${call.word} · ${took(Math.max(0, Date.now() - call.since))}`;
    }
    this.refresh();
  }

  refresh() {
    const { noModel } = this.state();
    const closed = this.status === "closed";
    at("words").disabled = Boolean(noModel) || closed;
    at("send").disabled = Boolean(noModel) || closed || Boolean(this.sending);
    at("stop").hidden = !this.busy;
    at("words").placeholder = closed ? "This conversation is over"
      : this.status === "waiting_human" ? "Say something else: this takes the request back"
      : this.busy ? "Say what comes next"
      : "Write a message";
    const line = at("line");
    line.classList.toggle("bad", Boolean(this.problem || this.connection));
    const words = this.problem || this.connection || this.goingOn();
    if (line.textContent !== words) line.textContent = words;
    this.empty(noModel);
  }

  goingOn() {
    const since = this.began ? ` · ${took(Math.max(0, Date.now() - this.began))}` : "";
    switch (this.status) {
      case "running":
        return this.calls.size || this.messages.size ? "" : `The agent thinks${since}. Esc stops it.`;
      case "waiting_human":
        return "Waits for an answer.";
      case "waiting_client":
        return "Waits for a browser of the app.";
      default:
        return "";
    }
  }

  empty(noModel) {
    if (this.transcript.childElementCount > 0) return;
    if (noModel) this.add(el("p", { className: "note", text: noModel }));
    else if (!this.session) {
      const names = this.state().apps.filter((one) => one.version).map((one) => one.name);
      if (names.length) this.add(el("p", { className: "note", text: `The agent may use ${names.join(", ")}. Say what you want done.` }));
    }
  }
}

/** Whether the server knows a session; where it does not answer, it may. */
async function isThere(session) {
  try {
    await ask("GET", path`/v1/sessions/${session}`);
  } catch (error) {
    return error.status !== 404;
  }
  return true;
}
