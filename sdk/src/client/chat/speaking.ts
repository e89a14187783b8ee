/** What happens, for who does not look: one sentence at a time, in a live region. */

import type { Entry } from '../../core/state.js'
import { el, visible } from './dom.js'
import { markdown } from './markdown.js'
import type { Texts } from './texts.js'

const NEWS_MS = 10_000
const MAX_SPOKEN = 400
/** Of what comes at once so much is looked at for news. */
const MAX_NEW = 20

export class Speaker {
  readonly node = el('p', { class: 'unseen', role: 'status', 'aria-live': 'polite' })
  readonly #texts: Texts

  constructor(texts: Texts) {
    this.#texts = texts
  }

  tell(words: string): void {
    this.node.textContent = visible(words).slice(0, MAX_SPOKEN)
  }

  /** A whole message, not its pieces; and what needs an answer. What happened before is no news. */
  news(before: readonly Entry[], now: readonly Entry[]): void {
    for (let at = Math.max(0, now.length - MAX_NEW); at < now.length; at += 1) {
      const entry = now[at]
      if (entry && entry !== before[at] && isNew(entry)) {
        if (entry.kind === 'message' && entry.role === 'assistant' && entry.at !== null) {
          this.tell(this.#read(entry.text))
        } else if (entry.kind === 'input' && !entry.resolved) {
          this.tell(this.#texts.needed(entry.input.title))
        }
      }
    }
  }

  /** A text as one reads it out: without the marks of its Markdown. */
  #read(text: string): string {
    const blocks = markdown(text.slice(0, MAX_SPOKEN * 2), this.#texts).children
    return [...blocks].map(({ textContent }) => textContent).join(' ')
  }
}

function isNew({ at }: Entry): boolean {
  return at !== null && Date.now() - Date.parse(at) < NEWS_MS
}
