/**
 * A text drawn from a part of Markdown: paragraphs, headings, lists, quotes, code, tables, bold, italics
 * and absolute links. All else is text, HTML before all; nothing of it is loaded. Elements are made
 * one by one, each from a text, so that no text is ever read as markup.
 */

import { absolute, el, link, pre, scrolled, visible } from './dom.js'
import type { Texts } from './texts.js'

const MAX_CHARACTERS = 16_384
const MAX_DEPTH = 4
const MAX_COLUMNS = 20

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*)$/
const QUOTE = /^ {0,3}> ?(.*)$/
const ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)])[ \t]+(.*)$/
const RULED = /^\s*\|?\s*:?-{1,100}:?\s*(\|\s*:?-{1,100}:?\s*){0,20}\|?\s*$/

/** What is said in the place of what is left out, and of what a table is. */
type Words = Pick<Texts, 'tooLong' | 'table'>

/** A note as elements. */
export function markdown(text: string, texts: Words): HTMLElement {
  const lines = visible(text.slice(0, MAX_CHARACTERS)).split('\n')
  const made = el('div', { class: 'prose' }, blocks(lines, texts, 0))
  if (text.length > MAX_CHARACTERS) {
    made.append(el('p', { class: 'small', text: texts.tooLong }))
  }
  return made
}

/** The blocks of some lines, which stand so deep in quotes. */
function blocks(lines: readonly string[], texts: Words, depth: number): HTMLElement[] {
  const made: HTMLElement[] = []
  let words: string[] = []
  const paragraph = () => {
    if (words.length > 0) {
      made.push(el('p', {}, inline(words.join('\n'))))
    }
    words = []
  }
  for (let at = 0; at < lines.length; ) {
    const found = block(lines, at, texts, depth)
    if (found) {
      paragraph()
      made.push(found.node)
      at = found.next
    } else {
      const line = (lines[at] ?? '').trim()
      if (line) {
        words.push(line)
      } else {
        paragraph()
      }
      at += 1
    }
  }
  paragraph()
  return made
}

interface Block {
  readonly node: HTMLElement
  /** The line after it. */
  readonly next: number
}

/** What begins at a line and is no paragraph. */
function block(lines: readonly string[], at: number, texts: Words, depth: number): Block | null {
  const line = lines[at] ?? ''
  const fence = FENCE.exec(line)?.[1]
  if (fence) {
    const end = lines.findIndex((one, index) => index > at && closes(one, fence))
    const last = end < 0 ? lines.length : end
    return { node: pre(lines.slice(at + 1, last).join('\n')), next: last + 1 }
  }
  const heading = HEADING.exec(line)
  if (heading) {
    // Below the headings of the page, however loud the text is.
    return { node: el('h3', {}, inline(heading[1] ?? '')), next: at + 1 }
  }
  if (depth < MAX_DEPTH && QUOTE.test(line)) {
    return quote(lines, at, texts, depth)
  }
  if (ITEM.test(line)) {
    return list(lines, at)
  }
  return line.includes('|') &&
    RULED.test(lines[at + 1] ?? '') &&
    (lines[at + 1] ?? '').includes('|')
    ? table(lines, at, texts)
    : null
}

function quote(lines: readonly string[], first: number, texts: Words, depth: number): Block {
  const end = lines.findIndex((line, at) => at > first && !QUOTE.test(line))
  const next = end < 0 ? lines.length : end
  const inside = lines.slice(first, next).map((line) => QUOTE.exec(line)?.[1] ?? '')
  return { node: el('blockquote', { dir: 'auto' }, blocks(inside, texts, depth + 1)), next }
}

function closes(line: string, fence: string): boolean {
  const words = line.trim()
  return words.length >= fence.length && words.replaceAll(fence[0] ?? '', '') === ''
}

function table(lines: readonly string[], first: number, texts: Words): Block {
  const columns = cells(lines[first] ?? '')
  const rows: HTMLElement[] = []
  let at = first + 2
  for (; at < lines.length && (lines[at] ?? '').includes('|'); at += 1) {
    const found = cells(lines[at] ?? '')
    rows.push(
      el(
        'tr',
        {},
        columns.map((_, index) => el('td', {}, inline(found[index] ?? ''))),
      ),
    )
  }
  const head = el(
    'tr',
    {},
    columns.map((text) => el('th', { scope: 'col' }, inline(text))),
  )
  const made = el('table', {}, el('thead', {}, head), el('tbody', {}, rows))
  return { node: scrolled(made, texts.table), next: at }
}

