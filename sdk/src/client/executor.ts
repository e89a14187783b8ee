/** Executes the agent's calls of the page's tools: one at a time, and none of them twice. */

import { type End, executed, type FindTool, notPlain } from '../core/executing.js'
import type { ClientCall } from '../core/state.js'
import { type Http, path, RemitError, sleep } from '../transport/http.js'

/** Between tries to claim, or to post a result, while the server is away. */
const PAUSE_MS = 5000
const LEAST_PAUSE_MS = 200
const TOO_LARGE = 413

interface Claim {
  readonly claim: string
  readonly args: unknown
  readonly timeoutMs: number
}

/** The page that executes. */
interface Page {
  readonly find: FindTool
  /** When the server knows what the page has: before that it gets no call. */
  readonly announced: () => Promise<void>
  /** Told the id of the call that is executed from now on, and null once it has come to its end. */
  readonly executes: (callId: string | null) => void
}

export class Executor {
  readonly #http: Http
  readonly #session: string
  readonly #client: string
  readonly #page: Page
  readonly #signal: AbortSignal
  #waiting: readonly ClientCall[] = []
  #isBusy = false
  /** Offers that were taken, or that are no business of this page's. */
  readonly #done = new Set<string>()

  constructor(http: Http, session: string, client: string, page: Page, signal: AbortSignal) {
    this.#http = http
    this.#session = session
    this.#client = client
    this.#page = page
    this.#signal = signal
  }

  /** Take what waits for a page now. */
  consider(calls: readonly ClientCall[]): void {
    this.#waiting = calls
    if (!this.#isBusy) {
      this.#isBusy = true
      this.#work().finally(() => {
        this.#isBusy = false
      })
    }
  }

  async #work(): Promise<void> {
    for (;;) {
      // What this page has nothing for is left to others; its tool may come later.
      const call = this.#waiting.find(
        (one) => !this.#done.has(offer(one)) && this.#page.find(one.handler) !== undefined,
      )
      if (!call || this.#signal.aborted) {
        return
      }
      await this.#take(call)
    }
  }

  /** Claim a call and execute it, or wait until it is to be claimed again. */
  async #take(call: ClientCall): Promise<void> {
    await this.#page.announced()
    let claim: Claim
    try {
      claim = (await this.#http.ask('POST', this.#path(call, 'claim'), {
        clientId: this.#client,
      })) as Claim
    } catch (error) {
      await this.#refused(call, error)
      return
    }
    this.#done.add(offer(call))
    const { callId, handler: name } = call
    const { args, timeoutMs } = claim
    this.#page.executes(callId)
    const end = await executed(this.#page.find, { callId, name, args, timeoutMs }, this.#signal)
    this.#page.executes(null)
    await this.#post(call, claim, end)
  }

  async #refused(call: ClientCall, error: unknown): Promise<void> {
    const isRefused = error instanceof RemitError && error.status >= 400 && error.status < 500
    if (isRefused && error.retryAfterMs === null) {
      this.#done.add(offer(call))
      return
    }
    // Somebody else is asked first, or the server is away.
    const pause = isRefused ? (error.retryAfterMs ?? 0) : PAUSE_MS
    await sleep(Math.max(LEAST_PAUSE_MS, pause), this.#signal)
  }

  /**
   * Until the server took it: posting it twice is harmless, losing it is not. A session that was
   * left is told once.
   */
  async #post(call: ClientCall, { claim }: Claim, end: End): Promise<void> {
    let posted = end
    do {
      try {
        const isLast = this.#signal.aborted
        await this.#http.ask('POST', this.#path(call, 'result'), { claim, ...posted }, { isLast })
        return
      } catch (error) {
        const status = error instanceof RemitError ? error.status : 0
        if (status === TOO_LARGE && posted === end) {
          posted = notPlain(call.handler, 'it is larger than the server takes')
        } else if (status >= 400 && status < 500 && status !== 429) {
          // Too late, or none of ours: the agent was told otherwise.
          return
        } else {
          await sleep(PAUSE_MS, this.#signal)
        }
      }
    } while (!this.#signal.aborted)
  }

  #path({ callId }: ClientCall, act: 'claim' | 'result'): string {
    return `${path`/v1/sessions/${this.#session}/calls/${callId}`}/${act}`
  }
}

function offer({ callId, seq }: ClientCall): string {
  return `${callId} ${seq}`
}
