/** A session's events, read from the stream whatever becomes of the connection. */

import type { SessionEvent, TextDelta } from '../wire/event.js'
import type { Events } from '../wire/events.js'
import { type Http, path, RemitError, sleep } from './http.js'

/** The server sends something every 15 s. */
const QUIET_MS = 40_000
/** After so long without a byte a page that woke up does not trust its connection. */
const STALE_MS = 20_000
/** What held so long was a good connection: after it the pauses begin anew. */
const HELD_MS = 5000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8000

export type Over = 'closed' | RemitError

/** What a reader is told. */
export interface Reader {
  /** Number of the last event that it has. */
  readonly headSeq: () => number
  /** Events in order, each once, as many as came together. */
  readonly events: (events: readonly (SessionEvent | TextDelta)[]) => void
  /** What it has is of another log: all of the events follow, from the first. */
  readonly reset: () => void
  readonly open: () => void
  readonly lost: (isOffline: boolean) => void
  /** Nothing follows. */
  readonly over: (why: Over) => void
}

/** Read until the signal ends it. */
export async function follow(
  http: Http,
  session: string,
  reader: Reader,
  signal: AbortSignal,
): Promise<void> {
  // How many connections came to their end in a row, none of which held for a while.
  let ends = 0
  while (!signal.aborted) {
    const attempt = new Attempt(signal)
    const why = await whole(http, session, attempt, reader)
    if (why === 'session_closed' || why instanceof RemitError) {
      reader.over(why === 'session_closed' ? 'closed' : why)
      return
    }
    ends = attempt.isNoSign ? 1 : ends + 1
    if (why === 'token_expired') {
      http.forgetToken()
    }
    if (!signal.aborted && !(why === 'token_expired' && ends === 1)) {
      reader.lost(globalThis.navigator?.onLine === false)
      await pause(ends, signal)
    }
  }
}

/** Use one connection up; says why it ended, with an error where another would end the same. */
async function whole(
  http: Http,
  session: string,
  attempt: Attempt,
  reader: Reader,
): Promise<Events['end']['reason'] | RemitError | null> {
  try {
    return await read(http, session, attempt, reader)
  } catch (error) {
    return error instanceof RemitError && isFinal(error) ? error : null
  } finally {
    attempt.end()
  }
}

function isFinal({ status }: RemitError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

/** Read one connection to its end; says why the server ended it, null where it broke off. */
async function read(
  http: Http,
  session: string,
  attempt: Attempt,
  reader: Reader,
): Promise<Events['end']['reason'] | null> {
  const answer = await http.open(
    path`/v1/sessions/${session}/events`,
    { Accept: 'text/event-stream', 'Last-Event-ID': String(reader.headSeq()) },
    attempt.signal,
  )
  const bytes = answer.body?.getReader()
  if (!bytes) {
    return null
  }
  attempt.opened()
  reader.open()
  const decoder = new TextDecoder()
  const messages = new Messages()
  for (;;) {
    const { value, done } = await attempt.awaited(bytes.read())
    if (done) {
      return null
    }
    const ended = pass(messages.take(decoder.decode(value, { stream: true })), reader)
    if (ended !== null) {
      return ended
    }
  }
}

/** Pass on what came together; says why the server ended the stream, if it did. */
function pass(messages: readonly Message[], reader: Reader): Events['end']['reason'] | null {
  let batch: (SessionEvent | TextDelta)[] = []
  let ended: Events['end']['reason'] | null = null
  for (const { event, data } of messages) {
    if (event === 'end') {
      ended = (data as Events['end']).reason
    } else if (event === 'reset') {
      batch = []
      reader.reset()
    } else if (event === 'text_delta') {
      batch.push({ type: event, data: data as Events['text_delta'] })
    } else {
      batch.push(data as SessionEvent)
    }
  }
  if (batch.length > 0) {
    reader.events(batch)
  }
  return ended
}

interface Message {
  readonly event: string
  readonly data: unknown
}

/** The messages of a stream of server-sent events, from its text as it comes. */
export class Messages {
  #rest = ''
  #event = ''
  #data: string[] = []

  /** Those that a piece of the text completes. */
  take(text: string): Message[] {
    const found: Message[] = []
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
      if (line !== '') {
        this.#field(line)
      } else if (this.#data.length > 0) {
        found.push({ event: this.#event, data: JSON.parse(this.#data.join('\n')) as unknown })
        this.#clear()
      } else {
        this.#clear()
      }
    }
    return found
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') {
      this.#data.push(value)
    } else if (name === 'event') {
      this.#event = value
    }
  }

  #clear(): void {
    this.#event = ''
    this.#data = []
  }
}

/** One connection: it ends where nothing comes, or where the page was away for too long. */
class Attempt {
  readonly #ended = new AbortController()
  readonly #outer: AbortSignal
  readonly #stop: () => void
  #lastAt = Date.now()
  #openedAt: number | null = null
  #wasWoken = false

  constructor(outer: AbortSignal) {
    this.#outer = outer
    const abort = () => this.#ended.abort()
    outer.addEventListener('abort', abort)
    const unheard = onWake(() => {
      this.#wasWoken = true
      if (Date.now() - this.#lastAt > STALE_MS) {
        abort()
      }
    })
    this.#stop = () => {
      outer.removeEventListener('abort', abort)
      unheard()
    }
    if (outer.aborted) {
      abort()
    }
  }

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /** Whether its end says nothing of the next: it held for a while, or the page came back meanwhile. */
  get isNoSign(): boolean {
    const didHold = this.#openedAt !== null && Date.now() - this.#openedAt >= HELD_MS
    return didHold || this.#wasWoken
  }

  opened(): void {
    this.#openedAt = Date.now()
  }

  async awaited<Value>(value: Promise<Value>): Promise<Value> {
    const silence = setTimeout(() => this.#ended.abort(), QUIET_MS)
    try {
      const found = await value
      this.#lastAt = Date.now()
      return found
    } finally {
      clearTimeout(silence)
    }
  }

  end(): void {
    this.#stop()
    if (!this.#outer.aborted) {
      this.#ended.abort()
    }
  }
}

/** Longer each time, and not at one moment for all pages; a page that wakes up comes at once. */
async function pause(ends: number, signal: AbortSignal): Promise<void> {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (ends - 1))
  const cut = new AbortController()
  const end = () => cut.abort()
  signal.addEventListener('abort', end)
  const unheard = onWake(end)
  await sleep(most * (0.5 + Math.random() / 2), cut.signal)
  unheard()
  signal.removeEventListener('abort', end)
}

/** Tells when a page comes back: it is online again, or seen again. */
function onWake(told: () => void): () => void {
  const { document, addEventListener, removeEventListener } = globalThis
  if (typeof addEventListener !== 'function') {
    return () => undefined
  }
  const seen = () => {
    if (document?.visibilityState !== 'hidden') {
      told()
    }
  }
  addEventListener('online', told)
  document?.addEventListener('visibilitychange', seen)
  return () => {
    removeEventListener('online', told)
    document?.removeEventListener('visibilitychange', seen)
  }
}
