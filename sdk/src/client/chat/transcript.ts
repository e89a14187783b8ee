/**
 * The entries in their order. Only as many as are looked at are drawn: the newest, and more of the
 * earlier ones as their reader comes near. Of what is drawn, only what changed is drawn again.
 */

import type { Entry } from '../../core/state.js'
import { button, el } from './dom.js'
import { type Drawing, type Drawn, drawn } from './entries.js'

/** So many entries are drawn at once, and added at a time. */
const WINDOW = 60

interface Row extends Drawn {
  entry: Entry
}

export class Transcript {
  readonly node: HTMLElement
  readonly #drawing: Drawing
  readonly #earlier: HTMLElement
  readonly #rows = new Map<string, Row>()
  #entries: readonly Entry[] = []
  /** Index of the first that is drawn. */
  #first = 0

  constructor(drawing: Drawing, scroller: HTMLElement) {
    this.#drawing = drawing
    this.#earlier = el('div', { class: 'earlier', hidden: true })
    this.#earlier.append(button(drawing.texts.earlier, () => this.#showEarlier(), 'quiet'))
    this.node = el('div', {
      class: 'transcript',
      role: 'log',
      'aria-live': 'off',
      'aria-label': drawing.texts.transcript,
    })
    this.node.append(this.#earlier)
    scroller.addEventListener('scroll', () => {
      if (scroller.scrollTop < scroller.clientHeight && this.#first > 0) {
        this.#keepingPlace(scroller)
      }
    })
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** Draw what changed since the last time. */
  show(entries: readonly Entry[]): void {
    const before = this.#entries
    if (entries === before) {
      return
    }
    this.#entries = entries
    if (before.length === 0 || entries.length < before.length || entries[0]?.id !== before[0]?.id) {
      this.#begin()
      return
    }
    for (let at = this.#first; at < entries.length; at += 1) {
      const entry = entries[at]
      if (entry && entry !== before[at]) {
        this.#put(entry)
      }
    }
    this.#earlier.hidden = this.#first === 0
  }

  tick(now: number): void {
    for (const row of this.#rows.values()) {
      if (row.entry.kind === 'call' && !row.entry.ended) {
        row.tick?.(now)
      }
    }
  }

  #begin(): void {
    this.#rows.clear()
    this.#drawing.shelf.clear()
    this.#first = Math.max(0, this.#entries.length - WINDOW)
    this.node.replaceChildren(this.#earlier)
    for (const entry of this.#entries.slice(this.#first)) {
      this.#put(entry)
    }
    this.#earlier.hidden = this.#first === 0
  }

  #put(entry: Entry): void {
    const row = this.#rows.get(entry.id)
    if (row?.update(entry)) {
      row.entry = entry
      return
    }
    const made = this.#drawn(entry)
    if (row) {
      row.node.replaceWith(made.node)
    } else {
      this.node.append(made.node)
    }
  }

  /** A new row; it does not stand in the transcript yet. */
  #drawn(entry: Entry): Row {
    const row: Row = { ...drawn(entry, this.#drawing), entry }
    this.#rows.set(entry.id, row)
    return row
  }

  #showEarlier(): void {
    const first = Math.max(0, this.#first - WINDOW)
    const made = this.#entries.slice(first, this.#first).map((entry) => {
      const { node } = this.#drawn(entry)
      // What is not in view costs no layout.
      node.classList.add('old')
      return node
    })
    this.#first = first
    this.#earlier.after(...made)
    this.#earlier.hidden = first === 0
  }

  /** What is read stays where it is, also where the browser does not see to it. */
  #keepingPlace(scroller: HTMLElement): void {
    const below = scroller.scrollHeight - scroller.scrollTop
    this.#showEarlier()
    scroller.scrollTop = scroller.scrollHeight - below
  }
}
