/** What a handler may answer, as it stands on the wire. */

import type { Target } from './targets.js'

/** The three channels of a result. */
export interface Channels {
  /** What the model reads; not empty. */
  readonly content: string
  /** A short note for the tool's card; raw HTML is escaped, links must be absolute. */
  readonly markdown?: string | undefined
  /** An absolute address that the app serves, framed on the card; wins over `markdown`. */
  readonly embedUrl?: string | undefined
}

export interface Button<Brand extends string = never> {
  /** Unique on its card. */
  readonly id: string
  readonly label: string
  readonly variant?: 'primary' | 'secondary' | 'danger' | undefined
  /** Without a target, the tool's result; with one, what `${input}` means in it. */
  readonly input?: unknown
  readonly target?: Target<Brand> | undefined
}

/** What pauses a thread until a person presses a button. */
export interface Card<Brand extends string = never> {
  readonly title: string
  readonly description?: string | undefined
  /** One at least. */
  readonly buttons: readonly Button<Brand>[]
  /** The id of the one device that may press the buttons, as the `computer` tool lists it. */
  readonly assignee?: string | undefined
}

/** A card as it is sent. */
export interface ActionRequired {
  readonly type: 'action_required'
  readonly title: string
  readonly description?: string | undefined
  readonly assignee?: { readonly computerId: string } | undefined
  readonly elements: readonly (Button<string> & { readonly type: 'button' })[]
}

/** Where a call comes from. */
export type ToolContext = ThreadContext | ApiContext

/** A conversation; only here may a handler answer with a card. */
export interface ThreadContext {
  readonly source: 'thread'
  readonly threadId: string
}

/** The Tools API or MCP. */
export interface ApiContext {
  readonly source: 'api'
}
