/** Each entry of the transcript as elements. */

import { MAY_HAVE_HAPPENED } from '../../core/executing.js'
import type {
  CallEntry,
  EndEntry,
  Entry,
  InputEntry,
  LackEntry,
  MessageEntry,
} from '../../core/state.js'
import { card, type Desk, settled } from './cards.js'
import { shown } from './display.js'
import { el, folded, pre, pretty, took } from './dom.js'
import type { Framing } from './embed.js'
import { markdown } from './markdown.js'
import type { Texts } from './texts.js'
import type { WidgetShelf } from './widgets.js'

const BAD = new Set(['error', 'expired', 'outcome_unknown'])
/** What is wrong with a model is for who runs it; the person can only try again. */
const MODEL_FAULT = /^model_(unavailable|invalid)$/

/** What entries are drawn with. */
export interface Drawing extends Desk, Framing {
  readonly shelf: WidgetShelf
  /** What had the focus goes: it must not fall back to the top of the page. */
  readonly refocus: () => void
  /** What the host adds to a call that was opened. */
  readonly callPart: (callId: string) => Node | null
  /** Whether a call is executed in this very page now. */
  readonly isHere: (callId: string) => boolean
}

/** A drawn entry. */
export interface Drawn {
  readonly node: HTMLElement
  /** Draws it as it is now; false where it has to be made anew. */
  readonly update: (entry: Entry) => boolean
  /** Something goes on whose time is shown. */
  readonly tick?: (now: number) => void
}

export function drawn(entry: Entry, drawing: Drawing): Drawn {
  switch (entry.kind) {
    case 'message':
      return message(entry, drawing.texts)
    case 'call':
      return call(entry, drawing)
    case 'input':
      return input(entry, drawing)
    case 'widget':
      return fixed(drawing.shelf.place(entry))
    case 'end':
      return fixed(end(entry, drawing))
    case 'lack':
      return fixed(lack(entry, drawing.texts))
  }
}

function fixed(node: HTMLElement): Drawn {
  return { node, update: () => true }
}

// --- what is said ---------------------------------------------------------------------------

function message(first: MessageEntry, texts: Texts): Drawn {
  const who = first.role === 'user' ? texts.you : texts.agent
  const node = el('div', { class: `turn ${first.role}`, role: 'article', 'aria-label': who })
  let before: MessageEntry | null = null
  const update = (entry: Entry) => {
    if (entry.kind !== 'message' || entry.role !== first.role) {
      return false
    }
    if (before === null || !isSame(entry, before)) {
      node.replaceChildren(...said(entry, texts))
    }
    before = entry
    return true
  }
  update(first)
  return { node, update }
}

function isSame(one: MessageEntry, other: MessageEntry): boolean {
  return one.text === other.text && one.partial === other.partial && one.turn === other.turn
}

function said({ role, text, partial, turn }: MessageEntry, texts: Texts): HTMLElement[] {
  // What the user wrote is shown as it was written.
  const words = role === 'user' ? el('p', { class: 'said', text }) : markdown(text, texts)
  const note = partial ? texts.cutOff : turn && texts[turn]
  return note ? [words, el('p', { class: 'note', text: note })] : [words]
}

// --- what is done ---------------------------------------------------------------------------

function call(first: CallEntry, drawing: Drawing): Drawn {
  const { texts, callPart, isHere } = drawing
  const meta = el('span', { class: 'meta' })
  const inside = el('div', { class: 'inside' })
  const details = el(
    'details',
    { class: 'act' },
    el('summary', {}, el('b', { text: first.title || first.tool }), meta),
    inside,
  )
  const below = el('div', { class: 'below' })
  const node = el('div', { class: 'call' }, details, below)
  let now = first
  let filled: CallEntry | null = null
  // What is folded is drawn when it is opened.
  const fill = () => {
    if (details.open && filled !== now) {
      filled = now
      const told = now.ended ? [el('h3', { text: texts.told }), pre(now.ended.content)] : []
      // What the model made up was no call: nobody has a record of it.
      const more = now.ended && now.app !== null ? callPart(now.id) : null
      inside.replaceChildren(
        el('h3', { text: texts.args }),
        pre(pretty(now.args ?? {})),
        ...told,
        ...(more ? [more] : []),
      )
    }
  }
  details.addEventListener('toggle', fill)
  const tick = (at: number) => {
    if (!now.ended) {
      // How long a person takes is no speed of the call.
      const time = now.waitsFor === 'person' ? '' : ` · ${took(at - Date.parse(now.at))}`
      meta.textContent = ` · ${goingOn(now, isHere(now.id), texts)}${time}`
    }
  }
  const update = (entry: Entry) => {
    if (entry.kind !== 'call') {
      return false
    }
    const wasEnded = now.ended
    now = entry
    node.hidden = entry.isWidget && entry.ended?.outcome === 'ok'
    if (entry.ended && entry.ended !== wasEnded) {
      finish(entry, entry.ended, meta, below, drawing)
    } else {
      tick(Date.now())
    }
    fill()
    return true
  }
  if (first.ended) {
    finish(first, first.ended, meta, below, drawing)
  }
  update(first)
  return { node, update, tick }
}

