/** What a page lends, shows and says, over a connection with a server on loopback. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  type Connection,
  type ConnectionOptions,
  connect,
  type Definitions,
  defineTool,
  defineWidget,
} from '../../src/client/index.js'
import type { Input } from '../../src/wire/event.js'
import { AT, delta, problem, SESSION, SessionServer, TOKEN } from '../session-server.js'
import { until } from '../until.js'

const ANY = { type: 'object', properties: {} } as const
const PLACE = /^\/clients\/[0-9a-f]{32}$/

let server: SessionServer
let open: Connection[]

beforeEach(async () => {
  server = await new SessionServer().start()
  open = []
})

afterEach(async () => {
  for (const one of open) {
    one.close()
  }
  await server.stop()
})

function page(definitions: Definitions = {}, more: Partial<ConnectionOptions> = {}): Connection {
  const options = { server: server.url, session: SESSION, getToken: () => TOKEN, ...definitions }
  const made = connect({ ...options, ...more })
  open.push(made)
  return made
}

async function caughtUp(connection: Connection): Promise<void> {
  await until(() => {
    const { isCaughtUp, link, state } = connection.snapshot()
    expect([isCaughtUp, link, state.headSeq]).toEqual([true, 'open', server.log.length])
  })
}

const announced = () => server.of('PUT', PLACE)
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

/** As a host makes them on each render: all objects are new. */
const definitions = (more: { title?: string; description?: string } = {}) => ({
  tools: {
    save: defineTool({
      metadata: { title: more.title ?? 'Save it' },
      description: more.description ?? 'Saves.',
      parameters: z.object({ id: z.string() }),
      idempotent: true,
      timeoutMs: 5000,
      execute: ({ id }) => id,
    }),
  },
  widgets: {
    card: defineWidget({ description: 'A card.', parameters: ANY, render: () => {} }),
  },
})

describe('what a page lends', () => {
  test('is announced with its names, texts and schemas, and nothing else (A-02, A-08)', async () => {
    page({ ...definitions(), context: { page: 'orders' } })

    await until(() => expect(announced()).toHaveLength(1))
    expect(announced()[0]?.body).toEqual({
      tools: [
        {
          name: 'save',
          title: 'Save it',
          description: 'Saves.',
          parameters: {
            type: 'object',
            properties: { id: { type: 'string' } },
            required: ['id'],
            additionalProperties: false,
          },
          idempotent: true,
          timeoutMs: 5000,
        },
      ],
      widgets: [{ name: 'card', description: 'A card.', parameters: ANY }],
      context: { page: 'orders' },
    })
  })

  test('is not announced again where it was only built anew (A-24)', async () => {
    const connection = page(definitions())
    await until(() => expect(announced()).toHaveLength(1))
    await wait(50)

    for (let render = 0; render < 100; render += 1) {
      connection.update({ ...definitions(), context: { render } })
    }
    await wait(100)

    expect(announced()).toHaveLength(1)
  })

  test('is not announced again where it was built anew before the server answered (A-24)', async () => {
    server.answer(async ({ method }) => {
      if (method === 'PUT') {
        await wait(100)
      }
      return undefined
    })
    const connection = page(definitions())

    for (let render = 0; render < 10; render += 1) {
      connection.update(definitions())
      await wait(5)
    }
    await wait(400)

    expect(announced()).toHaveLength(1)
  })

  test('is announced again where a text or a name is another one (A-07)', async () => {
    const connection = page(definitions())
    await until(() => expect(announced()).toHaveLength(1))
    await wait(50)

    connection.update(definitions({ description: 'Saves it for good.' }))
    await until(() => expect(announced()).toHaveLength(2))
    await wait(50)
    connection.update({})

    await until(() => expect(announced()).toHaveLength(3))
    expect(announced()[1]?.body).toMatchObject({ tools: [{ description: 'Saves it for good.' }] })
    expect(announced()[2]?.body).toEqual({ tools: [], widgets: [] })
  })

  test('is announced under one id, and again before its lease is over', async () => {
    server.answer(({ method }) => (method === 'PUT' ? { body: { leaseMs: 150 } } : undefined))
    page(definitions())

    await until(() => expect(announced().length).toBeGreaterThanOrEqual(4))
    expect(new Set(announced().map(({ path }) => path)).size).toBe(1)
  })

  test('has a fault as long as the server refuses it', async () => {
    server.answer(({ method, body }) =>
      method === 'PUT' && JSON.stringify(body).includes('odd')
        ? problem(422, 'invalid_definition')
        : undefined,
    )
    const connection = page(definitions({ description: 'odd' }))
    await until(() =>
      expect(connection.snapshot().lendingFault).toBe('Refused: invalid_definition.'),
    )

    connection.update(definitions())

    await until(() => expect(connection.snapshot().lendingFault).toBeNull())
  })

  test('is told of where this session does not offer all of it, to who builds the page', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const leftOut = [{ name: 'save', reason: 'the session was made without it (clientTools)' }]
    server.answer(({ method }) =>
      method === 'PUT' ? { body: { leaseMs: 90, leftOut } } : undefined,
    )
    const connection = page(definitions())
    await until(() => expect(announced().length).toBeGreaterThanOrEqual(3))

    expect(connection.snapshot().leftOut).toEqual(leftOut)
    expect(connection.snapshot().lendingFault).toBeNull()
    expect(warned.mock.calls).toEqual([
      ['save is left out: the session was made without it (clientTools)'],
    ])
    warned.mockRestore()
  })

  test('is taken back when the page leaves', async () => {
    const connection = page(definitions())
    await caughtUp(connection)
    await wait(50)

    connection.close()

    await until(() => expect(server.of('DELETE', PLACE)).toHaveLength(1))
    await until(() => expect(server.readers).toBe(0))
  })
})

