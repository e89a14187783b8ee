/** A whole chat in an element: transcript, what waits for a person, and where one writes. */

import type { Widgets } from '../../core/definitions.js'
import type { Input } from '../../wire/event.js'
import type { Connection } from '../connection.js'
import type { Notice } from '../handlers.js'
import type { Answer, Snapshot } from '../snapshot.js'
import { button, el, took } from './dom.js'
import { Follower } from './following.js'
import { outgoing, prompted } from './pending.js'
import { Speaker } from './speaking.js'
import { dress } from './style.js'
import { faultText, localeOf, type Texts, textsOf } from './texts.js'
import { Transcript } from './transcript.js'
import { WidgetShelf } from './widgets.js'

/** What is lower than this has no room for a second line anywhere. */
const SHORT_PX = 320
const UNPAINTED_MS = 200

export interface ChatOptions {
  /** BCP 47; the page's own where it is left out. */
  readonly locale?: string
  /** Texts in the place of those that are shipped. */
  readonly texts?: Partial<Texts>
  /** How many renders of one widget are live at once: 8 where it is left out. */
  readonly maxLiveWidgets?: number
  /** What the host adds to the card of a missing connection: a link to its settings, say. */
  readonly connectPart?: (input: Input) => Node | null
  /** What the host adds to an approval: the record that an id names, say. */
  readonly approvalPart?: (input: Input) => Node | null
  /** What the host adds to a call that was opened. */
  readonly callPart?: (callId: string) => Node | null
  /** What the product is called; `remit` where it is left out. */
  readonly brand?: string
  /** Whether who looks may answer for somebody else, as the author of an app does on his machine. */
  readonly standsIn?: boolean
  /** How an answer is given, where that is not the session's own way. */
  readonly answer?: (input: Input, answer: Answer) => Promise<Input | null>
}

export class Chat {
  readonly #connection: Connection
  readonly #texts: Texts
  readonly #locale: string
  readonly #root: ShadowRoot
  readonly #shelf: WidgetShelf
  readonly #transcript: Transcript
  readonly #scroller: HTMLElement
  readonly #words: HTMLTextAreaElement
  readonly #send: HTMLButtonElement
  readonly #stop: HTMLButtonElement
  readonly #line = el('p', { class: 'line small' })
  readonly #speaker: Speaker
  readonly #outbox = el('div', { class: 'outbox' })
  readonly #prompts = el('div', { class: 'prompts' })
  readonly #empty = el('p', { class: 'note empty' })
  readonly #section: HTMLElement
  readonly #follower: Follower
  readonly #leave: (() => void)[] = []
  #shown: Snapshot | null = null
  /** What was wrong when that was looked at last. */
  #wrong = ''
  #frame = 0
  #late: ReturnType<typeof setTimeout> | undefined

