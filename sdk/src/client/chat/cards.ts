/** What waits for a person: an approval, an action card of an app, a connection that is missing. */

import type { InputEntry } from '../../core/state.js'
import type { Input, Resolution } from '../../wire/event.js'
import { isRecord } from '../../wire/json.js'
import type { Answer } from '../snapshot.js'
import { button, clock, el, folded, pairs, pre, pretty } from './dom.js'
import type { Texts } from './texts.js'

/** The platform's words for what is destructive. */
const GONE = 'cannot be undone'
/** And for where a call of a page's own tool runs. */
const CLIENT = "the user's client"
const MOST_PREVIEWED = 20
const MAX_NOTE = 2000

/** What a card needs of the chat. */
export interface Desk {
  readonly texts: Texts
  readonly locale: string
  /** @returns the input as it stands where it is another one by now, else null. */
  readonly answer: (input: Input, answer: Answer) => Promise<Input | null>
  /** Whether who looks may answer for somebody else. */
  readonly standsIn: boolean
  /** What the host adds to the card of a missing connection. */
  readonly connectPart: (input: Input) => Node | null
  /** What the host adds to an approval: the record that an id names, say. */
  readonly approvalPart: (input: Input) => Node | null
}

/** The card of an open input. None of its buttons has the focus by itself. */
export function card(input: Input, desk: Desk): HTMLElement {
  const made = el('article', {})
  fill(made, input, desk, '')
  return made
}

/** The one line that a card becomes: who decided, what, and when. */
export function settled({ input, resolved }: InputEntry, { texts, locale }: Desk): HTMLElement {
  const line = el('p', { class: 'note' })
  if (resolved) {
    const who = (resolved.by ?? '').replace(/^user:/, '').split(' through ')[0] ?? ''
    const isNobody = !who || who === 'system' || resolved.status === 'expired'
    const what = decision(input, resolved, isNobody, texts)
    const note = resolved.note ? `: ${resolved.note}` : ''
    const said = isNobody ? what : `${who} ${what}`
    line.append(
      el('span', { text: `${said} · ${clock(resolved.at, locale)} · ${input.title}${note}` }),
    )
  }
  return line
}

function decision(input: Input, resolved: Resolution, isNobody: boolean, texts: Texts): string {
  if (resolved.status === 'expired') {
    return texts.nobody
  }
  if (resolved.press) {
    return pressed(input, resolved.press, resolved.device, texts)
  }
  // A card is cancelled by a button of its own, which a message in the place of an answer is not.
  return resolved.status === 'cancelled' && input.kind === 'action' && !isNobody
    ? texts.cancelled
    : (texts.decided[resolved.status] ?? resolved.status)
}

function fill(made: HTMLElement, input: Input, desk: Desk, fault: string): void {
  const isGone = input.kind === 'approval' && input.line?.danger === GONE
  made.className = isGone ? 'card destructive' : 'card'
  made.setAttribute('aria-label', desk.texts.waits(input.title))
  const answer = answerer(made, input, desk)
  const draw = { approval: approving(desk), action, connect: connecting(desk) }[input.kind]
  const said = el('p', { class: 'small bad fault', role: 'alert', text: fault })
  made.replaceChildren(...draw(input, answer, desk.texts).filter(isNode), said)
}

function isNode(one: Node | null): one is Node {
  return one !== null
}

type Answering = (answer: Answer) => void

/** Sends an answer once; what the server says against it stands on the card. */
function answerer(made: HTMLElement, input: Input, desk: Desk): Answering {
  return async (body) => {
    const controls = [
      ...made.querySelectorAll<HTMLButtonElement | HTMLInputElement>('button, input'),
    ]
    const lock = (isLocked: boolean) => {
      for (const one of controls) {
        one.disabled = isLocked
      }
    }
    const root = made.getRootNode() as Document | ShadowRoot
    const focused = controls.find((one) => one === root.activeElement)
    // What is disabled loses the focus: until there is an answer, the card itself has it.
    if (focused) {
      made.tabIndex = -1
      made.focus({ preventScroll: true })
    }
    lock(true)
    made.setAttribute('aria-busy', 'true')
    try {
      const stands = await desk.answer(input, body)
      if (stands) {
        // The request is another one by now: it is shown as it stands, before it is answered.
        fill(made, stands, desk, desk.texts.changed)
      }
    } catch (error) {
      lock(false)
      focused?.focus({ preventScroll: true })
      const said = made.querySelector('.fault')
      if (said) {
        said.textContent = (error as Error).message
      }
    }
    made.removeAttribute('aria-busy')
  }
}