function cells(line: string): string[] {
  const inside = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inside
    .split('|')
    .slice(0, MAX_COLUMNS)
    .map((one) => one.trim())
}

interface Level {
  readonly node: HTMLElement
  readonly indent: number
}

interface Item {
  readonly node: HTMLElement
  readonly words: string[]
}

/** The list that begins at a line, with those inside of it; below the deepest there is none. */
function list(lines: readonly string[], first: number): Block {
  const levels: Level[] = []
  const items: Item[] = []
  let at = first
  for (; at < lines.length; at += 1) {
    const found = ITEM.exec(lines[at] ?? '')
    const made = found && item(levels, found)
    if (made) {
      items.push(made)
    } else if (found || !goesOn(lines, at, items.at(-1))) {
      break
    }
  }
  // Before the lists that stand in them.
  for (const { node, words } of items) {
    node.prepend(...inline(words.join('\n')))
  }
  return { node: levels[0]?.node ?? el('ul'), next: at }
}

/** Whether a list goes on with a line that begins no item: one that is indented is of the item before. */
function goesOn(lines: readonly string[], at: number, last: Item | undefined): boolean {
  const line = lines[at] ?? ''
  if (!line.trim()) {
    return ITEM.test(lines[at + 1] ?? '')
  }
  if (!/^\s/.test(line) || !(lines[at - 1] ?? '').trim()) {
    return false
  }
  last?.words.push(line.trim())
  return true
}

/**
 * Put an item into the list that its indentation says; `levels` are the open lists, outside in.
 * Null where it begins another list beside the outermost.
 */
function item(levels: Level[], found: RegExpExecArray): Item | null {
  const [, { length: indent } = '', number, words = ''] = found
  while (levels.length > 1 && indent < (levels.at(-1)?.indent ?? 0)) {
    levels.pop()
  }
  const around = levels.at(-1)
  const isDeeper = around !== undefined && indent >= around.indent + 2 && levels.length < MAX_DEPTH
  const tag = number === undefined ? 'ul' : 'ol'
  if (!around || isDeeper || around.node.localName !== tag) {
    if (around && !isDeeper && levels.length === 1) {
      return null
    }
    const node = el(tag, { dir: 'auto', start: number === undefined ? null : Number(number) })
    open(levels, { node, indent }, isDeeper)
  }
  const made = el('li')
  levels.at(-1)?.node.append(made)
  return { node: made, words: [words] }
}

/** A new list: inside of the last item, or after the list that it takes the place of. */
function open(levels: Level[], level: Level, isDeeper: boolean): void {
  const around = levels.at(-1)
  if (isDeeper) {
    around?.node.lastElementChild?.append(level.node)
  } else if (around) {
    levels.pop()
    around.node.after(level.node)
  }
  levels.push(level)
}

// --- inside of a line -----------------------------------------------------------------------

