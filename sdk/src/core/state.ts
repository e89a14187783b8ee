/** A session as its events say that it stands: a fold without effects. */

import type { Input, Outcome, Resolution, SessionEvent, Status, TextDelta } from '../wire/event.js'
import type { Display, Events } from '../wire/events.js'

/** What the user or the agent said. */
export interface MessageEntry {
  readonly kind: 'message'
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** RFC 3339; null while it is being written. */
  readonly at: string | null
  /** Whether it was stopped before its end. */
  readonly partial: boolean
  /** Of the user's that another run came before: it waits for its own, or was stopped with that. */
  readonly turn?: 'next' | 'dropped'
  readonly runId?: string
}

/** What the agent does. */
export interface CallEntry {
  readonly kind: 'call'
  readonly id: string
  /** Null for a tool of the page or of the platform. */
  readonly app: string | null
  readonly tool: string
  readonly title: string
  readonly args: unknown
  readonly at: string
  /** Whether a widget stands in the transcript for it. */
  readonly isWidget: boolean
  readonly progress?: { readonly polls: number; readonly status: string }
  /** Since when it waits for a person or for a page; else null. */
  readonly waitsFor: 'person' | 'page' | null
  readonly ended?: {
    readonly at: string
    readonly outcome: Outcome
    readonly content: string
    readonly display?: Display
  }
}

/** What waits, or waited, for a person. */
export interface InputEntry {
  readonly kind: 'input'
  readonly id: string
  readonly input: Input
  readonly at: string
  readonly resolved?: Resolution & { readonly at: string }
}

/** A part of the host app's UI. */
export interface WidgetEntry {
  readonly kind: 'widget'
  readonly id: string
  readonly widget: string
  readonly props: unknown
  readonly at: string
}

/** Why a run ended, where that was not because it was done. */
export interface EndEntry {
  readonly kind: 'end'
  readonly id: string
  readonly reason: 'cancelled' | 'failed' | 'limit'
  /** Of what failed; empty where nothing did. */
  readonly code: string
  readonly message: string
  readonly at: string
}

/** What cannot be used of an app. */
export interface LackEntry {
  readonly kind: 'lack'
  readonly id: string
  readonly app: string
  /** Left out where it is the whole app. */
  readonly tool?: string
  readonly reason: string
  readonly at: string
}

export type Entry = MessageEntry | CallEntry | InputEntry | WidgetEntry | EndEntry | LackEntry

/** A call that waits for a page of the host app. */
export interface ClientCall {
  readonly callId: string
  /** Number of the event that offered it: an idempotent tool's call may be offered again. */
  readonly seq: number
  readonly tool: string
  /** Whose handler it is: an app's tool may name one, else it is the tool itself. */
  readonly handler: string
  readonly app: string | null
}

/** A session, as far as its events were read. An entry that did not change is the same object. */
export interface SessionState {
  /** Number of the last event that was read; 0 before the first. */
  readonly headSeq: number
  readonly status: Status
  readonly user: string | null
  readonly entries: readonly Entry[]
  /** Inputs that wait for an answer, the oldest first. */
  readonly inputs: readonly Input[]
  /** Calls that wait for a page, the oldest first. */
  readonly clientCalls: readonly ClientCall[]
  /** When the run that goes on began; else null. */
  readonly runningSince: string | null
}

export const START: SessionState = {
  headSeq: 0,
  status: 'idle',
  user: null,
  entries: [],
  inputs: [],
  clientCalls: [],
  runningSince: null,
}

/**
 * The state after an event. An event that was read before changes nothing; one of a type that is
 * not known counts as read.
 */
export function reduce(state: SessionState, event: SessionEvent | TextDelta): SessionState {
  return reduceAll(state, [event])
}

/** From so many events on, the entries are looked up by an index, which costs a pass over them. */
const MANY = 20

/** The state after some events; the list of entries is copied once. */
export function reduceAll(
  state: SessionState,
  events: readonly (SessionEvent | TextDelta)[],
): SessionState {
  const draft: Draft = { ...state, entries: [...state.entries], places: null }
  if (events.length > MANY) {
    draft.places = new Map(draft.entries.map(({ id }, at) => [id, at]))
  }
  let isChanged = false
  for (const event of events) {
    if (event.type === 'text_delta') {
      isChanged = piece(draft, event.data) || isChanged
    } else if (event.seq > draft.headSeq) {
      draft.headSeq = event.seq
      const fold = FOLDS[event.type] as Fold<keyof Folds> | undefined
      fold?.(draft, event.data as never, event.at, event.seq)
      isChanged = true
    }
  }
  const { places: _, ...after } = draft
  return isChanged ? after : state
}

interface Draft extends Writable<Omit<SessionState, 'entries'>> {
  entries: Entry[]
  /** Where each entry stands, once that was looked up often. */
  places: Map<string, number> | null
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] }
type Folds = Omit<Events, 'text_delta' | 'reset' | 'end'>
type Fold<Type extends keyof Folds> = (
  draft: Draft,
  data: Readonly<Folds[Type]>,
  at: string,
  seq: number,
) => void

