/** What a page shows of a session, and what its user can answer. */

import { type SessionState, START } from '../core/state.js'
import type { LeftOut } from './announcer.js'
import type { Notice, Prompt } from './handlers.js'

/** A message that has not come back as an event yet. */
export interface Outgoing {
  readonly id: string
  readonly text: string
  /** Why it was not sent; null while it is on its way. */
  readonly fault: string | null
}

/** How a person answers what waits for one. */
export type Answer =
  | {
      readonly decision: 'approve'
      readonly digest: string
      readonly remember?: 'session'
      /** Who says so, where that is not the session's user: a back end's key alone may. */
      readonly user?: string
    }
  | { readonly decision: 'deny'; readonly note?: string; readonly user?: string }
  | { readonly press: string }
  | { readonly skip: true }
  | { readonly cancel: true }

/** `signed_out`: no token lets this page in; it goes on by itself once one does. */
export type Link = 'connecting' | 'open' | 'lost' | 'offline' | 'signed_out' | 'over'

/** What is to be shown now. A part that did not change is the same object. */
export interface Snapshot {
  readonly state: SessionState
  readonly link: Link
  /** Why nothing follows; null where the session was closed, or goes on. */
  readonly fault: string | null
  /** What the server says against what the page lends; null where it takes it. */
  readonly lendingFault: string | null
  /** Tools that the page lends and this session does not offer, each with the reason. */
  readonly leftOut: readonly LeftOut[]
  /** The call of this page's own tool that is executed here now; else null. */
  readonly executing: string | null
  /** Whether the run was stopped and what had begun is let finish. */
  readonly isStopping: boolean
  readonly outbox: readonly Outgoing[]
  readonly prompts: readonly Prompt[]
  readonly notices: readonly Notice[]
  /** Whether all that happened before was read. */
  readonly isCaughtUp: boolean
}

/** Before anything is known. */
export const CONNECTING: Snapshot = {
  state: START,
  link: 'connecting',
  fault: null,
  lendingFault: null,
  leftOut: [],
  executing: null,
  isStopping: false,
  outbox: [],
  prompts: [],
  notices: [],
  isCaughtUp: false,
}
