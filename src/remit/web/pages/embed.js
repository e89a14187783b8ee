// A page of an app, in a frame of its own. Nothing of it is read, and nothing is told to it; it can
// say how high it is, and no more.

import { brand } from "/dev/api.js";
import { absolute, el, link } from "/dev/dom.js";

// The page keeps its origin, so that its cookies and its sign-in work; it cannot lead this page
// away, and with another origin than this page's it reads nothing here.
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox";
const MIN_PX = 40;
const MAX_PART = 0.7;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** A page of an app, framed; or the words why it is not. */
export function embed(address) {
  const url = absolute(address);
  if (!url || (url.protocol === "http:" && !LOOPBACK.test(url.hostname))) return left("The app's page is not shown: its address is no absolute https one.");
  if (url.origin === location.origin) return left("The app's page is not shown: it is on this page's own origin.");
  // A record masks what the query said, and the page would not be the same.
  if (/[?#]\*\*\*$/.test(address)) return left("The app's page is not shown again: its address was kept without its query.");
  const frame = el("iframe", {
    className: "embed",
    title: `A page of the app, on ${url.host}`,
    sandbox: SANDBOX,
    referrerpolicy: "no-referrer",
    src: url.href,
  });
  return el("figure", { className: "framed" },
    el("figcaption", { className: "small" }, `The app's page on ${url.host} · `, link(url, "Open it in a tab")),
    frame);
}

function left(words) {
  return el("p", { className: "note", text: words });
}

/** The frame that a message came from; null where it is none of the apps'. */
function frameOf(source) {
  if (!source) return null;
  return [...document.querySelectorAll("iframe.embed")].find((one) => one.contentWindow === source) ?? null;
}

window.addEventListener("message", ({ data, source }) => {
  const height = data && typeof data === "object" ? data[`__${brand().toLowerCase()}_height`] : undefined;
  if (typeof height !== "number" || !Number.isFinite(height)) return;
  const frame = frameOf(source);
  // The style sheet has the same bounds, for a window that becomes smaller later.
  if (frame) frame.style.height = `${Math.max(MIN_PX, Math.min(height, MAX_PART * innerHeight))}px`;
});

// Which origins may be framed is fixed when this page is loaded; an app may come later.
document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  if (effectiveDirective !== "frame-src") return;
  for (const frame of document.querySelectorAll("iframe.embed")) {
    if (new URL(frame.src).origin !== absolute(blockedURI)?.origin) continue;
    frame.replaceWith(left("The app's page is not shown so far. Load this page again for it."));
  }
});
