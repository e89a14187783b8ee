// Answers to what waits for a person, of the author's, who stands in for everybody here.

import { ask, path, user } from "/dev/api.js";
import { el } from "/dev/sdk.js";

const SOMEBODY = "somebody-else";
/** Who is to answer in the place of the user, by the input's id. */
const others = new Map();

/** What an approval that is for somebody else than the user has more: as whom it is answered. */
export function approvalPart(input) {
  if (input.by !== "other") return null;
  const other = el("input", { type: "text", value: SOMEBODY });
  others.set(input.id, other);
  return el("label", { class: "field" }, el("span", { text: "It is for somebody else than the user. Answer as" }), other);
}

function answerer(input) {
  const other = others.get(input.id);
  return other ? other.value.trim() || SOMEBODY : user();
}

/** Give an answer; what the input is by then, where it is another one, else null. */
export async function answer(input, given) {
  return (await answered(input, given)).again;
}

/** The same, with how the input stands: `stands` where it is closed. */
export async function answered(input, given) {
  try {
    return { stands: await ask("POST", path`/v1/inputs/${input.id}/answer`, { user: answerer(input), ...given }), again: null };
  } catch (error) {
    const stands = error.problem?.input;
    if (!stands) throw error;
    return stands.status === "open" ? { stands: null, again: stands } : { stands, again: null };
  }
}
