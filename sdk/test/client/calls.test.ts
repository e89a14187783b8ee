/** The agent's calls of a page's tools, over a connection with a server on loopback. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  type Connection,
  connect,
  defineTool,
  type ToolContext,
  type Tools,
} from '../../src/client/index.js'
import { problem, SESSION, SessionServer, TOKEN } from '../session-server.js'
import { until } from '../until.js'

const ANY = { type: 'object', properties: {} } as const

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

function page(tools: Tools): Connection {
  const made = connect({ server: server.url, session: SESSION, getToken: () => TOKEN, tools })
  open.push(made)
  return made
}

async function results(count = 1): Promise<Record<string, unknown>[]> {
  await until(() => expect(server.results).toHaveLength(count))
  return server.results
}

function tool(execute: (input: Record<string, unknown>) => unknown) {
  return defineTool({ description: 'A tool.', parameters: ANY, execute })
}

describe('a call', () => {
  test('is claimed, executed with what the claim gives, and answered with what it resolves to (A-01, A-03)', async () => {
    const seen: unknown[] = []
    const connection = page({
      open_order: defineTool({
        description: 'Opens an order.',
        parameters: ANY,
        execute: async (input, { callId, signal }) => {
          seen.push(input, callId, signal.aborted)
          return { opened: input['id'] }
        },
      }),
    })
    server.offer('c_1', 'open_order', { id: '7' })

    expect(await results()).toEqual([{ claim: 'claim of c_1', result: { opened: '7' } }])
    expect(seen).toEqual([{ id: '7' }, 'c_1', false])
    const [announced] = server.of('PUT', /^\/clients\//)
    expect(server.of('POST', '/calls/c_1/claim').map(({ body }) => body)).toEqual([
      { clientId: announced?.path.replace('/clients/', '') },
    ])
    expect(connection.snapshot().link).toBe('open')
  })

  test('is claimed only after the server knows what the page has', async () => {
    server.offer('c_1', 'save', {})
    server.answer(async ({ method }) => {
      if (method === 'PUT') {
        await new Promise((done) => setTimeout(done, 100))
      }
      return undefined
    })

    page({ save: tool(() => 1) })
    await results()

    const order = server.asked.map(({ method, path }) => `${method} ${path.split('/')[1]}`)
    expect(order.indexOf('PUT clients')).toBeLessThan(order.indexOf('POST calls'))
  })

  test('runs the execute that is there when it comes, not the one that was announced (A-23)', async () => {
    const connection = page({ read: tool(() => 'first') })
    await until(() => expect(connection.snapshot().isCaughtUp).toBe(true))
    connection.update({ tools: { read: tool(() => 'second') } })

    server.offer('c_1', 'read', {})

    expect(await results()).toMatchObject([{ result: 'second' }])
  })

  test('runs the newest execute also where that came while the input was validated (A-23)', async () => {
    let validated = () => {}
    const parameters = z.object({}).refine(async () => {
      await new Promise<void>((done) => {
        validated = done
      })
      return true
    })
    const define = (value: string) => ({
      read: defineTool({ description: 'Reads.', parameters, execute: () => value }),
    })
    const connection = page(define('first'))
    server.offer('c_1', 'read', {})
    await until(() => expect(server.of('POST', '/calls/c_1/claim')).toHaveLength(1))
    await new Promise((done) => setTimeout(done, 50))
    connection.update({ tools: define('second') })
    validated()

    expect(await results()).toMatchObject([{ result: 'second' }])
  })

  test('sees the writes of the call before it (A-27)', async () => {
    const notes = new Map<string, string>()
    page({
      write: tool(async ({ note }) => {
        await new Promise((done) => setTimeout(done, 30))
        notes.set('7', String(note))
        return null
      }),
      read: tool(() => notes.get('7') ?? 'nothing'),
    })
    server.offer('c_1', 'write', { note: 'gift' })
    server.offer('c_2', 'read', {})

    expect(await results(2)).toMatchObject([{ result: null }, { result: 'gift' }])
  })

  test('is executed once, though its event comes once more after a reset', async () => {
    const execute = vi.fn(() => 1)
    const connection = page({ save: tool(execute) })
    server.offer('c_1', 'save', {})
    await results()

    server.send(`event: reset\ndata: {"headSeq":2}\n\n`)
    server.send(server.log.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))
    server.drop()
    await until(() => expect(server.of('GET', '/events')).toHaveLength(2))
    server.offer('c_2', 'save', {})

    expect(await results(2)).toHaveLength(2)
    expect(connection.snapshot().state.clientCalls.map(({ callId }) => callId)).toContain('c_1')
    expect(execute).toHaveBeenCalledTimes(2)
    expect(server.of('POST', '/calls/c_1/claim')).toHaveLength(1)
  })

  test('is executed once more where the server offers it again', async () => {
    const execute = vi.fn(() => 1)
    page({ read: tool(execute) })
    server.offer('c_1', 'read', {})
    await results()

    server.write('client_tool_call', { callId: 'c_1', tool: 'read', args: {}, runId: 'r_1' })

    await results(2)
    expect(execute).toHaveBeenCalledTimes(2)
  })

  test('that ended before the page came is not executed', async () => {
    const execute = vi.fn(() => 1)
    server.offer('c_1', 'save', {})
    server.write('tool_result', { callId: 'c_1', outcome: 'ok', content: '1' })
    server.offer('c_2', 'save', {})

    page({ save: tool(execute) })
    await results()

    expect(server.of('POST', /claim$/).map(({ path }) => path)).toEqual(['/calls/c_2/claim'])
    expect(execute).toHaveBeenCalledTimes(1)
  })

  test('of a tool that the page does not have is left to others', async () => {
    page({ save: tool(() => 1) })
    server.offer('c_1', 'other', {})
    server.offer('c_2', 'toString', {})
    server.offer('c_3', 'save', {})

    await results()
    expect(server.of('POST', /claim$/).map(({ path }) => path)).toEqual(['/calls/c_3/claim'])
  })

  test('of a tool that comes to the page only later is taken then', async () => {
    const connection = page({})
    server.offer('c_1', 'save', {})
    await until(() => expect(connection.snapshot().state.clientCalls).toHaveLength(1))
    await new Promise((done) => setTimeout(done, 50))

    connection.update({ tools: { save: tool(() => 1) } })

    expect(await results()).toMatchObject([{ claim: 'claim of c_1', result: 1 }])
  })

  test('of a tool that leaves the page while it is claimed is an error that says so', async () => {
    const connection = page({ save: tool(() => 1) })
    server.answer(({ path }) => {
      if (path === '/calls/c_1/claim') {
        connection.update({})
      }
      return undefined
    })
    server.offer('c_1', 'save', {})

    expect(await results()).toMatchObject([
      { error: { code: 'client_error', message: 'save is not on this page any more.' } },
    ])
  })

  test('is claimed again after a fault of the server, though nothing else happens', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      server.once('POST', '/calls/c_1/claim', problem(500, 'internal'))
      page({ save: tool(() => 1) })
      server.offer('c_1', 'save', {})
      await vi.waitUntil(() => server.of('POST', '/calls/c_1/claim').length === 1)
      for (let second = 0; second < 30; second += 1) {
        await vi.advanceTimersByTimeAsync(1000)
        await new Promise(setImmediate)
      }

      await vi.waitUntil(() => server.results.length === 1)
    } finally {
      vi.useRealTimers()
    }
  })

  test('that another page has claimed is left to it', async () => {
    server.once('POST', '/calls/c_1/claim', problem(409, 'already_claimed'))
    const execute = vi.fn(() => 1)
    page({ save: tool(execute) })
    server.offer('c_1', 'save', {})
    server.offer('c_2', 'save', {})

    expect(await results()).toMatchObject([{ claim: 'claim of c_2' }])
    expect(execute).toHaveBeenCalledTimes(1)
    expect(server.of('POST', '/calls/c_1/claim')).toHaveLength(1)
  })

  test('is asked for again where the server says when', async () => {
    const later = problem(409, 'not_preferred', {}, { 'Retry-After': '0' })
    server.once('POST', '/calls/c_1/claim', later)
    page({ save: tool(() => 1) })
    server.offer('c_1', 'save', {})

    expect(await results()).toMatchObject([{ result: 1 }])
    expect(server.of('POST', '/calls/c_1/claim')).toHaveLength(2)
  })

  test('is claimed again with the same key where the answer was lost, and executed once', async () => {
    server.once('POST', '/calls/c_1/claim', { status: 200, text: '{"claim":' })
    const execute = vi.fn(() => 1)
    page({ save: tool(execute) })
    server.offer('c_1', 'save', {})

    expect(await results()).toMatchObject([{ claim: 'claim of c_1', result: 1 }])
    const keys = server
      .of('POST', '/calls/c_1/claim')
      .map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(2)
    expect(keys[1]).toBe(keys[0])
    expect(execute).toHaveBeenCalledTimes(1)
  })

  test('whose page leaves is not known to have failed, and its tool is told', async () => {
    let signal: AbortSignal | undefined
    const connection = page({
      wait: defineTool({
        description: 'Waits.',
        parameters: ANY,
        execute: (_input, context) => {
          signal = context.signal
          return new Promise(() => {})
        },
      }),
    })
    server.offer('c_1', 'wait', {})
    await until(() => expect(signal).toBeDefined())

    connection.close()

    expect(signal?.aborted).toBe(true)
    expect(await results()).toMatchObject([
      {
        error: {
          code: 'outcome_unknown',
          message: 'The page left the conversation while it executed wait.',
        },
      },
    ])
  })
})

describe('an input', () => {
  const byId = z.object({ id: z.string(), count: z.coerce.number().default(1) })

  test('that a Standard Schema refuses never reaches execute (A-15)', async () => {
    const execute = vi.fn(() => 1)
    page({ save: defineTool({ description: 'Saves.', parameters: byId, execute }) })
    server.offer('c_1', 'save', { id: 7 })

    expect(await results()).toMatchObject([
      { error: { code: 'invalid_arguments', message: expect.stringMatching(/^id: /) } },
    ])
    expect(execute).not.toHaveBeenCalled()
  })

  test('reaches execute as the output of its schema: a text becomes a number (A-15, A-17)', async () => {
    page({ save: defineTool({ description: 'Saves.', parameters: byId, execute: (all) => all }) })
    server.offer('c_1', 'save', { id: 'a', count: '7', more: true })
    server.offer('c_2', 'save', { id: 'b' })

    expect(await results(2)).toMatchObject([
      { result: { id: 'a', count: 7 } },
      { result: { id: 'b', count: 1 } },
    ])
    expect(server.results[0]?.['result']).not.toHaveProperty('more')
  })

  test('is not checked against plain JSON Schema in the browser (A-16)', async () => {
    const parameters = {
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
    } as const
    page({ save: defineTool({ description: 'Saves.', parameters, execute: (all) => all }) })
    server.offer('c_1', 'save', { id: 7 })

    expect(await results()).toMatchObject([{ result: { id: 7 } }])
  })

  test('over which the validator throws is an error of the input', async () => {
    const parameters = z.object({}).refine(() => {
      throw new Error('no such place')
    })
    page({ save: defineTool({ description: 'Saves.', parameters, execute: () => 1 }) })
    server.offer('c_1', 'save', {})

    expect(await results()).toMatchObject([{ error: { code: 'invalid_arguments' } }])
  })
})

describe('a tool that fails', () => {
  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no such service')
      },
      'no such service',
    ],
    ['rejects', () => Promise.reject(new Error('no such service')), 'no such service'],
    ['rejects with a text', () => Promise.reject('no such service'), 'no such service'],
    ['says nothing', () => Promise.reject(new Error()), 'It failed without a message.'],
  ])(
    'is an error with its words where it %s, and the next call works (A-04)',
    async (_, execute, words) => {
      page({ restart_service: tool(execute), read: tool(() => 1) })
      server.offer('c_1', 'restart_service', { service: 'mail' })
      server.offer('c_2', 'read', {})

      expect(await results(2)).toEqual([
        { claim: 'claim of c_1', error: { code: 'client_error', message: words } },
        { claim: 'claim of c_2', result: 1 },
      ])
    },
  )

  test('is not known to have failed where it never ends, and its signal is aborted (A-04)', async () => {
    let signal: AbortSignal | undefined
    server.once('POST', '/calls/c_1/claim', {
      body: { claim: 'a', args: { service: 'mail' }, timeoutMs: 50 },
    })
    page({
      restart_service: defineTool({
        description: 'Restarts.',
        parameters: ANY,
        execute: (_input, context) => {
          signal = context.signal
          return new Promise(() => {})
        },
      }),
      read: tool(() => 1),
    })
    server.offer('c_1', 'restart_service', {})
    server.offer('c_2', 'read', {})

    const [first, second] = await results(2)
    expect(first).toMatchObject({
      error: { code: 'outcome_unknown', message: 'restart_service took longer than 50 ms.' },
    })
    expect(second).toMatchObject({ result: 1 })
    expect(signal?.aborted).toBe(true)
  })
})

test('a tool that throws because its time is over is not known to have failed', async () => {
  server.once('POST', '/calls/c_1/claim', { body: { claim: 'a', args: {}, timeoutMs: 50 } })
  const stops = (_input: unknown, { signal }: ToolContext) =>
    new Promise((_done, fail) => {
      signal.addEventListener('abort', () => fail(new Error('aborted')))
    })
  page({ save: defineTool({ description: 'Saves.', parameters: ANY, execute: stops }) })
  server.offer('c_1', 'save', {})

  expect(await results()).toMatchObject([
    { error: { code: 'outcome_unknown', message: 'save took longer than 50 ms.' } },
  ])
})

describe('a result that cannot be sent', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle

  test.each<[string, unknown]>([
    ['an object with a cycle', cycle],
    ['a BigInt', 10n],
    ['an object with an undefined field', { a: undefined, b: 1 }],
    ['a date', new Date(0)],
    ['a function', () => 1],
    ['NaN inside', { n: Number.NaN }],
    ['a map', new Map([['a', 1]])],
  ])(
    'is an error that names the tool and says that it may have happened: %s (A-05)',
    async (_, value) => {
      let count = 0
      page({
        restart_service: tool(() => {
          count += 1
          return value
        }),
        read: tool(() => 'next'),
      })
      server.offer('c_1', 'restart_service', { service: 'mail' })
      server.offer('c_2', 'read', {})

      const [first, second] = await results(2)
      expect(first).toMatchObject({ error: { code: 'unserializable_result' } })
      const { message } = Object(first?.['error']) as { message: string }
      expect(message).toContain('restart_service')
      expect(message).toContain('The action may have happened')
      expect(second).toMatchObject({ result: 'next' })
      expect(count).toBe(1)
    },
  )

  test('is not nothing: that is null (A-03)', async () => {
    page({ restart_service: tool(() => undefined) })
    server.offer('c_1', 'restart_service', {})

    expect(await results()).toEqual([{ claim: 'claim of c_1', result: null }])
  })

  test('is also one that the server finds too large, which is told in its place (A-05)', async () => {
    const execute = vi.fn(() => 'x'.repeat(10_000))
    server.once('POST', '/calls/c_1/result', problem(413, 'too_large'))
    page({ restart_service: tool(execute) })
    server.offer('c_1', 'restart_service', {})

    expect(await results(2)).toMatchObject([
      { result: expect.any(String) },
      { error: { code: 'unserializable_result', message: expect.stringContaining('larger') } },
    ])
    expect(execute).toHaveBeenCalledTimes(1)
  })
})

describe('a result', () => {
  test.each([
    ['the server is away', { status: 503 }],
    ['the connection breaks', { isBroken: true }],
    ['there is too much to do', problem(429, 'rate_limited', {}, { 'Retry-After': '0' })],
  ])('is posted again, the same, where %s; nothing is executed again', async (_, answered) => {
    const execute = vi.fn(() => 1)
    server.once('POST', '/calls/c_1/result', answered)
    page({ save: tool(execute) })
    server.offer('c_1', 'save', {})

    const [first, second] = await results(2)
    expect(second).toEqual(first)
    const keys = server
      .of('POST', '/calls/c_1/result')
      .map(({ headers }) => headers['idempotency-key'])
    expect(keys[1]).toBe(keys[0])
    expect(execute).toHaveBeenCalledTimes(1)
  })

  test('that comes too late is left, and the next call is taken', async () => {
    server.once('POST', '/calls/c_1/result', problem(409, 'already_settled'))
    page({ save: tool(() => 1) })
    server.offer('c_1', 'save', {})
    server.offer('c_2', 'save', {})

    expect(await results(2)).toMatchObject([{ claim: 'claim of c_1' }, { claim: 'claim of c_2' }])
  })
})

describe('handlers that every page has', () => {
  function ask(callId: string, handler: string, args: Record<string, unknown>): void {
    server.args.set(callId, args)
    const data = { callId, tool: `of_${handler}`, args, runId: 'r_1', app: 'orders', handler }
    server.write('client_tool_call', data)
  }

  test('open a page only when the user clicks', async () => {
    const connection = page({})
    ask('c_1', 'open_url', { url: 'https://a.example/x' })
    await until(() => expect(connection.snapshot().prompts).toHaveLength(1))
    expect(server.results).toEqual([])

    connection.snapshot().prompts[0]?.done()

    expect(await results()).toMatchObject([{ result: { opened: 'https://a.example/x' } }])
    expect(connection.snapshot().prompts).toEqual([])
  })

  test('tell the agent that the user did not want it', async () => {
    const connection = page({})
    ask('c_1', 'copy_text', { text: 'x' })
    await until(() => expect(connection.snapshot().prompts).toHaveLength(1))

    connection.snapshot().prompts[0]?.refuse()

    expect(await results()).toMatchObject([{ error: { message: 'The user did not want it.' } }])
  })

  test.each(['javascript:alert(1)', '/orders', 'https://bank.test@evil.test/', 'data:text/html,x'])(
    'open no %s',
    async (url) => {
      const connection = page({})
      ask('c_1', 'open_url', { url })

      expect(await results()).toMatchObject([{ error: { code: 'client_error' } }])
      expect(connection.snapshot().prompts).toEqual([])
    },
  )

  test('tell the user something', async () => {
    const connection = page({})
    ask('c_1', 'notify', { title: 'Mail', text: 'Sent.' })

    expect(await results()).toMatchObject([{ result: { shown: true } }])
    expect(connection.snapshot().notices).toEqual([{ id: 'c_1', text: 'Mail: Sent.' }])
  })

  test("give way to the page's own of that name", async () => {
    page({ open_url: tool(({ url }) => `own ${url}`) })
    ask('c_1', 'open_url', { url: 'https://a.example/' })

    expect(await results()).toMatchObject([{ result: 'own https://a.example/' }])
  })
})