const TOKEN =
  /\\([!-/:-@[-`{-~])|`+|!?\[|<(https?:\/\/[^\s<>]+)>|<[/!a-z][^<>]*>|https?:\/\/[^\s<>`*]+|\*{1,3}|_{1,3}/gi
const LINK =
  /(!?)\[([^[\]]{0,1000})\]\(\s*<?((?:[^\s()<>]|\([^\s()]*\)){0,8192})>?(?:\s+"[^"]{0,1000}")?\s*\)/y
const WORD = /[\p{L}\p{N}]/u

/** A text, of which what is left of a line was taken up to `done`. */
class Line {
  readonly nodes: Node[] = []
  readonly #text: string
  readonly #depth: number
  /** Marks that never close from here on. */
  readonly #hopeless = new Set<string>()
  #done = 0

  constructor(text: string, depth: number) {
    this.#text = text
    this.#depth = depth
  }

  read(): Node[] {
    const token = new RegExp(TOKEN)
    for (let found = token.exec(this.#text); found; found = token.exec(this.#text)) {
      this.#take(found)
      token.lastIndex = Math.max(this.#done, found.index + found[0].length)
    }
    if (this.#done < this.#text.length) {
      this.nodes.push(plain(this.#text.slice(this.#done)))
    }
    return this.nodes
  }

  #take(found: RegExpExecArray): void {
    const [mark, escaped, address] = found
    const from = found.index
    if (escaped !== undefined) {
      this.#put(plain(escaped), from, from + mark.length)
    } else if (mark[0] === '`') {
      this.#code(mark, from)
    } else if (mark.endsWith('[')) {
      this.#link(from)
    } else if (address || /^http/i.test(mark)) {
      this.#address(mark, address, from)
    } else if (mark[0] !== '<' && this.#depth < MAX_DEPTH) {
      this.#stress(mark, from)
    }
    // A tag of HTML stays text as a whole.
  }

  #put(node: Node, from: number, to: number): void {
    if (from > this.#done) {
      this.nodes.push(plain(this.#text.slice(this.#done, from)))
    }
    this.nodes.push(node)
    this.#done = to
  }

  #code(mark: string, from: number): void {
    const after = from + mark.length
    const end = this.#hopeless.has(mark) ? -1 : endOfCode(this.#text, mark, after)
    if (end < 0) {
      this.#hopeless.add(mark)
    } else {
      this.#put(el('code', { text: this.#text.slice(after, end) }), from, end + mark.length)
    }
  }

  #link(from: number): void {
    LINK.lastIndex = from
    const whole = LINK.exec(this.#text)
    if (whole) {
      this.#put(linked(whole), from, from + whole[0].length)
    }
  }

  #address(mark: string, address: string | undefined, from: number): void {
    const bare = address ?? trimmed(mark)
    const url = absolute(bare)
    if (url) {
      this.#put(shown(url, bare), from, from + (address ? mark.length : bare.length))
    }
  }

  #stress(mark: string, from: number): void {
    const end = this.#hopeless.has(mark) ? 0 : endOfMark(this.#text, mark, from)
    if (end === null) {
      this.#hopeless.add(mark)
    } else if (end > 0) {
      const inside = inline(this.#text.slice(from + mark.length, end), this.#depth + 1)
      this.#put(stressed(mark.length, inside), from, end + mark.length)
    }
  }
}

/** The nodes of a text; beyond a depth its marks are text. */
function inline(text: string, depth = 0): Node[] {
  return new Line(text, depth).read()
}

function plain(text: string): Text {
  return document.createTextNode(text)
}

function stressed(marks: number, nodes: readonly Node[]): HTMLElement {
  if (marks === 1) {
    return el('em', {}, nodes)
  }
  return el('strong', {}, marks === 3 ? el('em', {}, nodes) : nodes)
}

/** An address without what ends the sentence around it. */
function trimmed(address: string): string {
  let end = address.length
  while (end > 0 && '.,:;!?\'")]_'.includes(address[end - 1] ?? ' ')) {
    end -= 1
  }
  return address.slice(0, end)
}

function endOfCode(text: string, mark: string, after: number): number {
  const run = /`+/g
  run.lastIndex = after
  for (let found = run.exec(text); found; found = run.exec(text)) {
    if (found[0] === mark) {
      return found.index
    }
  }
  return -1
}

/** Where a mark closes; null where it never does from here on, 0 where it opens nothing here. */
function endOfMark(text: string, mark: string, from: number): number | null {
  const after = from + mark.length
  const isUnder = mark[0] === '_'
  const isInWord = isUnder && WORD.test(text[from - 1] ?? '')
  if (isInWord || /^\s?$/.test(text[after] ?? '') || text[after] === mark[0]) {
    return 0
  }
  for (let end = text.indexOf(mark, after); end >= 0; end = text.indexOf(mark, end + 1)) {
    const beyond = text[end + mark.length] ?? ''
    const before = text[end - 1] ?? ''
    const isLonger = beyond === mark[0] || (mark.length === 1 && before === mark)
    const opens = /\s/.test(before) || before === '\\' || (isUnder && WORD.test(beyond))
    if (!isLonger && !opens) {
      return end
    }
  }
  return null
}

/** A link where its address is absolute http(s); else what was written, as code. */
function linked([written, image, label = '', address]: RegExpExecArray): Node {
  const url = image ? null : absolute(address)
  return url && label.trim() ? shown(url, label) : el('code', { text: written })
}

/** A link that says which host it leads to, unless its words are the address itself. */
function shown(url: URL, label: string): Node {
  const made = link(url, label)
  if (label === url.href || `${label}/` === url.href) {
    return made
  }
  return el('span', {}, made, el('span', { class: 'small', text: ` (${url.host})` }))
}