describe('what is shown', () => {
  test('is the state of the log, and a message while it is written', async () => {
    server.write('session_started', { apps: [], user: 'ana', pins: [], model: null })
    const connection = page()
    await caughtUp(connection)

    server.send(delta('m_1', 0, 'So'))

    await until(() =>
      expect(connection.snapshot().state.entries).toMatchObject([{ text: 'So', at: null }]),
    )
    expect(connection.snapshot().state.user).toBe('ana')
  })

  test('is the same object until something changes, and then whoever listens is told', async () => {
    const connection = page()
    await caughtUp(connection)
    await wait(50)
    const before = connection.snapshot()
    expect(connection.snapshot()).toBe(before)
    const told = vi.fn()
    const unsubscribe = connection.subscribe(told)

    server.write('status', { status: 'running' })
    await until(() => expect(told).toHaveBeenCalledTimes(1))
    expect(connection.snapshot()).not.toBe(before)
    expect(connection.snapshot().outbox).toBe(before.outbox)

    unsubscribe()
    server.write('status', { status: 'idle' })
    await until(() => expect(connection.snapshot().state.status).toBe('idle'))
    expect(told).toHaveBeenCalledTimes(1)
  })

  test('says that the connection is lost, and goes on', async () => {
    const connection = page()
    await caughtUp(connection)
    const links: string[] = []
    connection.subscribe(() => links.push(connection.snapshot().link))

    server.drop()

    await until(() => expect(links).toContain('lost'))
    await until(() => expect(links.at(-1)).toBe('open'))
  })

  test('says why nothing follows', async () => {
    server.answer(({ path }) => (path === '/events' ? problem(404, 'not_found') : undefined))
    const connection = page()

    await until(() => expect(connection.snapshot().link).toBe('over'))
    expect(connection.snapshot().fault).toBe('Refused: not_found.')
  })

  test('goes on at once where the user is signed in again and says something', async () => {
    let isSignedIn = false
    server.answer(() => (isSignedIn ? undefined : problem(401, 'unauthorized')))
    const connection = page(definitions())
    await until(() => expect(connection.snapshot().link).toBe('signed_out'))
    expect(connection.snapshot().fault).toMatch(/^You are not signed in here any more\./)

    await connection.send('hello')
    expect(connection.snapshot().outbox[0]?.fault).toMatch(/^You are not signed in/)
    isSignedIn = true
    await connection.retry(connection.snapshot().outbox[0]?.id ?? '')

    await until(() => expect(connection.snapshot().link).toBe('open'))
    server.write('message', { messageId: 'm_1', role: 'assistant', text: 'welcome' })
    await until(() => expect(connection.snapshot().state.entries.at(-1)?.kind).toBe('message'))
    const [told, said] = [announced().at(-1), server.of('POST', '/messages').at(-1)]
    expect(server.asked.indexOf(told as never)).toBeLessThan(server.asked.indexOf(said as never))
  })

  test('goes on by itself once the user is signed in again', async () => {
    let isSignedIn = true
    server.answer(({ method }) => (method === 'PUT' ? { body: { leaseMs: 90 } } : undefined))
    server.answer(() => (isSignedIn ? undefined : problem(401, 'unauthorized')))
    const connection = page(definitions())
    await caughtUp(connection)
    isSignedIn = false
    server.drop()
    await until(() => expect(connection.snapshot().link).toBe('signed_out'))

    isSignedIn = true

    await until(() => expect(connection.snapshot().link).toBe('open'))
    expect(connection.snapshot().fault).toBeNull()
  })

  test.each([
    '<!doctype html>\n<html>Sign in</html>',
    '{"error":"not signed in"}',
    'Internal Server Error',
    '',
    undefined,
  ])('is as long as the host gives %j for a token that the connection is lost', async (given) => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    let token: unknown = given
    const connection = page(definitions(), { getToken: () => token as string })
    await until(() => expect(connection.snapshot().link).toBe('lost'))
    expect(server.asked).toEqual([])

    token = TOKEN

    await until(() => expect(connection.snapshot().link).toBe('open'))
    expect(warned.mock.calls).toEqual([[expect.stringContaining('getToken gave no token')]])
    warned.mockRestore()
  })

  test('is not whole until it is known where the log was, though the server was away', async () => {
    server.answer(() => ({ status: 503 }))
    const connection = page()
    await until(() => expect(connection.snapshot().link).toBe('lost'))

    expect(connection.snapshot().isCaughtUp).toBe(false)
    server.answer(() => undefined)
  })

  test('is over without a fault where the session was closed', async () => {
    const connection = page()
    await caughtUp(connection)

    server.end('session_closed')

    await until(() => expect(connection.snapshot().link).toBe('over'))
    expect(connection.snapshot().fault).toBeNull()
  })

  test('begins anew where the server has another log', async () => {
    server.write('message', { messageId: 'm_1', role: 'user', text: 'old' })
    server.write('message', { messageId: 'm_2', role: 'user', text: 'older' })
    const connection = page()
    await caughtUp(connection)

    server.log.length = 0
    server.drop()
    server.write('message', { messageId: 'm_1', role: 'user', text: 'new' })

    await until(() => expect(connection.snapshot().state.entries).toMatchObject([{ text: 'new' }]))
  })

  test('stays as it is once the page has left', async () => {
    const connection = page()
    await caughtUp(connection)
    const before = connection.snapshot()
    connection.close()

    await connection.send('too late').catch(() => undefined)

    expect(connection.snapshot()).toBe(before)
  })
})

