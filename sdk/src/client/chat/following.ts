/** Keeps who reads at the end of a transcript there while it grows, and nobody else. */

import { button } from './dom.js'

/** Whoever reads this near the end stays at the end. */
const NEAR_PX = 80

export class Follower {
  /** The way to the newest; hidden for who is there. */
  readonly button: HTMLButtonElement
  readonly #scroller: HTMLElement
  readonly #observer: ResizeObserver | null = null
  #isAtEnd = true
  /** Where it was scrolled to when that was looked at last. */
  #top = 0
  /** The card that is too tall and whose head was shown: from there its reader goes on alone. */
  #headed: HTMLElement | null = null

  /** @param content what grows inside of `scroller`; `resized` is told when either changes. */
  constructor(scroller: HTMLElement, content: HTMLElement, words: string, resized: () => void) {
    this.#scroller = scroller
    this.button = button(words, () => this.jump(), 'to-end')
    this.button.hidden = true
    scroller.addEventListener('scroll', () => this.#scrolled())
    if (typeof ResizeObserver === 'function') {
      // A picture that arrives later moves the end.
      this.#observer = new ResizeObserver(() => {
        resized()
        this.follow()
      })
      this.#observer.observe(content)
      this.#observer.observe(scroller)
    }
  }

  /** It may have grown. */
  follow(): void {
    if (this.#isAtEnd) {
      this.#toEnd()
    }
  }

  /** To the newest, wherever one is. */
  jump(): void {
    this.#isAtEnd = true
    this.#headed = null
    this.#toEnd()
  }

  close(): void {
    this.#observer?.disconnect()
  }

  /** What grew below, and an event that comes late, take nobody away from the end: going up does. */
  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller
    if (scrollHeight - scrollTop - clientHeight < NEAR_PX) {
      this.#isAtEnd = true
    } else if (scrollTop < this.#top - 1) {
      this.#isAtEnd = false
    }
    this.#top = scrollTop
    this.button.hidden = this.#isAtEnd
  }

  /** What is approved is read before its button: where not all of a card fits, its head is shown. */
  #toEnd(): void {
    const scroller = this.#scroller
    const card = scroller.querySelector<HTMLElement>('.transcript > :last-child > .card')
    if (!card || card.offsetHeight <= scroller.clientHeight) {
      this.#headed = null
      scroller.scrollTop = scroller.scrollHeight
    } else if (card !== this.#headed) {
      this.#headed = card
      // Not `scrollIntoView`, which moves the host's page, too.
      const above = card.getBoundingClientRect().top - scroller.getBoundingClientRect().top
      scroller.scrollTop += above
    }
    this.#top = scroller.scrollTop
    this.button.hidden = this.#isAtEnd
  }
}
