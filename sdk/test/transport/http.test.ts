import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Http, path, RemitError } from '../../src/transport/http.js'
import { problem, SESSION, SessionServer } from '../session-server.js'
import { until } from '../until.js'

let server: SessionServer
/** How often the host was asked for a token. */
let questions: number

beforeEach(async () => {
  server = await new SessionServer().start()
  questions = 0
})

afterEach(async () => {
  await server.stop()
})

const getToken = async () => {
  questions += 1
  return `token_${questions}`
}

const client = () => new Http({ server: `${server.url}//`, getToken })
const place = (what: string) => `/v1/sessions/${SESSION}${what}`

async function refused(asking: Promise<unknown>): Promise<RemitError> {
  const error = await asking.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(RemitError)
  return error as RemitError
}

describe('a request', () => {
  test('carries the token, never a cookie, and a body as JSON', async () => {
    const said = await client().ask('PUT', place('/clients/c'), { tools: [] })

    expect(said).toEqual({ leaseMs: 30_000 })
    expect(server.asked).toMatchObject([
      {
        method: 'PUT',
        path: '/clients/c',
        headers: { authorization: 'Bearer token_1', 'content-type': 'application/json' },
        body: { tools: [] },
      },
    ])
    expect(server.asked[0]?.headers.cookie).toBeUndefined()
  })

  test.each([
    ['204', { status: 204 }],
    ['no body', { status: 200 }],
  ])('is null where the answer is %s', async (_, answered) => {
    server.answer(() => answered)

    expect(await client().ask('DELETE', place('/clients/c'))).toBeNull()
  })

  test('has a path whose parts are encoded', () => {
    expect(path`/v1/sessions/${'a/../b?c'}/x`).toBe('/v1/sessions/a%2F..%2Fb%3Fc/x')
  })
})

describe('a token', () => {
  test('is asked for again once the server refuses it, and the request is sent again', async () => {
    server.answer(({ headers }) =>
      headers.authorization === 'Bearer token_1' ? problem(401, 'unauthorized') : undefined,
    )

    await client().ask('POST', place('/cancel'), {})

    expect(questions).toBe(2)
    const [first, second, third] = server.of('POST', '/cancel')
    expect(second?.headers.authorization).toBe('Bearer token_2')
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
    expect(third).toBeUndefined()
  })

  test('is asked for once, however many requests need it or find it refused', async () => {
    server.answer(({ headers }) =>
      headers.authorization === 'Bearer token_1' ? problem(401, 'unauthorized') : undefined,
    )
    const http = client()

    await Promise.all(Array.from({ length: 6 }, () => http.ask('GET', place(''))))

    expect(questions).toBe(2)
  })

  test('that is refused twice is the end, and the next request asks anew', async () => {
    server.answer(() => problem(401, 'unauthorized'))
    const http = client()

    expect(await refused(http.ask('GET', place('')))).toMatchObject({ status: 401 })
    expect(questions).toBe(2)
    await refused(http.ask('GET', place('')))
    expect(questions).toBe(3)
  })

  test('is asked for again after the host could not give one', async () => {
    let isBroken = true
    const http = new Http({
      server: server.url,
      getToken: () => {
        if (isBroken) {
          throw new Error('signed out')
        }
        return ' token_1\n'
      },
    })

    await expect(http.ask('GET', place(''))).rejects.toThrow('signed out')
    isBroken = false
    await http.ask('GET', place(''))
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer token_1'])
  })

  test('has to be a text', async () => {
    vi.useFakeTimers()
    try {
      const http = new Http({ server: server.url, getToken: () => '' })
      const asking = refused(http.ask('GET', place('')))
      await vi.runAllTimersAsync()
      expect((await asking).message).toContain('getToken gave no token')
    } finally {
      vi.useRealTimers()
    }
    expect(server.asked).toEqual([])
  })
})

describe('what is asked again', () => {
  test.each([
    ['a connection that breaks', { isBroken: true }],
    ['502', { status: 502 }],
    ['503', problem(503, 'busy')],
    ['504', { status: 504 }],
    ['an answer that is no JSON', { status: 200, text: '<html>' }],
    ['the first try still running', problem(409, 'idempotency_in_progress')],
    ['429', problem(429, 'rate_limited', {}, { 'Retry-After': '0' })],
  ])('is a request after %s, with the same key', async (_, answered) => {
    server.once('POST', '/cancel', answered)

    expect(await client().ask('POST', place('/cancel'), { a: 1 })).toEqual({})

    const tries = server.of('POST', '/cancel')
    expect(tries).toHaveLength(2)
    expect(new Set(tries.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(tries[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/)
    expect(tries[1]?.body).toEqual({ a: 1 })
  })

  test('has another key for another act', async () => {
    const http = client()
    await http.ask('POST', place('/cancel'), {})
    await http.ask('POST', place('/cancel'), {})

    const keys = server.of('POST', '/cancel').map(({ headers }) => headers['idempotency-key'])
    expect(new Set(keys).size).toBe(2)
  })

  test('waits as long as Retry-After says', async () => {
    server.once('GET', '', problem(429, 'rate_limited', {}, { 'Retry-After': '1' }))
    const from = Date.now()

    await client().ask('GET', place(''))

    expect(Date.now() - from).toBeGreaterThanOrEqual(990)
    expect(server.asked).toHaveLength(2)
  })

  test.each([
    ['429 with a long Retry-After', problem(429, 'rate_limited', {}, { 'Retry-After': '11' })],
    ['400', problem(400, 'invalid_body')],
    ['404', problem(404, 'not_found')],
    ['409', problem(409, 'already_answered')],
    ['422', problem(422, 'invalid_arguments')],
    ['500', problem(500, 'internal')],
  ])('is nothing after %s', async (_, answered) => {
    server.answer(() => answered)

    const error = await refused(client().ask('POST', place('/cancel'), {}))

    expect(server.asked).toHaveLength(1)
    expect(error).toMatchObject({ status: answered.status, problem: answered.body })
    expect(error.message).toBe(`Refused: ${error.code}.`)
  })

  test('is nothing once its signal is aborted, also while it waits', async () => {
    server.answer(() => ({ status: 503 }))
    const left = new AbortController()

    const asking = client().ask('GET', place(''), undefined, { signal: left.signal })
    await until(() => expect(server.asked).toHaveLength(1))
    left.abort()

    await expect(asking).rejects.toThrow()
    await new Promise((done) => setTimeout(done, 500))
    expect(server.asked).toHaveLength(1)
  })

  test('is nothing of a page that leaves', async () => {
    server.answer(() => ({ status: 503 }))

    const leaving = client().ask('DELETE', place('/clients/c'), undefined, { isLast: true })

    expect((await refused(leaving)).status).toBe(503)
    expect(server.asked).toHaveLength(1)
  })

  test('ends with the words that the server cannot be reached', async () => {
    const http = client()
    await http.ask('GET', place(''))
    await server.stop()

    const leaving = http.ask('GET', place(''), undefined, { isLast: true })

    expect(await refused(leaving)).toMatchObject({
      status: 0,
      code: '',
      message: 'The server cannot be reached.',
    })
    await server.start()
  })
})
