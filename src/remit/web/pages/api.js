// The server's HTTP API, asked with the key that the link was given back for.

import { Http } from "/dev/sdk.js";

export { path } from "/dev/sdk.js";

const STORED = "remit.dev";

let held = null;
let http = null;

/** The key and whose it is: for the code of the link, or what this tab has. Null without one. */
export async function enter() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", location.pathname);
    sessionStorage.setItem(STORED, JSON.stringify(await opened(code)));
  }
  try {
    held = JSON.parse(sessionStorage.getItem(STORED));
  } catch {
    held = null;
  }
  http = held && new Http({ server: location.origin, getToken: key });
  return held;
}

/** What a code opens; there is no key yet. */
async function opened(code) {
  const answer = await fetch("/dev/enter", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code }),
  }).catch(() => null);
  const found = await answer?.json().catch(() => null);
  if (!answer?.ok) throw new Error(found?.detail ?? "The server does not answer. Does `remit dev` still run?");
  return found;
}

export function key() {
  return held.key;
}

export function user() {
  return held.user;
}

/** What the product is called here. */
export function brand() {
  return held.brand;
}

/** Ask once; what changes something is asked again where the server was away, and happens once. */
export function ask(method, where, body, headers = {}) {
  return http.ask(method, where, body, { headers });
}
