// Words for whoever listens to the page instead of looking at it.

import { visible } from "/dev/sdk.js";

/** Tell it. */
export function speak(words) {
  document.getElementById("spoken").textContent = visible(words).slice(0, 400);
}
