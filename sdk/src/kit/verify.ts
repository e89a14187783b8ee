/**
 * Verifies the identity token that Remit sends with a call.
 *
 * Rules beyond the signature, after RFC 8725: one algorithm, so that no token chooses; `typ` is
 * exact; a key is only ever one of the key set that was given, found by its id; addresses and keys
 * that a token carries are never looked at; duplicate names, odd base64 and long lives are refused.
 * The Python kit holds the same rules, in the same order.
 */

import { fromBase64url } from '../wire/base64url.js'
import { isRecord, own, parseStrictJson } from '../wire/json.js'

const ALGORITHM = 'ES256'
const LEEWAY_S = 30
const MAX_LIFETIME_S = 300
const MAX_TOKEN_CHARS = 8192
// Those of Remit have about 100.
const MAX_HEADER_CHARS = 512

// What is wrong with a signature is said when its key is known.
const TOKEN = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/
// What would change how the token is read; none of them is ever in a token of Remit.
const REFUSED_HEADERS = ['crit', 'b64', 'zip', 'enc', 'jwk', 'jku', 'x5u', 'x5c', 'x5t', 'x5t#S256']
const TEXT_CLAIMS = ['iss', 'sub', 'tenant', 'installation', 'jti'] as const

export type Reason =
  | 'missing'
  | 'malformed'
  | 'wrong_algorithm'
  | 'wrong_type'
  | 'unsupported_header'
  | 'unknown_key'
  | 'bad_signature'
  | 'bad_claims'
  | 'wrong_issuer'
  | 'wrong_audience'
  | 'expired'
  | 'not_yet_valid'
  | 'lives_too_long'

/** Whom a call serves. */
export interface Identity {
  readonly ok: true
  /** The back end's own id of the user. */
  readonly user: string
  readonly workspace: string
  /** This app in that workspace. */
  readonly installation: string
  /** The same in every attempt of one call. */
  readonly callId: string
  /** Unix seconds. */
  readonly issuedAtS: number
  /** Unix seconds. */
  readonly expiresAtS: number
}

/** Why a token is not believed; nothing of the token is in it. */
export interface Refusal {
  readonly ok: false
  /** For programs. */
  readonly reason: Reason
  /** For the log of the app. */
  readonly message: string
}

export interface VerifyOptions {
  /** `<app id>/<component>`, or the app's own origin for `auth: identity`. */
  readonly audience: string
  /** Remit's public URL, as it is set there. */
  readonly issuer: string
  /** Unix seconds; the token's times have 30 s of leeway. */
  readonly nowS: number
  /** The longest life to believe in; 300 s. */
  readonly maxLifetimeS?: number
}

/** Carries a refusal out of the step that found it. */
class Refused extends Error {
  readonly reason: Reason
  constructor(reason: Reason, message: string) {
    super(message)
    this.reason = reason
  }
}

export function refusal(reason: Reason, message: string): Refusal {
  return { ok: false, reason, message }
}

/**
 * Checks a token and says whom the call serves. It never throws over what a token holds.
 *
 * @param token what stood behind `Authorization: Bearer`.
 * @param jwks the document of `/.well-known/jwks.json`, decoded.
 */
export async function verify(
  token: string,
  jwks: unknown,
  options: VerifyOptions,
): Promise<Identity | Refusal> {
  try {
    const { header, payload, signature, signed } = parts(token)
    checkHeader(header)
    await checkSignature(signed, signature, await findKey(jwks, own(header, 'kid')))
    const claims = object(payload, 'claims')
    checkNames(claims, options)
    const [issuedAtS, expiresAtS] = checkTimes(claims, options)
    return {
      ok: true,
      user: String(claims['sub']),
      workspace: String(claims['tenant']),
      installation: String(claims['installation']),
      callId: String(claims['jti']),
      issuedAtS,
      expiresAtS,
    }
  } catch (error) {
    if (error instanceof Refused) {
      return refusal(error.reason, error.message)
    }
    throw error
  }
}

interface Parts {
  header: Record<string, unknown>
  payload: Uint8Array
  signature: Uint8Array<ArrayBuffer>
  signed: Uint8Array<ArrayBuffer>
}

function parts(token: string): Parts {
  if (token.length > MAX_TOKEN_CHARS) {
    throw new Refused('malformed', `The token has more than ${MAX_TOKEN_CHARS} characters.`)
  }
  const [, head = '', body = '', tail = ''] = TOKEN.exec(token) ?? []
  if (head === '') {
    throw new Refused('malformed', 'The token is not three parts in base64url.')
  }
  if (head.length > MAX_HEADER_CHARS) {
    throw new Refused(
      'malformed',
      `The token's header has more than ${MAX_HEADER_CHARS} characters.`,
    )
  }
  const header = bytes(head)
  const payload = bytes(body)
  const signature = bytes(tail)
  const signed = new TextEncoder().encode(`${head}.${body}`)
  return { header: object(header, 'header'), payload, signature, signed }
}

function bytes(part: string): Uint8Array<ArrayBuffer> {
  const found = fromBase64url(part)
  if (found === null) {
    throw new Refused('malformed', 'A part of the token is no base64url.')
  }
  return found
}