const FOLDS: { readonly [Type in keyof Folds]?: Fold<Type> } = {
  session_started: (draft, data) => {
    draft.user = data.user
  },
  catalog: (draft, data, at, seq) => {
    for (const { app, unavailable, dropped } of data.apps) {
      const lacks = unavailable
        ? [{ app, reason: unavailable }]
        : dropped.map(({ name, reason }) => ({ app, tool: name, reason }))
      for (const [index, lack] of lacks.entries()) {
        push(draft, { kind: 'lack', id: `lack:${seq}:${app}:${index}`, at, ...lack })
      }
    }
  },
  message: (draft, { messageId: id, role, text, partial = false, runId }, at) => {
    // One that is said in the place of an answer takes what waits back, and comes next at once.
    const waits = role === 'user' && draft.runningSince !== null && draft.status !== 'waiting_human'
    const turn = waits ? { turn: 'next' as const, ...(runId !== undefined && { runId }) } : {}
    put(draft, { kind: 'message', id, role, text, at, partial, ...turn })
  },
  run_started: (draft, { runId }, at) => {
    draft.runningSince = at
    turned(draft, runId, undefined)
  },
  tool_call: (draft, data, at) => {
    const { app, tool, title, args } = data
    const id = data.callId
    put(draft, { kind: 'call', id, app, tool, title, args, at, isWidget: false, waitsFor: null })
  },
  tool_progress: (draft, { callId, polls, status }) => {
    change(draft, callId, 'call', { progress: { polls, status } })
  },
  human_input_needed: (draft, input, at) => {
    put(draft, { kind: 'input', id: input.id, input, at })
    draft.inputs = [...draft.inputs.filter(({ id }) => id !== input.id), input]
    change(draft, input.callId, 'call', { waitsFor: 'person' })
  },
  human_input_resolved: (draft, data, at) => {
    const input = draft.inputs.find(({ id }) => id === data.inputId)
    draft.inputs = draft.inputs.filter((one) => one !== input)
    change(draft, data.inputId, 'input', { resolved: { ...data, at } })
    if (input) {
      change(draft, input.callId, 'call', { waitsFor: null })
    }
  },
  client_tool_call: (draft, { callId, tool, handler = tool, app = null }, _at, seq) => {
    const others = without(draft.clientCalls, callId)
    draft.clientCalls = [...others, { callId, seq, tool, handler, app }]
    change(draft, callId, 'call', { waitsFor: 'page' })
  },
  widget: (draft, { callId, widget, props }, at) => {
    change(draft, callId, 'call', { isWidget: true })
    put(draft, { kind: 'widget', id: `widget:${callId}`, widget, props, at })
  },
  tool_result: (draft, { callId, outcome, content, display }, at) => {
    draft.clientCalls = without(draft.clientCalls, callId)
    change(draft, callId, 'call', {
      waitsFor: null,
      ended: { at, outcome, content, ...(display && { display }) },
    })
  },
  status: (draft, data) => {
    draft.status = data.status
  },
  run_finished: (draft, { runId, reason, error }, at) => {
    // What was stopped before its turn says so itself.
    if (reason === 'waiting' || turned(draft, runId, 'dropped')) {
      return
    }
    draft.runningSince = null
    cutOff(draft, at)
    if (reason !== 'done') {
      const { code = '', message = '' } = error ?? {}
      put(draft, { kind: 'end', id: `end:${runId}`, reason, code, message, at })
    }
  },
}

/** A message that the run did not bring to its end stays as it is. */
function cutOff(draft: Draft, at: string): void {
  for (const [index, entry] of draft.entries.entries()) {
    if (entry.kind === 'message' && entry.at === null) {
      draft.entries[index] = { ...entry, at, partial: true }
    }
  }
}

/** What becomes of the message that waits for this run; false where none does. */
function turned(draft: Draft, runId: string, turn: 'dropped' | undefined): boolean {
  const at = draft.entries.findLastIndex(
    (entry) => entry.kind === 'message' && entry.turn === 'next' && entry.runId === runId,
  )
  const entry = draft.entries[at]
  if (entry?.kind !== 'message') {
    return false
  }
  const { turn: _, runId: __, ...rest } = entry
  draft.entries[at] = turn ? { ...rest, turn } : rest
  return true
}

function without(calls: readonly ClientCall[], callId: string): readonly ClientCall[] {
  return calls.some((one) => one.callId === callId)
    ? calls.filter((one) => one.callId !== callId)
    : calls
}

/** A new entry stands at the end; one that is there stays in its place. */
function put(draft: Draft, entry: Entry): void {
  const at = indexOf(draft, entry.id)
  if (at < 0) {
    push(draft, entry)
  } else {
    draft.entries[at] = entry
  }
}

function change<Kind extends Entry['kind']>(
  draft: Draft,
  id: string,
  kind: Kind,
  changes: Partial<Extract<Entry, { kind: Kind }>>,
): void {
  const at = indexOf(draft, id)
  const entry = draft.entries[at]
  if (entry?.kind === kind) {
    draft.entries[at] = { ...entry, ...changes } as Entry
  }
}

function push(draft: Draft, entry: Entry): void {
  draft.places?.set(entry.id, draft.entries.length)
  draft.entries.push(entry)
}

/** Without an index: what changes is nearly always near the end. */
function indexOf({ entries, places }: Draft, id: string): number {
  return places ? (places.get(id) ?? -1) : entries.findLastIndex((entry) => entry.id === id)
}

/** Puts a piece of a message where it belongs; a piece whose beginning is not here is left out. */
function piece(draft: Draft, { messageId, offset, text }: Readonly<Events['text_delta']>): boolean {
  const found = draft.entries[indexOf(draft, messageId)]
  if (found && (found.kind !== 'message' || found.at !== null)) {
    return false
  }
  // An offset counts code points, of which a character beyond the first plane is one.
  const before = codePoints(found?.text ?? '', offset)
  if (before === null) {
    return false
  }
  put(draft, {
    kind: 'message',
    id: messageId,
    role: 'assistant',
    text: before + text,
    at: null,
    partial: false,
  })
  return true
}

/** The first so many code points of a text; null where it has fewer. */
function codePoints(text: string, count: number): string | null {
  let at = 0
  for (let left = count; left > 0; left -= 1) {
    const code = text.codePointAt(at)
    if (code === undefined) {
      return null
    }
    at += code > 0xffff ? 2 : 1
  }
  return text.slice(0, at)
}