function goingOn({ waitsFor, progress }: CallEntry, isHere: boolean, texts: Texts): string {
  if (waitsFor === 'person') {
    return texts.waitsForYou.replace(/\.$/, '')
  }
  if (waitsFor === 'page' && !isHere) {
    return texts.waitsForPage.replace(/\.$/, '')
  }
  return progress ? texts.progress(progress.status, progress.polls) : texts.atWork
}

function finish(
  { at }: CallEntry,
  { at: endedAt, outcome, display }: NonNullable<CallEntry['ended']>,
  meta: HTMLElement,
  below: HTMLElement,
  framing: Framing,
): void {
  const { texts } = framing
  const isGood = outcome === 'ok'
  meta.className = BAD.has(outcome) ? 'meta bad' : 'meta'
  meta.textContent = isGood
    ? ` · ${took(Date.parse(endedAt) - Date.parse(at))}`
    : ` · ${texts.outcomes[outcome] ?? outcome}`
  const error = display && 'error' in display ? display.error : null
  const notes: HTMLElement[] = []
  // A person's no, a stop and the like say themselves; what went wrong otherwise does not.
  if (error && (error.code !== outcome || outcome === 'outcome_unknown')) {
    // What the agent is told of it stands below in the person's language.
    const text = error.message.replace(MAY_HAVE_HAPPENED, '').trim()
    notes.push(el('p', { class: 'note bad', text }))
  }
  if (outcome === 'outcome_unknown' || error?.mayHaveHappened) {
    notes.push(el('p', { class: 'note bad', text: texts.unknown }))
  }
  const drawing = isGood ? shown(display, framing) : null
  below.replaceChildren(...notes, ...(drawing ? [drawing] : []))
}

// --- what waits for a person ------------------------------------------------------------------

function input(first: InputEntry, drawing: Drawing): Drawn {
  const node = el('div', { class: 'input' })
  let isOpen: boolean | null = null
  const update = (entry: Entry) => {
    if (entry.kind !== 'input') {
      return false
    }
    const opens = entry.resolved === undefined
    if (opens !== isOpen) {
      isOpen = opens
      const hadFocus = node.contains((node.getRootNode() as Document | ShadowRoot).activeElement)
      node.replaceChildren(opens ? card(entry.input, drawing) : settled(entry, drawing))
      if (hadFocus) {
        drawing.refocus()
      }
    }
    return true
  }
  update(first)
  return { node, update }
}

// --- what went wrong ----------------------------------------------------------------------------

function end({ reason, code, message: said }: EndEntry, { texts, standsIn }: Drawing): HTMLElement {
  if (reason === 'cancelled') {
    return el('p', { class: 'note', text: texts.stopped })
  }
  if (MODEL_FAULT.test(code) && !standsIn) {
    return el(
      'div',
      { class: 'note' },
      el('p', { class: 'bad', text: texts.noModel }),
      folded(texts.why, el('p', { text: said })),
    )
  }
  return el('p', { class: 'note bad', text: said || texts.failed })
}

function lack({ app, tool, reason }: LackEntry, texts: Texts): HTMLElement {
  const words = tool === undefined ? texts.noApp(app, reason) : texts.noTool(app, tool, reason)
  return el('p', { class: 'note', text: words })
}
