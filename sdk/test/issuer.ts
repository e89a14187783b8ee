/** A Remit server as a component sees it: signed tokens, and the key set on loopback. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

const P256 = { name: 'ECDSA', namedCurve: 'P-256' }

export interface Claims {
  [name: string]: unknown
}

function base64url(data: string | ArrayBuffer): string {
  const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data)
  return bytes.toString('base64url')
}

export class Issuer {
  url = ''
  /** How often the key set was asked for. */
  asked = 0
  /** What is answered in its place. */
  instead: { status?: number; body?: string; location?: string } | null = null
  /** What is waited for before an answer. */
  held: Promise<void> = Promise.resolve()
  readonly #keys = new Map<string, CryptoKeyPair>()
  readonly #server: Server
  #published: unknown[] = []

  constructor() {
    this.#server = createServer(async (request, response) => {
      this.asked += 1
      await this.held
      const { status = 200, body, location } = this.instead ?? {}
      const isThere = request.url === '/.well-known/jwks.json'
      response.writeHead(isThere ? status : 404, location === undefined ? {} : { location })
      response.end(body ?? JSON.stringify({ keys: this.#published }))
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    await this.publish('k1')
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  /** Makes a key and publishes it. */
  async publish(kid: string): Promise<void> {
    const pair = (await crypto.subtle.generateKey(P256, true, ['sign', 'verify'])) as CryptoKeyPair
    const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
    this.#keys.set(kid, pair)
    this.#published.push({ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' })
  }

  get jwks(): { keys: readonly unknown[] } {
    return { keys: this.#published }
  }

  async token(claims: Claims = {}, kid = 'k1', published = kid): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const all = {
      iss: this.url,
      aud: 'bookmarks/api',
      sub: 'ana',
      tenant: 't1',
      installation: 'i1',
      jti: 'call_1',
      iat: now,
      exp: now + 300,
      ...claims,
    }
    const header = base64url(JSON.stringify({ alg: 'ES256', typ: 'JWT', kid: published }))
    const signed = `${header}.${base64url(JSON.stringify(all))}`
    const pair = this.#keys.get(kid)
    if (pair === undefined) {
      throw new Error(`no key ${kid}`)
    }
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    const signature = await crypto.subtle.sign(algorithm, pair.privateKey, Buffer.from(signed))
    return `${signed}.${base64url(signature)}`
  }
}