describe('what the user says', () => {
  test('is sent with the page it comes from, and stands in the outbox until it is in the log', async () => {
    const connection = page({ context: { page: 'orders' } })
    await caughtUp(connection)
    const seen: string[][] = []
    connection.subscribe(() => seen.push(connection.snapshot().outbox.map(({ text }) => text)))

    await connection.send('Hello')

    await until(() => expect(connection.snapshot().state.entries).toHaveLength(1))
    expect(seen[0]).toEqual(['Hello'])
    expect(connection.snapshot().outbox).toEqual([])
    const clientId = announced()[0]?.path.replace('/clients/', '')
    expect(server.of('POST', '/messages').map(({ body }) => body)).toEqual([
      { text: 'Hello', clientId, context: { page: 'orders' }, queue: true },
    ])
  })

  test('takes back what waits for an answer', async () => {
    server.write('status', { status: 'waiting_human' })
    const connection = page()
    await caughtUp(connection)

    await connection.send('Rather not.')

    const [message] = server.of('POST', '/messages')
    expect(message?.body).toMatchObject({ withdraw: true })
    expect(message?.body).not.toHaveProperty('queue')
  })

  test('stays in the outbox with the reason where it is refused, and can be sent again', async () => {
    const connection = page()
    await caughtUp(connection)
    server.once('POST', '/messages', problem(409, 'running'))

    await connection.send('Hello')
    const [kept] = connection.snapshot().outbox
    expect(kept).toMatchObject({ text: 'Hello', fault: 'Refused: running.' })

    await connection.retry(kept?.id ?? '')
    await until(() => expect(connection.snapshot().outbox).toEqual([]))
    expect(connection.snapshot().state.entries).toMatchObject([{ text: 'Hello' }])
  })

  test('can be taken back where it was refused', async () => {
    const connection = page()
    await caughtUp(connection)
    server.once('POST', '/messages', problem(422, 'invalid_message'))
    await connection.send('Hello')

    connection.discard(connection.snapshot().outbox[0]?.id ?? '')

    expect(connection.snapshot().outbox).toEqual([])
    expect(server.of('POST', '/messages')).toHaveLength(1)
  })
})