// --- an approval ----------------------------------------------------------------------------

function approving({ standsIn, approvalPart }: Desk) {
  return (input: Input, answer: Answering, texts: Texts): (Node | null)[] => {
    const { line, arguments: given = [], reason } = input
    return [
      el(
        'div',
        { class: 'platform' },
        el(
          'p',
          {},
          el('strong', {
            text: line
              ? `${texts.platform(line.act)} · ${texts.platform(line.danger)}`
              : input.tool,
          }),
        ),
        line ? el('p', { class: 'small', text: where(line.host, input, texts) }) : null,
      ),
      el('p', { class: 'title' }, title(input)),
      given.length > 0 ? pairs(given.map((one) => [one.title, one.text])) : null,
      approvalPart(input),
      preview(input, texts),
      reason ? el('p', { class: 'small', text: texts.because(reason) }) : null,
      request(input, texts),
      ...verbs(input, answer, texts, standsIn),
    ]
  }
}

function where(host: string, { account }: Input, texts: Texts): string {
  return host === CLIENT ? texts.inPage : texts.on(host, account ?? '')
}

function title({ titleParts, title: whole }: Input): HTMLElement[] {
  const parts = titleParts?.length ? titleParts : [{ text: whole, inserted: false }]
  return parts.map((part) => el(part.inserted ? 'q' : 'span', { text: part.text }))
}

function preview({ preview: found, previewFailure }: Input, texts: Texts): HTMLElement | null {
  if (previewFailure) {
    return el('p', { class: 'small bad', text: texts.noPreview(previewFailure) })
  }
  if (found === undefined || found === null) {
    return null
  }
  const drawn = isRecord(found)
    ? pairs(Object.entries(found).slice(0, MOST_PREVIEWED))
    : pre(pretty(found))
  return el('div', {}, el('p', { class: 'small', text: texts.preview }), drawn)
}

function request({ request: frozen, digest }: Input, texts: Texts): HTMLElement | null {
  if (!isRecord(frozen)) {
    return null
  }
  const { method, url, headers, body } = frozen
  return folded(
    texts.request,
    pre(`${method} ${url}`),
    isRecord(headers) && Object.keys(headers).length > 0 ? pre(pretty(headers)) : null,
    body === null || body === undefined
      ? null
      : pre(typeof body === 'string' ? body : pretty(body)),
    el('p', { class: 'small', text: digest }),
  )
}

function verbs(
  input: Input,
  answer: Answering,
  texts: Texts,
  standsIn: boolean,
): readonly (HTMLElement | null)[] {
  if (input.by === 'operator' || (input.by === 'other' && !standsIn)) {
    const words = input.by === 'operator' ? texts.forOperator : texts.forOther
    return [el('p', { class: 'small', text: words })]
  }
  const isGone = input.line?.danger === GONE
  const note = el('input', { type: 'text', maxlength: MAX_NOTE })
  const again = input.rememberable ? el('input', { type: 'checkbox' }) : null
  const yes = () =>
    answer({
      decision: 'approve',
      digest: input.digest,
      ...(again?.checked && { remember: 'session' }),
    })
  const no = () => {
    const words = note.value.trim()
    answer({ decision: 'deny', ...(words && { note: words }) })
  }
  note.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing && note.value.trim()) {
      event.preventDefault()
      no()
    }
  })
  return [
    again && el('label', { class: 'check' }, again, el('span', { text: texts.remember })),
    el('label', { class: 'field' }, el('span', { text: texts.whyNot }), note),
    el(
      'div',
      { class: 'buttons' },
      button(input.verb ?? input.tool, yes, isGone ? 'danger' : 'primary'),
      button(texts.notNow, no),
    ),
  ]
}

// --- an action card of an app ---------------------------------------------------------------

interface Button {
  readonly id: string
  readonly label: string
  readonly variant?: string
  readonly input?: unknown
  readonly target?: Readonly<Record<string, unknown>>
  readonly does?: { readonly act: string; readonly danger: string; readonly host: string }
}

