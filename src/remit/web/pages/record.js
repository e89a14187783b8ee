// The record of a call: why it came about as it did.

import { ask, path } from "/dev/api.js";
import { clock, el, folded, pairs, pre, pretty } from "/dev/sdk.js";

/** The record of a call, read when it is opened. */
export function record(call) {
  const made = folded("The record");
  made.addEventListener("toggle", async () => {
    if (!made.open || made.childElementCount > 1) return;
    try {
      const found = await ask("GET", path`/v1/calls/${call}`);
      made.append(why(found), pre(pretty(found)));
    } catch (error) {
      made.append(el("p", { class: "small bad", text: error.message }));
    }
  });
  return made;
}

const ORIGINS = {
  model: "from the model",
  pin: "fixed by a pin",
  repair: "given in another form, and repaired",
  button: "from a button",
  caller: "from the caller",
};
const VERDICTS = { allow: "lets it pass", ask: "asks a person", deny: "refuses it" };

/** Why a call came about as it did, as far as its record says. */
function why(found) {
  const rows = [["Call", found.id], ["Who", `${found.user}, at ${clock(found.at)}`]];
  for (const [name, origin] of Object.entries(found.argOrigins ?? {})) {
    rows.push([name, ORIGINS[origin] ?? origin]);
  }
  for (const one of found.policy ?? []) {
    rows.push([one.rule, `${VERDICTS[one.verdict] ?? one.verdict}: ${one.reason}`]);
  }
  if (found.answeredBy) rows.push(["Answered by", found.answeredBy]);
  if (found.request) rows.push(["Sent", found.attempts?.length ? `${found.request.method} ${found.request.url}` : "nothing"]);
  for (const one of found.attempts ?? []) rows.push(["Answer", `${one.status ?? "none"} after ${one.ms} ms`]);
  return pairs(rows);
}
