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

// What cannot be seen: controls, joiners, marks that turn a line round, tags.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** A text with every character that cannot be seen written out. */
export function visible(text) {
  return String(text).replace(UNSEEN, (one) => {
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