describe('a session that the first message makes', () => {
  function lazy(session: () => Promise<string>): Connection {
    const made = connect({ server: server.url, session, getToken: () => TOKEN, ...definitions() })
    open.push(made)
    return made
  }

  test('is made once, and lent what the page has before it is told anything', async () => {
    const make = vi.fn(async () => SESSION)
    const connection = lazy(make)
    await wait(50)
    expect(make).not.toHaveBeenCalled()
    expect(server.asked).toEqual([])
    expect(connection.snapshot()).toMatchObject({ link: 'open', isCaughtUp: true })

    await Promise.all([connection.send('Hello'), connection.send('there')])

    await until(() => expect(connection.snapshot().state.entries).toHaveLength(2))
    expect(make).toHaveBeenCalledTimes(1)
    expect(connection.session).toBe(SESSION)
    const kinds = server.asked.map(({ method, path }) => `${method} ${path.split('/')[1] ?? ''}`)
    expect(kinds.indexOf('PUT clients')).toBeLessThan(kinds.indexOf('POST messages'))
  })

  test('is made when asked again where it could not be made', async () => {
    let isBroken = true
    const connection = lazy(async () => {
      if (isBroken) {
        throw new Error('signed out')
      }
      return SESSION
    })

    await connection.send('Hello')
    expect(connection.snapshot().outbox).toMatchObject([{ text: 'Hello', fault: 'signed out' }])
    isBroken = false
    await connection.retry(connection.snapshot().outbox[0]?.id ?? '')

    await until(() => expect(connection.snapshot().state.entries).toHaveLength(1))
    expect(connection.snapshot().outbox).toEqual([])
  })
})

describe('what the user decides', () => {
  const input: Input = {
    ...{ id: 'i/1', inputId: 'i/1', kind: 'approval', status: 'open', callId: 'c_1', user: 'ana' },
    ...{ app: 'orders', tool: 'cancel', title: 'Cancel', args: {}, digest: 'd', by: 'user' },
    ...{ createdAt: AT, expiresAt: AT, runId: 'r_1' },
  }
  const yes = { decision: 'approve', digest: 'd' } as const
  const ANSWERED = `/human-input/i%2F1`

  test('is posted as the answer of the input', async () => {
    const connection = page()

    expect(await connection.answer(input, yes)).toBeNull()

    expect(server.of('POST', ANSWERED).map(({ body }) => body)).toEqual([yes])
  })

  test('is taken as it stands where another one answered first', async () => {
    server.once('POST', ANSWERED, problem(409, 'answered', { input: { status: 'denied' } }))

    expect(await page().answer(input, yes)).toBeNull()
  })

  test('is not taken where the request is another one by now, which is given', async () => {
    const changed = { ...input, digest: 'e' }
    server.once('POST', ANSWERED, problem(409, 'stale_digest', { input: changed }))

    expect(await page().answer(input, yes)).toEqual(changed)
  })

  test('fails with the words of the server else', async () => {
    server.once('POST', ANSWERED, problem(403, 'not_yours'))

    await expect(page().answer(input, yes)).rejects.toThrow('Refused: not_yours.')
  })

  test('stops the run', async () => {
    await page().cancel()

    expect(server.of('POST', '/cancel')).toHaveLength(1)
  })
})