/** The platform's words first, then the app's, then its buttons, then the platform's. */
function action(input: Input, answer: Answering, texts: Texts): (Node | null)[] {
  const { line } = input
  const shown = input.card ?? {}
  const device = assignee(input)
  const buttons = buttonsOf(input)
  return [
    el(
      'div',
      { class: 'platform' },
      line
        ? el(
            'p',
            {},
            el('strong', { text: `${texts.platform(line.act)} · ${texts.platform(line.danger)}` }),
          )
        : null,
      el('p', { class: 'small', text: texts.askedBy(input.app ?? '', line?.host ?? '') }),
    ),
    el(
      'section',
      { class: 'app', 'aria-label': texts.appsWords },
      el('p', { class: 'title', text: String(shown['title'] ?? input.title) }),
      shown['description'] ? el('p', { class: 'words', text: String(shown['description']) }) : null,
      device === null ? presses(buttons, answer) : null,
    ),
    ...(device === null
      ? warnings(buttons, texts)
      : [el('p', {}, el('strong', { text: texts.continueOn(device) }))]),
    el(
      'div',
      { class: 'buttons own' },
      button(texts.skip, () => answer({ skip: true }), 'quiet'),
      button(texts.cancel, () => answer({ cancel: true }), 'quiet'),
      el('p', { class: 'small', text: texts.skipCancel }),
    ),
  ]
}

/** Where its buttons are; null where that is here. */
function assignee({ card: shown }: Input): string | null {
  const found = shown?.['assignee']
  return isRecord(found) ? String(found['name'] || found['computerId']) : null
}

function presses(buttons: readonly Button[], answer: Answering): HTMLElement {
  const kinds: Readonly<Record<string, string>> = { primary: 'primary', danger: 'danger' }
  return el(
    'div',
    { class: 'buttons' },
    buttons.map((one) =>
      button(one.label, () => answer({ press: one.id }), kinds[one.variant ?? ''] ?? ''),
    ),
  )
}

function warnings(buttons: readonly Button[], texts: Texts): HTMLElement[] {
  const worst = buttons.flatMap(({ label, does }) =>
    does?.danger === GONE
      ? [`“${label}”: ${texts.platform(does.act)} · ${does.host} · ${texts.platform(does.danger)}`]
      : [],
  )
  const marked = buttons
    .filter(({ variant }) => variant === 'danger')
    .map(({ label }) => `“${label}”`)
  return [
    ...worst.map((words) => el('p', {}, el('strong', { text: words }))),
    ...(marked.length > 0
      ? [el('p', { class: 'small', text: texts.marksDangerous(marked.join(', ')) })]
      : []),
    folded(texts.whatButtonsDo, pairs(buttons.map((one) => [one.label, whatItDoes(one, texts)]))),
  ]
}

function buttonsOf({ card: shown }: Input): Button[] {
  const elements = shown?.['elements']
  return (Array.isArray(elements) ? elements : []).filter(
    (one): one is Button & { type: string } => isRecord(one) && one['type'] === 'button',
  )
}

/** What a press does; what is sent is part of it. */
function whatItDoes({ input = {}, target, does }: Button, texts: Texts): string {
  const given = JSON.stringify(input)
  if (!target) {
    return texts.tellsAgent(given)
  }
  const line = does
    ? `${texts.platform(does.act)} · ${texts.platform(does.danger)} · ${does.host} · `
    : ''
  if (target['name']) {
    return line + texts.runs(String(target['name']), given)
  }
  const { url, path, component } = target
  const where = url ?? texts.ofComponent(String(path), String(component))
  return line + texts.calls(`${target['method']} ${where}`, given)
}

/** The words for a press: which button, and where it was pressed. */
function pressed(input: Input, press: string, device: string | undefined, texts: Texts): string {
  const label = buttonsOf(input).find((one) => one.id === press)?.label ?? press
  return texts.pressed(label, device ? (assignee(input) ?? device) : '')
}

// --- a connection ---------------------------------------------------------------------------

function connecting({ connectPart }: Desk) {
  return (input: Input, answer: Answering, texts: Texts): (Node | null)[] => [
    el('p', { class: 'title', text: texts.connect(input.app ?? '') }),
    connectPart(input),
    el('p', { class: 'small', text: texts.goesOn }),
    el(
      'div',
      { class: 'buttons' },
      button(texts.goOnWithout, () => answer({ decision: 'deny' }), 'quiet'),
      button(texts.stop, () => answer({ cancel: true }), 'quiet'),
    ),
  ]
}
