/**
 * The host app's own UI in the transcript. Each render has a container among the host's own
 * elements, so that the host's styles hold in it; a slot shows it in its place.
 */

import { type AnyWidget, entry, type Widgets } from '../../core/definitions.js'
import { parametersOf, validate } from '../../core/parameters.js'
import { wordsOf } from '../../core/plain.js'
import type { WidgetEntry } from '../../core/state.js'
import { button, el } from './dom.js'
import type { Texts } from './texts.js'

/** More renders of one widget than these are folded, the oldest first. */
export const MAX_LIVE = 8

interface Render {
  readonly entry: WidgetEntry
  /** Where it stands in the transcript. */
  readonly place: HTMLElement
  /** Counts what was begun, so that a check that took long draws nothing over what came later. */
  turn: number
  isFolded: boolean
  container: HTMLElement | null
  definition: AnyWidget | null
  dispose: (() => void) | null
}

export class WidgetShelf {
  readonly #host: HTMLElement
  readonly #texts: Texts
  readonly #maxLive: number
  readonly #renders = new Map<string, Render>()
  #widgets: Widgets = {}
  #count = 0

  constructor(host: HTMLElement, texts: Texts, maxLive: number = MAX_LIVE) {
    this.#host = host
    this.#texts = texts
    this.#maxLive = maxLive
  }

  /** The widgets that there are from now on. */
  define(widgets: Widgets): void {
    this.#widgets = widgets
    for (const render of this.#renders.values()) {
      const now = this.#definition(render.entry.widget)
      if (now !== render.definition && !sameDrawing(now, render.definition)) {
        this.#redraw(render)
      } else {
        render.definition = now
      }
    }
  }

  /** The place of a widget in the transcript, drawn. */
  place(entry: WidgetEntry): HTMLElement {
    const place = el('div', { class: 'widget' })
    const render: Render = {
      entry,
      place,
      turn: 0,
      isFolded: false,
      container: null,
      definition: null,
      dispose: null,
    }
    this.#renders.set(entry.id, render)
    this.#redraw(render)
    this.#foldOldest(entry.widget)
    return place
  }

  /** End all renders. */
  clear(): void {
    for (const render of this.#renders.values()) {
      this.#end(render)
    }
    this.#renders.clear()
  }

  #definition(name: string): AnyWidget | null {
    return entry(this.#widgets, name) ?? null
  }

  async #redraw(render: Render): Promise<void> {
    this.#end(render)
    const { turn, entry, place } = render
    const definition = this.#definition(entry.widget)
    render.definition = definition
    if (!definition || render.isFolded) {
      this.#summarise(render)
      return
    }
    try {
      const input = await validate(definition.parameters, entry.props)
      if (render.turn !== turn) {
        return
      }
      if (!input.isValid) {
        throw new Error(input.message)
      }
      const container = document.createElement('div')
      this.#count += 1
      container.slot = `widget-${this.#count}`
      render.container = container
      this.#host.append(container)
      place.replaceChildren(el('slot', { name: container.slot }))
      // The newest definition: checking may have taken a while.
      const { render: draw } = this.#definition(entry.widget) ?? definition
      render.dispose = draw(input.value as never, container) ?? null
    } catch (error) {
      this.#end(render)
      const words = this.#texts.widgetFailed(entry.widget, wordsOf(error))
      place.replaceChildren(el('p', { class: 'note bad', text: words }))
    }
  }

  #summarise(render: Render): void {
    const { entry, place } = render
    const show = () => {
      render.isFolded = false
      this.#redraw(render)
      this.#foldOldest(entry.widget, render)
    }
    place.replaceChildren(
      render.definition
        ? el(
            'p',
            { class: 'note' },
            el('span', { text: `${this.#texts.widgetFolded(entry.widget)} ` }),
            button(this.#texts.show, show, 'quiet'),
          )
        : el('p', { class: 'note', text: this.#texts.widgetGone(entry.widget) }),
    )
  }

  #foldOldest(widget: string, kept?: Render): void {
    // Earlier entries may be drawn later.
    const live = [...this.#renders.values()]
      .filter((one) => one.entry.widget === widget && !one.isFolded && one !== kept)
      .sort((one, other) => one.entry.at.localeCompare(other.entry.at))
    const most = this.#maxLive - (kept ? 1 : 0)
    for (const render of live.slice(0, Math.max(0, live.length - most))) {
      render.isFolded = true
      this.#redraw(render)
    }
  }

  #end(render: Render): void {
    const { dispose, container } = render
    render.turn += 1
    render.dispose = null
    render.container = null
    try {
      dispose?.()
    } catch (error) {
      // The host's own fault, which must not hold up the rest.
      console.error(error)
    }
    container?.remove()
  }
}

function sameDrawing(one: AnyWidget | null, other: AnyWidget | null): boolean {
  return (
    one !== null &&
    other !== null &&
    one.render === other.render &&
    (one.parameters === other.parameters || schemaText(one) === schemaText(other))
  )
}

function schemaText({ parameters }: AnyWidget): string {
  return JSON.stringify(parametersOf(parameters))
}
