// How a result is drawn: the page or the note of an app, one of five renderers, or as JSON where it
// does not fit.

import { absolute, el, link, pre, pretty, visible } from "/dev/dom.js";
import { embed } from "/dev/embed.js";
import { markdown } from "/dev/markdown.js";

/** What is to be seen of a result at once; null where the folded JSON is enough. */
export function shown(display) {
  const drawn = display && inside(display);
  return drawn ? el("div", { className: "shown" }, drawn) : null;
}

function inside(display) {
  if (display.embedUrl) return embed(display.embedUrl);
  if (display.markdown) return markdown(display.markdown);
  const data = display.data;
  switch (display.renderer) {
    case "image":
      return image(data ?? {});
    case "link":
      return linked(data ?? {});
    case "table":
      return table(data ?? {});
    case "diff":
      return diff(data ?? {});
    default:
      return null;
  }
}

/** A link of an app, by its label; null where its address is none. */
function linked({ url, label }) {
  const found = absolute(url);
  return found && link(found, typeof label === "string" && label.trim() ? label : url);
}

function image({ url, alt }) {
  const found = absolute(url);
  if (!found) return null;
  const words = visible(alt ?? "");
  const drawn = el("img", { src: found.href, alt: words, loading: "lazy", referrerpolicy: "no-referrer" });
  // A picture of another origin than the app's is not loaded: it is a link then.
  drawn.addEventListener("error", () => drawn.replaceWith(link(found, alt || url)));
  return drawn;
}

const MOST_ROWS = 50;

function table(data) {
  const rows = (Array.isArray(data) ? data : data.rows ?? []).filter((row) => row && typeof row === "object");
  if (rows.length === 0) return null;
  const named = Array.isArray(data.columns) ? data.columns.map(String) : null;
  const columns = named ?? [...new Set(rows.slice(0, MOST_ROWS).flatMap(Object.keys))];
  const cell = (value) => (value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));
  const left = rows.length - MOST_ROWS;
  return el("div", {},
    el("div", { className: "table", tabindex: "0", role: "region", "aria-label": "Table" },
      el("table", {},
        el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col", text: name })))),
        el("tbody", {}, rows.slice(0, MOST_ROWS).map((row) =>
          el("tr", {}, columns.map((name) => el("td", { text: cell(row[name]) }))))))),
    left > 0 ? el("p", { className: "small", text: `And ${left} more rows.` }) : null);
}

function diff(data) {
  if (typeof data.patch === "string") return pre(data.patch);
  const side = (value) => (typeof value === "string" ? value : pretty(value ?? null));
  return el("div", {},
    el("p", { className: "small", text: "Before" }), pre(side(data.before)),
    el("p", { className: "small", text: "After" }), pre(side(data.after)));
}
