// An app's note, drawn from a part of Markdown: paragraphs, headings, lists, code, bold, italics
// and absolute links. All else is text, HTML before all; nothing of it is loaded. Elements are
// made one by one, each from a text, so that no text is ever read as markup.

import { absolute, el, link, pre, visible } from "/dev/dom.js";

const MAX_CHARACTERS = 16_384;
const MAX_DEPTH = 4;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*)$/;
const ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)])[ \t]+(.*)$/;

/** A note as elements. */
export function markdown(text) {
  const made = el("div", { className: "prose" });
  const lines = visible(text.slice(0, MAX_CHARACTERS)).split("\n");
  let at = 0;
  let words = [];
  const paragraph = () => {
    if (words.length) made.append(el("p", {}, inline(words.join("\n"))));
    words = [];
  };
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line)?.[1];
    const heading = HEADING.exec(line);
    if (fence) {
      paragraph();
      const end = lines.findIndex((one, index) => index > at && closes(one, fence));
      const last = end < 0 ? lines.length : end;
      made.append(pre(lines.slice(at + 1, last).join("\n")));
      at = last + 1;
    } else if (heading) {
      paragraph();
      // Below the headings of the page, however loud the app is.
      made.append(el("h3", {}, inline(heading[1])));
      at += 1;
    } else if (ITEM.test(line)) {
      paragraph();
      const found = list(lines, at);
      made.append(found.node);
      at = found.next;
    } else {
      if (line.trim()) words.push(line.trim());
      else paragraph();
      at += 1;
    }
  }
  paragraph();
  if (text.length > MAX_CHARACTERS) made.append(el("p", { className: "small", text: "The rest is left out: it is too long." }));
  return made;
}

function closes(line, fence) {
  const words = line.trim();
  return words.length >= fence.length && words.replaceAll(fence[0], "") === "";
}

/** The list that begins at a line, with those inside of it; below the deepest there is none. */
function list(lines, first) {
  const levels = [];
  const items = [];
  let at = first;
  for (; at < lines.length; at += 1) {
    const found = ITEM.exec(lines[at]);
    if (found) {
      const made = item(levels, found);
      if (!made) break;
      items.push(made);
    } else if (lines[at].trim()) {
      // A line that is indented goes on with the item before it.
      if (!/^\s/.test(lines[at]) || !lines[at - 1].trim()) break;
      items.at(-1).words.push(lines[at].trim());
    } else if (!ITEM.test(lines[at + 1] ?? "")) {
      break;
    }
  }
  // Before the lists that stand in them.
  for (const { node, words } of items) node.prepend(...inline(words.join("\n")));
  return { node: levels[0].node, next: at };
}

/** Put an item into the list that its indentation says; `levels` are the open lists, outside in.
 * Null where it begins another list beside the outermost. */
function item(levels, [, { length: indent }, number, words]) {
  while (levels.length > 1 && indent < levels.at(-1).indent) levels.pop();
  const around = levels.at(-1);
  const deeper = around && indent >= around.indent + 2 && levels.length < MAX_DEPTH;
  const tag = number === undefined ? "UL" : "OL";
  if (!around || deeper || around.node.tagName !== tag) {
    if (around && !deeper && levels.length === 1) return null;
    const node = el(tag, number === undefined ? {} : { start: Number(number) });
    if (deeper) around.node.lastElementChild.append(node);
    else if (around) levels.pop().node.after(node);
    levels.push({ node, indent });
  }
  const made = el("li");
  levels.at(-1).node.append(made);
  return { node: made, words: [words] };
}

// --- inside of a line -----------------------------------------------------------------------

