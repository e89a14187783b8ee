// The conversation: the chat of the SDK, with what only the author of an app has beside it.

import { answer, approvalPart } from "/dev/answering.js";
import { ask, brand, key, path, user } from "/dev/api.js";
import { connectForm } from "/dev/connect.js";
import { record } from "/dev/record.js";
import { Chat as View, Connection, el, textsOf } from "/dev/sdk.js";

const STORED = "remit.dev.session";
const BLOCKED = "The app’s page is not shown so far. Load this page again for it.";

const at = (id) => document.getElementById(id);

/** The chat pane; `state()` is what the server says of the run of `remit dev`. */
export class Chat {
  constructor(state) {
    this.state = state;
    this.connection = this.view = this.session = null;
    this.isStarted = false;
    at("new-chat").addEventListener("click", () => this.change(null));
    at("earlier").addEventListener("change", (event) => this.change(event.target.value || null));
  }

  /** Take up the conversation of this tab, or wait for a first message. */
  async start() {
    const kept = sessionStorage.getItem(STORED);
    this.isStarted = true;
    // Another run of `remit dev` may have had it, with a store of its own.
    this.show(kept !== null && (await isThere(kept)) ? kept : null);
  }

  change(session) {
    this.show(session);
    this.view?.focus();
  }

  show(session) {
    this.view?.close();
    this.connection?.close();
    this.view = this.connection = null;
    const { noModel } = this.state();
    at("no-model").textContent = noModel ?? "";
    at("view").hidden = Boolean(noModel);
    this.keep(session);
    if (noModel) return;
    this.connection = new Connection({ server: location.origin, getToken: key, session: session ?? (() => this.begin()) });
    this.view = new View(at("view"), this.connection, {
      brand: brand(),
      standsIn: true,
      answer,
      approvalPart,
      callPart: record,
      connectPart: (input) => connectForm(input.app, this.wants(input.app)),
      texts: { empty: this.empty(), pageBlocked: BLOCKED },
    });
    let status = null;
    this.connection.subscribe(() => {
      const now = this.connection?.snapshot().state.status;
      // A conversation has a title once something was said in it.
      if (now !== status) this.list();
      status = now;
    });
    this.list();
  }

  keep(session) {
    this.session = session;
    if (session) sessionStorage.setItem(STORED, session);
    else sessionStorage.removeItem(STORED);
  }

  async begin() {
    const apps = this.state().apps.filter((one) => one.id && one.version).map((one) => ({ id: one.id }));
    const made = await ask("POST", "/v1/sessions", { user: user(), apps });
    this.keep(made.id);
    return made.id;
  }

  /** A model may be there by now, or gone. */
  refresh() {
    if (this.isStarted && Boolean(this.state().noModel) === Boolean(this.connection)) this.show(this.session);
  }

  wants(app) {
    return this.state().apps.find((one) => one.id === app)?.wants || "bearer";
  }

  empty() {
    const names = this.state().apps.filter((one) => one.version).map((one) => one.name);
    return names.length ? `The agent may use ${names.join(", ")}. Say what you want done.` : "There is no app yet.";
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

/** What pages of apps are framed with. */
export function framing() {
  return { texts: textsOf("en", { pageBlocked: BLOCKED }), brand: brand() };
}
