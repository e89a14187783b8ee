/** An event of a session's log, and what comes on its stream. */

import type { Display, Events } from './events.js'

/** What is on the stream alone: it has no number. */
export type Passing = 'text_delta' | 'reset' | 'end'

export type EventType = Exclude<keyof Events, Passing>

/** One event of the log: `seq` is 1 for the first and goes up by one; `at` is RFC 3339. */
export type SessionEvent = {
  [Type in EventType]: {
    readonly seq: number
    readonly type: Type
    readonly at: string
    readonly data: Readonly<Events[Type]>
  }
}[EventType]

/** A piece of a message that is being written; the event `message` takes the place of all. */
export interface TextDelta {
  readonly type: 'text_delta'
  readonly data: Readonly<Events['text_delta']>
}

export type Outcome = Events['tool_result']['outcome']
export type Status = Events['status']['status']
export type Input = Readonly<Events['human_input_needed']>
export type Resolution = Readonly<Events['human_input_resolved']>
export type { Display }
