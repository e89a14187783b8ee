import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { identity, Keys, KeysUnavailable, SettingError, verify } from '../src/kit/index.js'
import { Issuer } from './issuer.js'

let issuer: Issuer
const audience = 'bookmarks/api'

beforeEach(async () => {
  issuer = await new Issuer().start()
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await issuer.stop()
})

function bearing(token: string): { headers: Headers } {
  return { headers: new Headers({ authorization: `Bearer ${token}` }) }
}

describe('identity', () => {
  test('says whom the call serves', async () => {
    const found = await identity(bearing(await issuer.token()), { issuer: issuer.url, audience })

    expect(found).toMatchObject({
      ok: true,
      user: 'ana',
      workspace: 't1',
      installation: 'i1',
      callId: 'call_1',
    })
  })

  test('reads issuer and audience from what Remit sets, under any brand', async () => {
    vi.stubEnv('KAZZLE_APP_ISSUER', issuer.url)
    vi.stubEnv('KAZZLE_APP_AUDIENCE', audience)

    expect(await identity(bearing(await issuer.token()))).toMatchObject({ ok: true, user: 'ana' })
  })

  test('names the variable that is missing, and those that are too many', async () => {
    await expect(identity(bearing('x'))).rejects.toThrow(SettingError)
    vi.stubEnv('ACME_APP_ISSUER', issuer.url)
    vi.stubEnv('REMIT_APP_ISSUER', issuer.url)
    await expect(identity(bearing('x'))).rejects.toThrow(/ACME_APP_ISSUER, REMIT_APP_ISSUER/)
  })

  test.each([
    ['no header', {}, 'missing'],
    ['another scheme', { authorization: 'Basic YTpi' }, 'malformed'],
    ['an empty token', { authorization: 'Bearer ' }, 'malformed'],
    ['two tokens', { authorization: 'Bearer a.b.c, Bearer a.b.c' }, 'malformed'],
    ['no token', { authorization: 'Bearer x' }, 'malformed'],
  ])('refuses %s', async (_, headers, reason) => {
    const request = { headers: new Headers(headers as Record<string, string>) }

    const found = await identity(request, { issuer: issuer.url, audience })

    expect(found).toMatchObject({ ok: false, reason })
  })

  test('takes the scheme in any letter case', async () => {
    const headers = new Headers({ authorization: `bEARER   ${await issuer.token()}` })

    expect(await identity({ headers }, { issuer: issuer.url, audience })).toMatchObject({
      ok: true,
    })
  })

  test('takes a key set that is at hand, and asks nobody then', async () => {
    const options = { issuer: issuer.url, audience, keys: issuer.jwks }

    expect(await identity(bearing(await issuer.token()), options)).toMatchObject({ ok: true })
    expect(await identity(bearing(await issuer.token({}, 'k1', 'k9')), options)).toMatchObject({
      reason: 'unknown_key',
    })
    expect(issuer.asked).toBe(0)
  })

  test('believes a token only for its own audience and issuer', async () => {
    const token = await issuer.token()

    const options = { issuer: issuer.url, keys: issuer.jwks }
    expect(await identity(bearing(token), { ...options, audience: 'other/api' })).toMatchObject({
      reason: 'wrong_audience',
    })
    const wrong = { ...options, audience, issuer: 'https://remit.example' }
    expect(await identity(bearing(token), wrong)).toMatchObject({ reason: 'wrong_issuer' })
  })

  test('holds nothing of the token in a refusal', async () => {
    const token = await issuer.token({ sub: 'a-secret-name', exp: 1 })

    const found = await identity(bearing(token), { issuer: issuer.url, audience })

    expect(JSON.stringify(found)).not.toContain('a-secret-name')
    expect(found).toMatchObject({ reason: 'expired' })
  })
})

describe('verify', () => {
  test('believes a longer life only where it is asked for', async () => {
    const nowS = Date.now() / 1000
    const token = await issuer.token({ exp: Math.floor(nowS) + 900 })
    const options = { issuer: issuer.url, audience, nowS }

    expect(await verify(token, issuer.jwks, options)).toMatchObject({ reason: 'lives_too_long' })
    const longer = { ...options, maxLifetimeS: 1000 }
    expect(await verify(token, issuer.jwks, longer)).toMatchObject({ ok: true })
  })
})

describe('keys', () => {
  let nowMs = 0
  let keys: Keys

  beforeEach(() => {
    nowMs = 1_000_000
    keys = new Keys(issuer.url, () => nowMs)
  })

  async function found(kid = 'k1', published = kid) {
    const token = await issuer.token({}, kid, published)
    return identity(bearing(token), { issuer: issuer.url, audience, keys })
  }

  test('are asked for once, also by many requests at a time', async () => {
    await Promise.all([found(), found(), found()])
    await found()

    expect(issuer.asked).toBe(1)
  })

  test('are asked for again when they are five minutes old', async () => {
    await found()
    nowMs += 299_999
    await found()
    expect(issuer.asked).toBe(1)
    nowMs += 1
    await found()
    expect(issuer.asked).toBe(2)
  })

  test('are asked for again at once when a token names a new key', async () => {
    await found()
    await issuer.publish('k2')

    expect(await found('k2')).toMatchObject({ ok: true })
    expect(issuer.asked).toBe(2)
  })

  test('are asked for in vain at most once in 30 seconds', async () => {
    await found()
    for (let n = 0; n < 5; n += 1) {
      expect(await found('k1', `k${n + 7}`)).toMatchObject({ reason: 'unknown_key' })
    }
    expect(issuer.asked).toBe(2)
    nowMs += 30_000
    await found('k1', 'k9')
    expect(issuer.asked).toBe(3)
  })

  test('serve on for an hour while the server cannot be reached', async () => {
    await found()
    issuer.instead = { status: 503 }
    nowMs += 3_599_999

    expect(await found()).toMatchObject({ ok: true })
    nowMs += 1
    await expect(found()).rejects.toThrow(KeysUnavailable)
  })

  test('are not waited for by a request that has some while another asks', async () => {
    await found()
    let answer = () => {}
    issuer.held = new Promise((done) => {
      answer = done
    })
    nowMs += 300_000
    const asking = found()
    await vi.waitUntil(() => issuer.asked === 2)

    expect(await found()).toMatchObject({ ok: true })
    answer()
    expect(await asking).toMatchObject({ ok: true })
    expect(issuer.asked).toBe(2)
  })

  test('are not asked for by every request while the server is down', async () => {
    issuer.instead = { status: 503 }
    await expect(found()).rejects.toThrow('its status is 503')
    await expect(found()).rejects.toThrow('a moment ago')
    expect(issuer.asked).toBe(1)
    nowMs += 1_000
    issuer.instead = null
    expect(await found()).toMatchObject({ ok: true })
  })

  test.each([
    ['a redirect', { status: 302, location: '/elsewhere' }, 'no answer'],
    ['no JSON', { body: '<html>' }, 'no strict JSON'],
    ['a name twice', { body: '{"keys":[],"keys":[]}' }, 'no strict JSON'],
    ['a list', { body: '[]' }, 'no JSON object'],
    ['far too much', { body: JSON.stringify({ keys: 'x'.repeat(300_000) }) }, 'larger than'],
  ])('are refused when they come as %s', async (_, instead, why) => {
    issuer.instead = instead

    await expect(found()).rejects.toThrow(why)
  })

  test('come from an http(s) address alone', () => {
    expect(() => new Keys('file:///etc/keys')).toThrow('no http(s) address')
    expect(() => new Keys('')).toThrow('no http(s) address')
  })
})
