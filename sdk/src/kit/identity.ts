/** Whom a request serves, from its headers. */

import { setting } from './environment.js'
import { Keys } from './keys.js'
import { type Identity, type Refusal, refusal, verify } from './verify.js'

/** A Web `Request`, or whatever has its headers. */
export interface WithHeaders {
  readonly headers: Headers
}

export interface IdentityOptions {
  /** Remit's public URL; by default the variable that ends with `_APP_ISSUER`. */
  readonly issuer?: string | undefined
  /** `<app id>/<component>`; by default the variable that ends with `_APP_AUDIENCE`. */
  readonly audience?: string | undefined
  /** By default the issuer's own, fetched and kept; or a key set that is at hand. */
  readonly keys?: Keys | { readonly keys: readonly unknown[] } | undefined
  /** Unix seconds; by default now. */
  readonly nowS?: number | undefined
}

// One cache for each issuer that the app names: its key set is fetched once for all requests.
const known = new Map<string, Keys>()

/**
 * Verifies the identity token of a request.
 *
 * @returns whom the call serves, or why the token is not believed: answer that with 401, and keep
 * its message for your log.
 * @throws KeysUnavailable where the keys could not be fetched, so that nothing can be said;
 * SettingError where issuer or audience are neither given nor set.
 */
export async function identity(
  request: WithHeaders,
  options: IdentityOptions = {},
): Promise<Identity | Refusal> {
  const issuer = options.issuer ?? setting('ISSUER')
  const audience = options.audience ?? setting('AUDIENCE')
  const given = request.headers.get('authorization')
  if (given === null) {
    return refusal('missing', 'The request has no Authorization header.')
  }
  const token = /^bearer +(\S.*)$/i.exec(given)?.[1]
  if (token === undefined) {
    return refusal('malformed', 'Authorization is not one Bearer token.')
  }
  const expected = { issuer, audience, nowS: options.nowS ?? Date.now() / 1000 }
  const keys = options.keys ?? keysOf(issuer)
  if (!(keys instanceof Keys)) {
    return verify(token, keys, expected)
  }
  const jwks = await keys.jwks()
  const found = await verify(token, jwks, expected)
  const isKnown = found.ok || found.reason !== 'unknown_key'
  const newer = isKnown ? null : await keys.jwksBeyond(jwks)
  return newer === null ? found : verify(token, newer, expected)
}

function keysOf(issuer: string): Keys {
  const found = known.get(issuer) ?? new Keys(issuer)
  known.set(issuer, found)
  return found
}
