/** Executes the agent's calls of the page's tools: one at a time, and none of them twice. */

import type { AnyTool } from '../core/definitions.js'
import { validate } from '../core/parameters.js'
import { NotPlainError, plainJson } from '../core/plain.js'
import type { ClientCall } from '../core/state.js'
import { type Http, path, RemitError, sleep } from '../transport/http.js'

/** Between tries to claim, or to post a result, while the server is away. */
const PAUSE_MS = 5000
const LEAST_PAUSE_MS = 200
const TOO_LARGE = 413
const LEFT = 'The page left the conversation before it executed this: nothing happened.'

/** What a call is executed by; `undefined` where this page has nothing for it. */
export type FindTool = (handler: string) => AnyTool | undefined

interface Claim {
  readonly claim: string
  readonly args: unknown
  readonly timeoutMs: number
}

/** How a call ended, as it is posted. */
type End = { readonly result: unknown } | { readonly error: Fault }

interface Fault {
  readonly code: 'client_error' | 'unserializable_result' | 'invalid_arguments'
  readonly message: string
}

export class Executor {
  readonly #http: Http
  readonly #session: string
  readonly #client: string
  readonly #find: FindTool
  readonly #announced: () => Promise<void>
  readonly #signal: AbortSignal
  #waiting: readonly ClientCall[] = []
  #isBusy = false
  /** Offers that were taken, or that are no business of this page's. */
  readonly #done = new Set<string>()

  /** @param announced when the server knows what this page has: before that it gets no call. */
  constructor(
    http: Http,
    session: string,
    client: string,
    find: FindTool,
    announced: () => Promise<void>,
    signal: AbortSignal,
  ) {
    this.#http = http
    this.#session = session
    this.#client = client
    this.#find = find
    this.#announced = announced
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
        (one) => !this.#done.has(offer(one)) && this.#find(one.handler) !== undefined,
      )
      if (!call || this.#signal.aborted) {
        return
      }
      await this.#take(call)
    }
  }

  /** Claim a call and execute it, or wait until it is to be claimed again. */
  async #take(call: ClientCall): Promise<void> {
    await this.#announced()
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
    const end = await this.#execute(call, claim)
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

  async #execute(call: ClientCall, claim: Claim): Promise<End> {
    const tool = this.#find(call.handler)
    if (!tool) {
      return failed(`${call.handler} is not on this page any more.`)
    }
    const input = await validate(tool.parameters, claim.args).catch((error: unknown) => ({
      isValid: false as const,
      message: words(error),
    }))
    if (!input.isValid) {
      return { error: { code: 'invalid_arguments', message: input.message } }
    }
    if (this.#signal.aborted) {
      return failed(LEFT)
    }
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(), claim.timeoutMs)
    const leave = () => over.abort()
    this.#signal.addEventListener('abort', leave)
    try {
      const context = { callId: call.callId, signal: over.signal }
      // The newest definition: validating may have taken a while.
      const execute = (this.#find(call.handler) ?? tool).execute
      const value = await Promise.race([
        Promise.resolve(execute(input.value as never, context)),
        aborted(over.signal, `${call.handler} took longer than ${claim.timeoutMs} ms.`),
      ])
      // As it is now: it may change before it is posted.
      return { result: JSON.parse(plainJson(value)) as unknown }
    } catch (error) {
      return error instanceof NotPlainError
        ? notPlain(call.handler, error.message)
        : failed(words(error))
    } finally {
      clearTimeout(timer)
      this.#signal.removeEventListener('abort', leave)
    }
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

function failed(message: string): End {
  return { error: { code: 'client_error', message } }
}

function notPlain(tool: string, why: string): End {
  const message = `The result of ${tool} cannot be sent: ${why}. Its action may already have happened: read the current state before trying again.`
  return { error: { code: 'unserializable_result', message } }
}

/** What was thrown, as the agent reads it. */
function words(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)) || 'It failed without a message.'
}

function aborted(signal: AbortSignal, message: string): Promise<never> {
  return new Promise((_done, fail) => {
    signal.addEventListener('abort', () => fail(new Error(message)))
  })
}