  constructor(host: HTMLElement, connection: Connection, options: ChatOptions = {}) {
    this.#connection = connection
    this.#locale = localeOf(options.locale)
    this.#texts = textsOf(this.#locale, options.texts)
    this.#speaker = new Speaker(this.#texts)
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    this.#shelf = new WidgetShelf(host, this.#texts, options.maxLiveWidgets)
    this.#scroller = el('div', { class: 'scroll', tabindex: '-1' })
    this.#transcript = new Transcript(
      {
        texts: this.#texts,
        locale: this.#locale,
        answer: options.answer ?? ((input, answer) => connection.answer(input, answer)),
        brand: options.brand ?? 'remit',
        standsIn: options.standsIn ?? false,
        connectPart: options.connectPart ?? (() => null),
        approvalPart: options.approvalPart ?? (() => null),
        callPart: options.callPart ?? (() => null),
        isHere: (callId) => connection.snapshot().executing === callId,
        shelf: this.#shelf,
        // A finger wants no keyboard to come up by itself.
        refocus: () =>
          (globalThis.matchMedia?.('(pointer: coarse)').matches
            ? this.#scroller
            : this.#words
          ).focus(),
      },
      this.#scroller,
    )
    this.#words = el('textarea', { rows: 1, 'aria-label': this.#texts.message })
    this.#send = el('button', { type: 'submit', class: 'primary', text: this.#texts.send })
    this.#stop = button(this.#texts.stop, () => this.#cancel())
    this.#follower = new Follower(this.#scroller, this.#transcript.node, this.#texts.toNewest, () =>
      this.#section.classList.toggle('short', this.#section.clientHeight < SHORT_PX),
    )
    this.#section = this.#built()
    this.#listen()
    this.#show()
  }

  /** The widgets that are drawn from now on. */
  define(widgets: Widgets): void {
    this.#shelf.define(widgets)
  }

  /** Put the focus where one writes. */
  focus(): void {
    this.#words.focus()
  }

  /** Take the chat out of its element; the connection stays. */
  close(): void {
    this.#settle()
    for (const leave of this.#leave) {
      leave()
    }
    this.#shelf.clear()
    this.#root.replaceChildren()
  }

  // --- what it is made of -----------------------------------------------------------------------

  #built(): HTMLElement {
    this.#words.value = this.#connection.draft
    const composer = el(
      'form',
      { class: 'composer', autocomplete: 'off' },
      this.#words,
      this.#send,
      this.#stop,
    )
    composer.addEventListener('submit', (event) => {
      event.preventDefault()
      this.#say()
    })
    this.#scroller.append(
      el(
        'div',
        { class: 'column' },
        this.#empty,
        this.#transcript.node,
        this.#outbox,
        this.#prompts,
      ),
    )
    const section = el(
      'section',
      { class: 'chat', 'aria-label': this.#texts.chat, lang: this.#locale },
      this.#scroller,
      this.#follower.button,
      this.#line,
      composer,
      this.#speaker.node,
    )
    section.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.#isBusy && this.#isForChat(event)) {
        this.#cancel()
      }
    })
    dress(this.#root)
    this.#root.append(section)
    return section
  }

  #listen(): void {
    const words = this.#words
    words.addEventListener('input', () => {
      this.#connection.draft = words.value
    })
    words.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
        event.preventDefault()
        this.#say()
      }
    })
    const ticking = setInterval(() => this.#tick(), 1000)
    const unsubscribe = this.#connection.subscribe(() => this.#soon())
    this.#leave.push(
      unsubscribe,
      () => clearInterval(ticking),
      () => this.#follower.close(),
    )
  }

  /** A key that a host's widget, a field or a keyboard that composes has no use of its own for. */
  #isForChat({ target, isComposing, defaultPrevented }: KeyboardEvent): boolean {
    const isOwn = target instanceof Node && this.#root.contains(target)
    return isOwn && !isComposing && !defaultPrevented && !(target instanceof HTMLInputElement)
  }

  // --- what its user does -------------------------------------------------------------------------

  #say(): void {
    const text = this.#words.value.trim()
    if (!text || this.#words.disabled) {
      return
    }
    this.#words.value = this.#connection.draft = ''
    this.#follower.jump()
    this.#connection.send(text)
  }

  /** What could not be sent is written on, before what was begun since. */
  #edit(text: string): void {
    const words = this.#words
    words.value = this.#connection.draft = [text, words.value].filter(Boolean).join('\n')
    words.focus()
  }

  async #cancel(): Promise<void> {
    if (this.#connection.snapshot().isStopping) {
      return
    }
    try {
      await this.#connection.cancel()
    } catch (error) {
      this.#speaker.tell((error as Error).message)
    }
  }

  // --- what is shown --------------------------------------------------------------------------------

  get #isBusy(): boolean {
    const { status } = this.#connection.snapshot().state
    return status !== 'idle' && status !== 'closed'
  }

  /** At most once a frame, however many pieces come; a page that is not painted has no frames. */
  #soon(): void {
    if (this.#frame === 0) {
      this.#frame = requestAnimationFrame(() => this.#show())
      this.#late = setTimeout(() => this.#show(), UNPAINTED_MS)
    }
  }

  #show(): void {
    this.#settle()
    const now = this.#connection.snapshot()
    const before = this.#shown
    this.#shown = now
    this.#transcript.show(now.state.entries)
    if (before?.state.entries !== now.state.entries) {
      this.#speaker.news(before?.state.entries ?? [], now.state.entries)
    }
    if (before?.outbox !== now.outbox) {
      this.#outbox.replaceChildren(
        ...now.outbox.map((one) =>
          outgoing(one, this.#connection, (text) => this.#edit(text), this.#texts),
        ),
      )
    }
    if (before?.prompts !== now.prompts || before?.notices !== now.notices) {
      this.#showPrompts(now, before?.notices ?? [])
    }
    this.#showLine(now)
    this.#follower.follow()
  }

  #settle(): void {
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#late)
    this.#frame = 0
  }

  #showLine(now: Snapshot): void {
    const { status } = now.state
    const isOver = now.link === 'over' || status === 'closed'
    this.#words.disabled = this.#send.disabled = isOver
    this.#stop.hidden = !this.#isBusy || isOver
    this.#stop.setAttribute('aria-disabled', String(now.isStopping))
    this.#words.placeholder = this.#placeholder(isOver, status)
    const isOpening = !now.isCaughtUp && now.link !== 'over'
    this.#empty.hidden = !this.#transcript.isEmpty || now.outbox.length > 0
    this.#empty.textContent = isOpening ? this.#texts.opening : this.#texts.empty
    const trouble = this.#trouble(now)
    const words = trouble || this.#goingOn(now)
    this.#line.classList.toggle('bad', trouble !== '')
    if (this.#line.textContent !== words) {
      this.#line.textContent = words
    }
    if (this.#wrong !== trouble) {
      this.#wrong = trouble
      this.#speaker.tell(trouble || this.#texts.back)
    }
  }

  #placeholder(isOver: boolean, status: Snapshot['state']['status']): string {
    if (isOver) {
      return this.#texts.over
    }
    if (status === 'waiting_human') {
      return this.#texts.writeInstead
    }
    return this.#isBusy ? this.#texts.writeNext : this.#texts.write
  }

  #trouble({ link: state, fault, lendingFault, state: { status } }: Snapshot): string {
    switch (state) {
      case 'lost':
        return this.#texts.lost
      case 'offline':
        return this.#texts.offline
      case 'signed_out':
      case 'over':
        return fault === null ? this.#texts.closed : faultText(fault, this.#texts)
      default:
        return status === 'closed'
          ? this.#texts.closed
          : lendingFault
            ? this.#texts.lendingFault
            : ''
    }
  }

  #goingOn({ state, executing, isStopping }: Snapshot): string {
    if (isStopping) {
      return this.#texts.stopping
    }
    switch (state.status) {
      case 'running': {
        const last = state.entries.at(-1)
        const isSeen =
          (last?.kind === 'call' && !last.ended) || (last?.kind === 'message' && last.at === null)
        const since = state.runningSince
        return isSeen ? '' : this.#texts.thinks(since ? took(Date.now() - Date.parse(since)) : '')
      }
      case 'waiting_human':
        return this.#texts.waitsForYou
      case 'waiting_client':
        // What this page executes says so in its own line.
        return executing === null ? this.#texts.waitsForPage : ''
      default:
        return ''
    }
  }

  #tick(): void {
    this.#transcript.tick(Date.now())
    this.#showLine(this.#connection.snapshot())
  }

  #showPrompts(now: Snapshot, before: readonly Notice[]): void {
    const { notices, prompts } = now
    this.#prompts.replaceChildren(
      ...notices.map(({ text }) => el('p', { class: 'note', text })),
      ...prompts.map((prompt) => prompted(prompt, this.#texts)),
    )
    for (const notice of notices) {
      if (!before.includes(notice)) {
        this.#speaker.tell(notice.text)
      }
    }
  }
}
