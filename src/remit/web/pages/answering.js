// Answers to what waits for a person, of the author's, who stands in for everybody here.

import { ask, path, user } from "/dev/api.js";

/** Give an answer; what the input is by then, where it is another one, else null. */
export async function answer(input, given) {
  return (await answered(input, given)).again;
}

/** The same, with how the input stands: `stands` where it is closed. */
export async function answered(input, given) {
  try {
    return { stands: await ask("POST", path`/v1/inputs/${input.id}/answer`, { user: user(), ...given }), again: null };
  } catch (error) {
    const stands = error.problem?.input;
    if (!stands) throw error;
    return stands.status === "open" ? { stands: null, again: stands } : { stands, again: null };
  }
}
