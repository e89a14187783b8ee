/**
 * How a result is drawn: the page or the note of an app, or one of the renderers; nothing where the
 * folded JSON is enough.
 */

import type { Display } from '../../wire/event.js'
import { isRecord } from '../../wire/json.js'
import { absolute, el, link, pre, pretty, scrolled, visible } from './dom.js'
import { embed, type Framing } from './embed.js'
import { markdown } from './markdown.js'
import type { Texts } from './texts.js'

const MOST_ROWS = 50

/** What is to be seen of a result at once; null where the folded JSON is enough. */
export function shown(display: Display | undefined, framing: Framing): HTMLElement | null {
  const drawn = display && inside(display, framing)
  return drawn ? el('div', { class: 'shown' }, drawn) : null
}

function inside(display: Display, framing: Framing): HTMLElement | null {
  const { texts } = framing
  if ('embedUrl' in display) {
    return embed(display.embedUrl, framing)
  }
  if ('markdown' in display) {
    return markdown(display.markdown, texts)
  }
  if (!('renderer' in display)) {
    return null
  }
  const data = isRecord(display.data) ? display.data : {}
  switch (display.renderer) {
    case 'image':
      return image(data, texts)
    case 'link':
      return linked(data)
    case 'table':
      return table(display.data, texts)
    case 'diff':
      return diff(data, texts)
    default:
      return null
  }
}

type Data = Readonly<Record<string, unknown>>

/** A link of an app, by its label; null where its address is none. */
function linked({ url, label }: Data): HTMLElement | null {
  const found = absolute(url)
  return found && link(found, typeof label === 'string' && label.trim() ? label : String(url))
}

function image({ url, alt }: Data, texts: Texts): HTMLElement | null {
  const found = absolute(url)
  if (!found) {
    return null
  }
  const words = typeof alt === 'string' ? visible(alt) : ''
  const drawn = el('img', {
    src: found.href,
    alt: words || texts.noImage,
    loading: 'lazy',
    referrerpolicy: 'no-referrer',
  })
  // A picture that may not be loaded here is a link.
  drawn.addEventListener('error', () => drawn.replaceWith(link(found, words || found.href)))
  return drawn
}

function table(data: unknown, texts: Texts): HTMLElement | null {
  const given = Array.isArray(data) ? data : isRecord(data) ? data['rows'] : []
  const rows = (Array.isArray(given) ? given : []).filter(isRecord)
  if (rows.length === 0) {
    return null
  }
  const named =
    isRecord(data) && Array.isArray(data['columns']) ? data['columns'].map(String) : null
  const columns = named ?? [...new Set(rows.slice(0, MOST_ROWS).flatMap(Object.keys))]
  const left = rows.length - MOST_ROWS
  const head = columns.map((name) => el('th', { scope: 'col', text: name }))
  const body = rows.slice(0, MOST_ROWS).map((row) =>
    el(
      'tr',
      {},
      columns.map((name) => el('td', { text: cell(row[name]) })),
    ),
  )
  return el(
    'div',
    {},
    scrolled(
      el('table', {}, el('thead', {}, el('tr', {}, head)), el('tbody', {}, body)),
      texts.table,
    ),
    left > 0 ? el('p', { class: 'small', text: texts.moreRows(left) }) : null,
  )
}

function cell(value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}

function diff(data: Data, texts: Texts): HTMLElement {
  const { patch } = data
  if (typeof patch === 'string') {
    const lines = visible(patch).split('\n')
    const kind = (line: string) => ({ '+': 'added', '-': 'removed' })[line[0] ?? '']
    return el(
      'pre',
      { tabindex: '0', class: 'diff' },
      lines.map((line) => el('span', { class: kind(line), text: `${line}\n` })),
    )
  }
  return el(
    'div',
    {},
    el('p', { class: 'small', text: texts.before }),
    pre(side(data['before'])),
    el('p', { class: 'small', text: texts.after }),
    pre(side(data['after'])),
  )
}

function side(value: unknown): string {
  return typeof value === 'string' ? value : pretty(value ?? null)
}