const TOKEN = /\\([!-/:-@[-`{-~])|`+|!?\[|<(https?:\/\/[^\s<>]+)>|<[/!a-z][^<>]*>|https?:\/\/[^\s<>`*]+|\*{1,3}|_{1,3}/gi;
const LINK = /(!?)\[([^[\]]{0,1000})\]\(\s*<?((?:[^\s()<>]|\([^\s()]*\)){0,8192})>?(?:\s+"[^"]{0,1000}")?\s*\)/y;
const WORD = /[\p{L}\p{N}]/u;

/** The nodes of a text, in which a tag of HTML is text as a whole; beyond a depth its marks are text. */
function inline(text, depth = 0) {
  const nodes = [];
  const hopeless = new Set();
  let done = 0;
  const take = (node, from, to) => {
    if (from > done) nodes.push(plain(text.slice(done, from)));
    nodes.push(node);
    done = to;
  };
  const token = new RegExp(TOKEN);
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [mark, escaped, address] = found;
    const from = found.index;
    const after = from + mark.length;
    if (escaped !== undefined) {
      take(plain(escaped), from, after);
    } else if (mark[0] === "`") {
      const end = hopeless.has(mark) ? -1 : endOfCode(text, mark, after);
      if (end < 0) hopeless.add(mark);
      else take(el("code", { text: text.slice(after, end) }), from, end + mark.length);
    } else if (mark.endsWith("[")) {
      LINK.lastIndex = from;
      const whole = LINK.exec(text);
      if (whole) take(linked(whole), from, from + whole[0].length);
    } else if (address || /^http/i.test(mark)) {
      const bare = address ?? trimmed(mark);
      const url = absolute(bare);
      if (url) take(shown(url, bare), from, address ? after : from + bare.length);
    } else if (mark[0] !== "<" && depth < MAX_DEPTH && !hopeless.has(mark)) {
      const end = endOfMark(text, mark, from);
      if (end === null) hopeless.add(mark);
      else if (end > 0) take(stressed(mark.length, inline(text.slice(after, end), depth + 1)), from, end + mark.length);
    }
    token.lastIndex = Math.max(done, after);
  }
  if (done < text.length) nodes.push(plain(text.slice(done)));
  return nodes;
}

function plain(text) {
  return document.createTextNode(text);
}

function stressed(marks, nodes) {
  if (marks === 1) return el("em", {}, nodes);
  return el("strong", {}, marks === 3 ? el("em", {}, nodes) : nodes);
}

/** An address without what ends the sentence around it. */
function trimmed(address) {
  let end = address.length;
  while (end > 0 && ".,:;!?'\")]_".includes(address[end - 1])) end -= 1;
  return address.slice(0, end);
}

function endOfCode(text, mark, after) {
  const run = /`+/g;
  run.lastIndex = after;
  for (let found = run.exec(text); found; found = run.exec(text)) {
    if (found[0] === mark) return found.index;
  }
  return -1;
}

/** Where a mark closes; null where it never does from here on, 0 where it opens nothing here. */
function endOfMark(text, mark, from) {
  const after = from + mark.length;
  const inWord = mark[0] === "_" && WORD.test(text[from - 1] ?? "");
  if (inWord || /^\s?$/.test(text[after] ?? "") || text[after] === mark[0]) return 0;
  for (let end = text.indexOf(mark, after); end >= 0; end = text.indexOf(mark, end + 1)) {
    const beyond = text[end + mark.length] ?? "";
    const longer = beyond === mark[0] || (mark.length === 1 && text[end - 1] === mark);
    const opens = /\s/.test(text[end - 1]) || text[end - 1] === "\\" || (mark[0] === "_" && WORD.test(beyond));
    if (!longer && !opens) return end;
  }
  return null;
}

/** A link where its address is absolute http(s); else what was written, as code. */
function linked([written, image, label, address]) {
  const url = image ? null : absolute(address);
  return url && label.trim() ? shown(url, label) : el("code", { text: written });
}

/** A link that says which host it leads to, unless its words are the address itself. */
function shown(url, label) {
  const made = link(url, label);
  if (label === url.href || `${label}/` === url.href) return made;
  return el("span", {}, made, el("span", { className: "small", text: ` (${url.host})` }));
}
