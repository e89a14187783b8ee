/** The published keys of a Remit server, kept and asked for again when they change. */

import { isRecord, own, parseStrictJson } from '../wire/json.js'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 256 * 1024
// A new key is published ten minutes before it is used, so that this is no hurry.
const KEPT_MS = 300_000
// While the server cannot be reached, what it said last stands for as long as this.
const KEPT_WHILE_UNREACHABLE_MS = 3_600_000
// Anyone can send a token with an id that nobody knows: the server is not to feel it.
const BETWEEN_VAIN_ASKS_MS = 30_000
const BETWEEN_FAILURES_MS = 1_000
const BETWEEN_FAILURES_WITH_KEYS_MS = 15_000

/** The keys could not be fetched, so that no identity can be told true from false. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

/** `<issuer>/.well-known/jwks.json`; one object serves all requests. */
export class Keys {
  readonly #url: string
  readonly #clockMs: () => number
  #jwks: unknown
  #fetchedMs = 0
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #noVainAskBeforeMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<unknown> | null = null

  /**
   * @param issuer the public URL of the Remit server.
   * @param clockMs milliseconds that only grow.
   * @throws TypeError where the issuer is no http(s) address.
   */
  constructor(issuer: string, clockMs: () => number = () => performance.now()) {
    if (!(/^https?:\/\//.test(issuer) && URL.canParse(issuer))) {
      throw new TypeError(`The issuer "${issuer}" is no http(s) address.`)
    }
    this.#url = `${issuer.replace(/\/+$/, '')}/.well-known/jwks.json`
    this.#clockMs = clockMs
  }

  /**
   * The key set, at most five minutes old while the server can be reached.
   *
   * @throws KeysUnavailable where it could not be fetched, and none is kept.
   */
  async jwks(): Promise<unknown> {
    const ageMs = this.#clockMs() - this.#fetchedMs
    if (this.#jwks !== undefined && ageMs < KEPT_MS) {
      return this.#jwks
    }
    const usable = this.#jwks !== undefined && ageMs < KEPT_WHILE_UNREACHABLE_MS
    // One request asks; others wait for it only where they have nothing to go on with.
    if (usable && this.#fetching !== null) {
      return this.#jwks
    }
    try {
      return await this.#fetched(usable ? BETWEEN_FAILURES_WITH_KEYS_MS : BETWEEN_FAILURES_MS)
    } catch (error) {
      if (usable) {
        return this.#jwks
      }
      throw error
    }
  }

  /**
   * Asks again, for a token whose key is not in `known`; null where there is no other key. An ask
   * that brings no new key is not repeated within 30 s.
   */
  async jwksBeyond(known: unknown): Promise<unknown> {
    if (this.#jwks !== known && this.#jwks !== undefined) {
      return this.#jwks
    }
    if (this.#fetching === null) {
      if (this.#clockMs() < this.#noVainAskBeforeMs) {
        return null
      }
      this.#noVainAskBeforeMs = this.#clockMs() + BETWEEN_VAIN_ASKS_MS
    }
    const found = await this.#fetched(BETWEEN_FAILURES_WITH_KEYS_MS).catch(() => null)
    const before = new Set(ids(known))
    if (found === null || ids(found).every((id) => before.has(id))) {
      return null
    }
    this.#noVainAskBeforeMs = Number.NEGATIVE_INFINITY
    return found
  }

  /** One request at a time, however many wait for it. */
  #fetched(afterFailureMs: number): Promise<unknown> {
    if (this.#fetching === null && this.#clockMs() < this.#notBeforeMs) {
      return Promise.reject(new KeysUnavailable(`${this.#url} could not be read a moment ago.`))
    }
    this.#fetching ??= this.#fetch(afterFailureMs).finally(() => {
      this.#fetching = null
    })
    return this.#fetching
  }

  async #fetch(afterFailureMs: number): Promise<unknown> {
    const startMs = this.#clockMs()
    try {
      this.#jwks = await read(this.#url)
    } catch (error) {
      this.#notBeforeMs = this.#clockMs() + afterFailureMs
      const why = error instanceof Unreadable ? error.message : 'no answer came in time'
      throw new KeysUnavailable(`${this.#url} could not be read: ${why}.`, { cause: error })
    }
    this.#fetchedMs = startMs
    return this.#jwks
  }
}

/** What is wrong with an answer. */
class Unreadable extends Error {}

function ids(jwks: unknown): unknown[] {
  const keys = isRecord(jwks) ? own(jwks, 'keys') : undefined
  return Array.isArray(keys) ? keys.filter(isRecord).map((key) => own(key, 'kid')) : []
}

async function read(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Unreadable(`its status is ${response.status}`)
  }
  let document: unknown
  try {
    document = parseStrictJson(await capped(response))
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new Unreadable('it is no strict JSON')
    }
    throw error
  }
  if (!isRecord(document)) {
    throw new Unreadable('it is no JSON object')
  }
  return document
}

async function capped(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
    size += step.value.length
    if (size > MAX_BYTES) {
      await reader?.cancel()
      throw new Unreadable(`it is larger than ${MAX_BYTES} bytes`)
    }
    chunks.push(step.value)
  }
  const all = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}
