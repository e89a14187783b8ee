// The server's HTTP API, asked with the key that the link was given back for.

const STORED = "remit.dev";
const RETRIES_MS = [300, 700, 1500, 3000, 5000];
const QUIET_MS = 45_000;

/** An answer that is none of the good ones; `status` 0 is no answer at all. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The server answered ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.problem = problem;
  }
}

const NO_ANSWER = { detail: "The server does not answer. Does `remit dev` still run?" };

let held = null;

/** The key and whose it is: for the code of the link, or what this tab has. Null without one. */
export async function enter() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", location.pathname);
    const opened = await send("POST", "/dev/enter", { code }, {});
    sessionStorage.setItem(STORED, JSON.stringify(opened));
  }
  try {
    held = JSON.parse(sessionStorage.getItem(STORED));
  } catch {
    held = null;
  }
  return held;
}

export function user() {
  return held.user;
}

/** What the product is called here; empty before the page was entered. */
export function brand() {
  return held?.brand ?? "";
}

/** A path with its parts encoded: path`/v1/apps/${id}`. */
export function path(parts, ...values) {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent));
}

/** Ask once; what changes something is asked again where the server was away, and happens once. */
export async function ask(method, where, body, headers = {}) {
  const sent = { ...headers };
  if (method === "POST") sent["Idempotency-Key"] = crypto.randomUUID();
  for (const wait of RETRIES_MS) {
    try {
      return await send(method, where, body, sent);
    } catch (error) {
      if (error.status !== 0 && error.code !== "idempotency_in_progress") throw error;
      await new Promise((done) => setTimeout(done, wait));
    }
  }
  return send(method, where, body, sent);
}

async function send(method, where, body, headers) {
  const init = { method, headers: { Accept: "application/json", ...authorized(), ...headers } };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(where, init);
  } catch {
    throw new Refused(0, NO_ANSWER);
  }
  const found = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, found);
  return found;
}

function authorized() {
  return held ? { Authorization: `Bearer ${held.key}` } : {};
}

/**
 * Follow a session's events until `signal` ends it, whatever becomes of the connection.
 *
 * `told` has `event(type, data, at)`, `lost()`, `back()` and `over(words)`.
 */
export async function follow(session, signal, told) {
  let last = 0;
  let tries = 0;
  while (!signal.aborted) {
    const quiet = new AbortController();
    const ended = AbortSignal.any([signal, quiet.signal]);
    try {
      for await (const [name, text] of messages(session, last, ended, quiet)) {
        if (tries > 0) told.back();
        tries = 0;
        if (name === null) continue;
        const data = JSON.parse(text);
        if (name === "end" && data.reason === "session_closed") return told.over("The conversation is closed.");
        if (name === "reset") return told.over("The server does not know this conversation as it was.");
        if (name === "text_delta") told.event(name, data);
        else if (data.seq > last) {
          last = data.seq;
          told.event(data.type, data.data, data.at);
        }
      }
    } catch (error) {
      if (error instanceof Refused && error.status < 500 && error.status !== 429) {
        return told.over(error.message);
      }
    }
    if (signal.aborted) return undefined;
    if (tries === 0) told.lost();
    await new Promise((done) => setTimeout(done, Math.min(8000, 250 * 2 ** tries)));
    tries += 1;
  }
  return undefined;
}

/** Name and data of each message; first of all a message without a name: the stream is open. */
async function* messages(session, after, signal, quiet) {
  const headers = { ...authorized(), Accept: "text/event-stream", "Last-Event-ID": String(after) };
  const answer = await fetch(path`/v1/sessions/${session}/events`, { headers, signal });
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
  yield [null, ""];
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const silence = setTimeout(() => quiet.abort(), QUIET_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const found = { event: "message", data: [] };
      for (const line of block.split("\n")) {
        const [, field, text] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
        if (field === "data") found.data.push(text);
        else if (field) found[field] = text;
      }
      if (found.data.length) yield [found.event, found.data.join("\n")];
    }
  }
}
