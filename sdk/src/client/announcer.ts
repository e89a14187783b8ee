/** Tells the server what this page lends to the agent, and goes on telling that it is there. */

import { announcement } from '../core/announcement.js'
import type { Tools, WidgetFacts } from '../core/definitions.js'
import { type Http, path } from '../transport/http.js'
import { isRecord } from '../wire/json.js'

const DEFAULT_LEASE_MS = 30_000
/** So many heartbeats fit into a lease: two may get lost. */
const BEATS_A_LEASE = 3

/** What a page lends, and what its user is looking at. */
export interface Lent {
  readonly tools: Tools
  readonly widgets: Readonly<Record<string, WidgetFacts>>
  readonly context: Readonly<Record<string, unknown>> | undefined
}

/** A tool that a session does not offer, and why. */
export interface LeftOut {
  readonly name: string
  readonly reason: string
}

/** Told what the server says to an announcement: its fault, or what is left out of it. */
export type Told = (fault: Error | null, leftOut: readonly LeftOut[]) => void

export class Announcer {
  readonly #http: Http
  readonly #path: string
  readonly #told: Told
  readonly #signal: AbortSignal
  #lent: Lent | null = null
  /** What was sent last, or is to be sent, without the context. */
  #facts = ''
  #sending: Promise<void> = Promise.resolve()
  #beat: ReturnType<typeof setTimeout> | undefined
  #leaseMs = DEFAULT_LEASE_MS
  #isAttached = false

  constructor(http: Http, session: string, client: string, told: Told, signal: AbortSignal) {
    this.#http = http
    this.#path = path`/v1/sessions/${session}/clients/${client}`
    this.#told = told
    this.#signal = signal
    signal.addEventListener('abort', () => this.#detach())
  }

  /** Announce, where names, texts or schemas are others than before. */
  lend(lent: Lent): void {
    this.#lent = lent
    const now = JSON.stringify(announcement(lent.tools, lent.widgets))
    if (now !== this.#facts) {
      this.#facts = now
      this.#send()
    }
  }

  /** Announce once more, without waiting for the next heartbeat. */
  again(): void {
    this.#send()
  }

  /** When all that was lent so far has reached the server, or was refused. */
  settled(): Promise<void> {
    return this.#sending
  }

  #send(): void {
    clearTimeout(this.#beat)
    this.#sending = this.#sending.then(() => this.#announce())
  }

  async #announce(): Promise<void> {
    const lent = this.#lent
    if (!lent || this.#signal.aborted) {
      return
    }
    const known = this.#facts
    try {
      const body = { ...JSON.parse(known), ...(lent.context && { context: lent.context }) }
      const said = await this.#http.ask('PUT', this.#path, body, { signal: this.#signal })
      if (isRecord(said) && typeof said['leaseMs'] === 'number') {
        this.#leaseMs = said['leaseMs']
      }
      this.#isAttached = true
      this.#told(null, leftOutOf(said))
    } catch (error) {
      if (this.#signal.aborted) {
        return
      }
      this.#told(error as Error, [])
    }
    if (!this.#signal.aborted) {
      clearTimeout(this.#beat)
      this.#beat = setTimeout(() => this.#send(), this.#leaseMs / BEATS_A_LEASE)
    }
  }

  /** What it holds stays its own for a while: a result may be on its way. */
  #detach(): void {
    clearTimeout(this.#beat)
    if (this.#isAttached) {
      this.#http.ask('DELETE', this.#path, undefined, { isLast: true }).catch(() => undefined)
    }
  }
}

function leftOutOf(said: unknown): readonly LeftOut[] {
  const found = isRecord(said) ? said['leftOut'] : undefined
  return Array.isArray(found) ? (found as readonly LeftOut[]) : []
}
