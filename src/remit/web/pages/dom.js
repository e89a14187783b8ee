// Elements, made without any HTML: whatever a text holds, it is shown as text.

/** An element with properties and children; a text becomes a text node, null is left out. */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, work] of Object.entries(value)) made.addEventListener(event, work);
    } else if (name in made && typeof value !== "string") {
      made[name] = value;
    } else if (name === "text") {
      made.textContent = visible(value);
    } else {
      made.setAttribute(name === "className" ? "class" : name, value);
    }
  }
  made.append(...children.flat().filter((one) => one !== null && one !== undefined));
  return made;
}

// What cannot be seen, the same characters as the server's `values/visible.py`: controls, joiners,
// fillers, marks that turn a line round, selectors, tags. A selector of style stays behind a sign.
const UNSEEN = String.raw`\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f`
  + String.raw`\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0`
  + String.raw`\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}`;
const STYLE = String.raw`\ufe0e\ufe0f`;
const SHOWN = new RegExp(`[${UNSEEN}]|(?<![^\\s${STYLE}${UNSEEN}])[${STYLE}]`, "gu");

/** A text with every character that cannot be seen written out. */
export function visible(text) {
  return String(text).replaceAll("\r\n", "\n").replace(SHOWN, (one) => {
    const code = one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `⟨U+${code}⟩`;
  });
}

/** A JSON value as text for people to read. */
export function pretty(value) {
  return JSON.stringify(value, null, 2);
}

/** Names and values, one under the other. */
export function pairs(rows) {
  return el("dl", { className: "pairs" }, rows.flatMap(([name, value]) => [
    el("dt", { text: name }),
    el("dd", { text: typeof value === "string" ? value : pretty(value) }),
  ]));
}

/** Something folded away under a word. */
export function folded(word, ...inside) {
  return el("details", {}, el("summary", { text: word }), ...inside);
}

export function pre(text) {
  return el("pre", { text, tabindex: "0" });
}

/** An address of an app that may be a link; null where it is not absolute http(s), or misleads. */
export function absolute(address) {
  if (typeof address !== "string" || address.length > 8192 || !/^https?:\/\//i.test(address)) return null;
  try {
    const url = new URL(address);
    // What stands before an @ only looks like a host.
    return url.username || url.password || visible(address) !== address ? null : url;
  } catch {
    return null;
  }
}

/** A link of an app; it learns nothing of this page. */
export function link(url, label) {
  return el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", text: label });
}

/** A length of time as people say it. */
export function took(ms) {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

export function clock(at) {
  const date = new Date(at ?? Date.now());
  return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

const spoken = document.getElementById("spoken");

/** Tell it to whoever listens to the page instead of looking at it. */
export function speak(words) {
  spoken.textContent = visible(words).slice(0, 400);
}
