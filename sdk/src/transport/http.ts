/** The server's HTTP API, asked with a token that the host app gives. */

import { wordsOf } from '../core/plain.js'
import { isRecord } from '../wire/json.js'

/** Between tries of a request that got no answer; each try of a POST has the same key. */
const RETRIES_MS = [300, 700, 1500, 3000, 5000]
const MAX_RETRY_AFTER_MS = 10_000
/** Whom no token lets in, the person in the chat is told so; the server's words are for its keys. */
export const SIGNED_OUT = 'You are not signed in here any more. Sign in again, or reload the page.'
const AWAY = new Set([0, 502, 503, 504])
/** RFC 6750, 2.1: a page of HTML or a document of JSON is the answer to another question. */
const TOKEN = /^[\w\-.~+/]+=*$/

/** An answer that is none of the good ones, or none at all. */
export class RemitError extends Error {
  override readonly name = 'RemitError'
  /** Of HTTP; 0 where there was no answer. */
  readonly status: number
  /** Stable, one of those that `remit explain` knows; empty where there is none. */
  readonly code: string
  /** The problem document, as the server sent it. */
  readonly problem: Readonly<Record<string, unknown>>
  /** After which the server wants to be asked again; null where it did not say. */
  readonly retryAfterMs: number | null

  constructor(
    message: string,
    status: number,
    problem: Readonly<Record<string, unknown>> = {},
    retryAfterMs: number | null = null,
  ) {
    super(message)
    this.status = status
    this.code = typeof problem['code'] === 'string' ? problem['code'] : ''
    this.problem = problem
    this.retryAfterMs = retryAfterMs
  }
}

export type GetToken = () => string | Promise<string>

export interface HttpOptions {
  /** Base URL of the server. */
  readonly server: string
  /** A token of the session; asked again when the server refuses the last one. */
  readonly getToken: GetToken
  readonly fetch?: typeof fetch
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Goes out although the page is being left; it is not tried again. */
  readonly isLast?: boolean
}

export class Http {
  readonly #base: string
  readonly #getToken: GetToken
  readonly #fetch: typeof fetch
  #token: Promise<string> | null = null
  #warned = ''

  constructor({ server, getToken, fetch: given }: HttpOptions) {
    this.#base = server.replace(/\/+$/, '')
    this.#getToken = getToken
    this.#fetch = given ?? ((...sent) => globalThis.fetch(...sent))
  }

  /**
   * Ask for JSON. Where the server is away it is asked again, and what is asked happens once.
   *
   * @throws RemitError
   */
  async ask(
    method: Method,
    path: string,
    body?: unknown,
    options: AskOptions = {},
  ): Promise<unknown> {
    const headers: Record<string, string> = { Accept: 'application/json', ...options.headers }
    if (method === 'POST') {
      headers['Idempotency-Key'] = randomId()
    }
    const init: RequestInit = { method, headers, keepalive: options.isLast ?? false }
    if (body !== undefined) {
      headers['Content-Type'] = 'application/json'
      init.body = JSON.stringify(body)
    }
    if (options.signal) {
      init.signal = options.signal
    }
    for (const wait of options.isLast ? [] : RETRIES_MS) {
      try {
        return await this.#json(path, init)
      } catch (error) {
        const pause = pauseAfter(error, wait)
        if (pause === null || options.signal?.aborted) {
          throw error
        }
        await sleep(pause, options.signal)
      }
    }
    return this.#json(path, init)
  }

  /**
   * An answer whose body is read as it comes.
   *
   * @throws RemitError
   */
  async open(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    return this.#good(path, { headers, signal, cache: 'no-store' })
  }

  /** The token is of no use any more: the next request asks for another. */
  forgetToken(): void {
    this.#token = null
  }

  async #json(path: string, init: RequestInit): Promise<unknown> {
    const answer = await this.#good(path, init)
    try {
      const text = await answer.text()
      return text === '' ? null : (JSON.parse(text) as unknown)
    } catch (error) {
      if (init.signal?.aborted) {
        throw error
      }
      // Broken off, or of somebody in between: what was asked may have happened, and is asked again.
      throw new RemitError('The answer of the server cannot be read.', 0)
    }
  }

  async #good(path: string, init: RequestInit): Promise<Response> {
    const token = this.#held()
    let answer = await this.#send(path, init, await token)
    if (answer.status === 401) {
      if (this.#token === token) {
        this.#token = null
      }
      answer = await this.#send(path, init, await this.#held())
    }
    if (!answer.ok) {
      throw await refusal(answer)
    }
    return answer
  }

  async #send(path: string, init: RequestInit, token: string): Promise<Response> {
    try {
      return await this.#fetch(this.#base + path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${token}` },
        credentials: 'omit',
      })
    } catch (error) {
      if (init.signal?.aborted) {
        throw error
      }
      throw new RemitError('The server cannot be reached.', 0)
    }
  }

  /** Whoever builds the page is told once; the person reads that the connection is lost. */
  #warn(error: unknown): void {
    const words = `getToken: ${wordsOf(error)}`
    if (words !== this.#warned) {
      this.#warned = words
      console.warn(words)
    }
  }

  /** One question to the host at a time, whoever needs the token. */
  #held(): Promise<string> {
    if (this.#token === null) {
      const asked = Promise.resolve().then(this.#getToken).then(checked)
      this.#token = asked.catch((error: unknown) => {
        this.#token = null
        this.#warn(error)
        throw error
      })
    }
    return this.#token
  }
}

function checked(token: unknown): string {
  const found = typeof token === 'string' ? token.trim() : ''
  if (TOKEN.test(found)) {
    return found
  }
  throw new RemitError('getToken gave no token.', 0)
}

async function refusal(answer: Response): Promise<RemitError> {
  const found: unknown = await answer.json().catch(() => null)
  const problem = isRecord(found) ? found : {}
  const detail = problem['detail']
  const said = typeof detail === 'string' ? detail : `The server answered ${answer.status}.`
  const words = answer.status === 401 ? SIGNED_OUT : said
  const seconds = Number(answer.headers.get('Retry-After') ?? Number.NaN)
  return new RemitError(
    words,
    answer.status,
    problem,
    Number.isFinite(seconds) ? seconds * 1000 : null,
  )
}

/** How long to wait before the same is asked again; null where that would be of no use. */
function pauseAfter(error: unknown, wait: number): number | null {
  if (!(error instanceof RemitError)) {
    return null
  }
  if (error.status === 429) {
    const after = error.retryAfterMs ?? wait
    return after > MAX_RETRY_AFTER_MS ? null : after
  }
  return AWAY.has(error.status) || error.code === 'idempotency_in_progress' ? wait : null
}

/** Wait; an aborted signal ends it early, without an error. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) {
      done()
      return
    }
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      done()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

/** Of 128 bits. `crypto.randomUUID` is there on secure origins alone. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A path with its parts encoded: path`/v1/apps/${id}`. */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent))
}