function object(data: Uint8Array, what: string): Record<string, unknown> {
  let value: unknown
  try {
    value = parseStrictJson(data)
  } catch {
    throw new Refused('malformed', `The token's ${what} is no strict JSON.`)
  }
  if (!isRecord(value)) {
    throw new Refused('malformed', `The token's ${what} is no JSON object.`)
  }
  return value
}

function checkHeader(header: object): void {
  if (own(header, 'alg') !== ALGORITHM) {
    throw new Refused('wrong_algorithm', `The token is not signed with ${ALGORITHM}.`)
  }
  if (own(header, 'typ') !== 'JWT') {
    throw new Refused('wrong_type', "The token's typ is not JWT.")
  }
  if (REFUSED_HEADERS.some((name) => Object.hasOwn(header, name))) {
    throw new Refused('unsupported_header', "The token's header asks for what is not supported.")
  }
  if (Object.hasOwn(header, 'cty') && typeof own(header, 'cty') !== 'string') {
    throw new Refused('unsupported_header', "The token's cty is no text.")
  }
}

/** The one key of that id, if it is one that ES256 verifies with. */
async function findKey(jwks: unknown, kid: unknown): Promise<CryptoKey> {
  const keys = isRecord(jwks) ? own(jwks, 'keys') : undefined
  const [key, ...others] =
    Array.isArray(keys) && typeof kid === 'string'
      ? keys.filter((one) => isRecord(one) && own(one, 'kid') === kid)
      : []
  if (key === undefined || others.length > 0) {
    throw new Refused('unknown_key', "The token's kid is that of no key, or of several.")
  }
  const isFor = (name: string, value: string) =>
    !Object.hasOwn(key, name) || own(key, name) === value
  if (
    own(key, 'kty') !== 'EC' ||
    own(key, 'crv') !== 'P-256' ||
    !isFor('alg', ALGORITHM) ||
    !isFor('use', 'sig')
  ) {
    throw new Refused('unknown_key', `The token's kid is that of a key of no ${ALGORITHM}.`)
  }
  const [x, y] = [own(key, 'x'), own(key, 'y')]
  if (!isCoordinate(x) || !isCoordinate(y)) {
    throw new Refused('unknown_key', "The token's kid is that of a key that is broken.")
  }
  try {
    const point = { kty: 'EC', crv: 'P-256', x, y }
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
    return await crypto.subtle.importKey('jwk', point, algorithm, false, ['verify'])
  } catch {
    throw new Refused('unknown_key', "The token's kid is that of a key that is broken.")
  }
}

function isCoordinate(value: unknown): value is string {
  return typeof value === 'string' && fromBase64url(value)?.length === 32
}

async function checkSignature(
  signed: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  key: CryptoKey,
): Promise<void> {
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const fits =
    signature.length === 64 &&
    (await crypto.subtle.verify(algorithm, key, signature, signed).catch(() => false))
  if (!fits) {
    throw new Refused('bad_signature', "The token's signature does not fit its key.")
  }
}

function checkNames(claims: object, { audience, issuer }: VerifyOptions): void {
  for (const name of TEXT_CLAIMS) {
    const value = own(claims, name)
    if (typeof value !== 'string' || value === '') {
      throw new Refused('bad_claims', `The token's ${name} is missing or no text.`)
    }
  }
  if (own(claims, 'iss') !== issuer) {
    throw new Refused('wrong_issuer', 'The token was issued by another server.')
  }
  const found = own(claims, 'aud')
  const audiences: unknown[] = Array.isArray(found) ? found : [found]
  if (audiences.length === 0 || !audiences.every((one) => typeof one === 'string')) {
    throw new Refused('bad_claims', "The token's aud is missing or no text.")
  }
  if (!audiences.includes(audience)) {
    throw new Refused('wrong_audience', 'The token was made for somebody else.')
  }
}

function checkTimes(
  claims: object,
  { nowS, maxLifetimeS = MAX_LIFETIME_S }: VerifyOptions,
): [issuedAtS: number, expiresAtS: number] {
  const issued = time(claims, 'iat')
  const expires = time(claims, 'exp')
  if (expires - issued > maxLifetimeS) {
    throw new Refused('lives_too_long', `The token lives for more than ${maxLifetimeS} s.`)
  }
  if (expires <= nowS - LEEWAY_S) {
    throw new Refused('expired', 'The token has expired.')
  }
  const starts = Object.hasOwn(claims, 'nbf') ? Math.max(issued, time(claims, 'nbf')) : issued
  if (starts > nowS + LEEWAY_S) {
    throw new Refused('not_yet_valid', 'The token is not valid yet: it comes from the future.')
  }
  if (expires <= issued) {
    throw new Refused('bad_claims', 'The token expires before it was issued.')
  }
  return [issued, expires]
}

function time(claims: object, name: string): number {
  const value = own(claims, name)
  if (typeof value !== 'number') {
    throw new Refused('bad_claims', `The token's ${name} is missing or no number.`)
  }
  return value
}
