import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type } from 'arktype'
import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  AnswerError,
  type AppTool,
  actionRequired,
  domainError,
  handler,
  nodeListener,
  result,
  route,
} from '../src/kit/index.js'
import { Issuer } from './issuer.js'

let issuer: Issuer
let logged: string[]

beforeAll(async () => {
  issuer = await new Issuer().start()
})

afterAll(async () => {
  await issuer.stop()
})

beforeEach(() => {
  logged = []
})

const tools = [
  {
    name: 'save_bookmark',
    description: 'Save a bookmark.',
    input: z.strictObject({
      url: z.url(),
      tags: z.array(z.string()).default([]),
      rank: z.coerce.number().optional(),
    }),
    target: {
      type: 'app',
      component: 'api',
      path: '/tools/save-bookmark',
      method: 'POST',
      body: '${input}',
    },
  },
  {
    name: 'search_bookmarks',
    description: 'Search the bookmarks.',
    input: z.object({
      text: z.string(),
      limit: z.number().int(),
      tags: z.array(z.string()).optional(),
      ids: z.array(z.number()).optional(),
      unread: z.boolean().optional(),
    }),
    target: {
      type: 'app',
      component: 'api',
      path: '/tools/search',
      method: 'GET',
      query: {
        q: '${input.text}',
        limit: '${input.limit}',
        tag: '${input.tags}',
        id: '${ input.ids }',
        unread: '${input.unread}',
        version: '2',
      },
    },
  },
  {
    name: 'rename_bookmark',
    description: 'Rename a bookmark.',
    input: type({ id: 'string', 'new': { title: 'string', 'lang?': 'string' } }),
    target: {
      type: 'app',
      component: 'api',
      path: '/tools/search',
      method: 'PUT',
      body: { changes: [{ title: '${input.new.title}' }, '${input.new.lang}'], id: '${input.id}' },
    },
  },
  {
    name: 'show_dashboard',
    description: 'Show the dashboard.',
    input: { type: 'object', properties: {} },
    target: { type: 'app', component: 'web', path: '/tools/dashboard', method: 'POST' },
  },
  {
    name: 'open_bookmark',
    description: 'Open it.',
    input: v.object({ url: v.string() }),
    target: { type: 'client', name: 'open_url' },
  },
] as const satisfies readonly AppTool[]

interface Sent {
  readonly method?: string
  readonly body?: unknown
  readonly source?: 'thread' | 'api'
  readonly headers?: Record<string, string>
}

async function request(path: string, sent: Sent = {}): Promise<Request> {
  const { method = 'POST', body, source = 'thread' } = sent
  const context = source === 'thread' ? { source, threadId: 's_1' } : { source }
  return new Request(`https://api.acme.example${path}`, {
    method,
    headers: {
      authorization: `Bearer ${await issuer.token()}`,
      'kazzle-tool-context': JSON.stringify(context),
      ...sent.headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  })
}

function settings() {
  return {
    issuer: issuer.url,
    audience: 'bookmarks/api',
    log: (message: string) => {
      logged.push(message)
    },
  }
}

function app() {
  return handler({
    ...settings(),
    tools,
    component: 'api',
    handlers: {
      save_bookmark: (input, call) => `${call.identity.user} saved ${JSON.stringify(input)}`,
      search_bookmarks: (input) => ({ content: JSON.stringify(input) }),
      rename_bookmark: async (input, { context }) => result(JSON.stringify({ input, context })),
    },
  })
}

const SAVE = '/tools/save-bookmark'

describe('handler', () => {
  test('gives the checked input and the identity to the function of the tool', async () => {
    const body = { url: 'https://a.example', rank: '3' }

    const response = await app()(await request(SAVE, { body }))

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe('ana saved {"url":"https://a.example","tags":[],"rank":3}')
    expect(logged).toEqual([])
  })

  test('reads an input out of the query, texts back to what the schema asks for', async () => {
    const path = '/tools/search?q=7&limit=20&tag=a&id=1&id=2&unread=true&version=2'

    const response = await app()(await request(path, { method: 'GET' }))

    expect(JSON.parse((await response.json()).content)).toEqual({
      text: '7',
      limit: 20,
      tags: ['a'],
      ids: [1, 2],
      unread: true,
    })
  })

  test('reads one number of a list out of the query', async () => {
    const path = '/tools/search?q=a&limit=1&id=5'

    const response = await app()(await request(path, { method: 'GET' }))

    expect(JSON.parse((await response.json()).content)).toEqual({ text: 'a', limit: 1, ids: [5] })
  })

  test('reads an input out of a body of another shape', async () => {
    const body = { changes: [{ title: 'New' }, 'en'], id: 'b1' }

    const response = await app()(await request('/tools/search', { method: 'PUT', body }))

    expect(JSON.parse((await response.json()).content)).toEqual({
      input: { id: 'b1', new: { title: 'New', lang: 'en' } },
      context: { source: 'thread', threadId: 's_1' },
    })
  })

  test('says what of an input does not fit', async () => {
    const response = await app()(await request(SAVE, { body: { url: 'x', tags: [1] } }))

    expect(response.status).toBe(422)
    const { code, error, details } = await response.json()
    expect(code).toBe('invalid_arguments')
    expect(error).toMatch(/\/url: .*; \/tags\/0: /)
    expect(details.faults.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/url',
      '/tags/0',
    ])
  })

  test.each([
    ['a query that no reading fits', '/tools/search?q=a&limit=many', '/limit'],
    ['a query without what is required', '/tools/search?limit=3', '/text'],
  ])('refuses %s', async (_, path, pointer) => {
    const response = await app()(await request(path, { method: 'GET' }))

    expect(response.status).toBe(422)
    expect((await response.json()).details.faults[0].pointer).toBe(pointer)
  })

  test.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['far too much', JSON.stringify('x'.repeat(1_100_000))],
  ])('refuses a body that is %s', async (_, body) => {
    const response = await app()(await request(SAVE, { body }))

    expect(response.status).toBe(400)
    expect((await response.json()).code).toBe('invalid_body')
  })

  test('refuses a stranger, and tells only the log why', async () => {
    const response = await app()(
      await request(SAVE, {
        body: { url: 'https://a.example' },
        headers: { authorization: `Bearer ${await issuer.token({ aud: 'other/api' })}` },
      }),
    )

    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await response.json()).toEqual({
      code: 'identity_refused',
      error: 'The identity token was not accepted.',
    })
    expect(logged).toEqual([
      'Identity refused: wrong_audience: The token was made for somebody else.',
    ])
  })

  test('says that it cannot verify while the keys cannot be had', async () => {
    const closed = handler({
      ...settings(),
      issuer: 'http://127.0.0.1:9',
      tools: [tools[0]],
      handlers: { save_bookmark: () => 'never' },
    })

    const response = await closed(await request(SAVE, { body: {} }))

    expect(response.status).toBe(503)
    expect((await response.json()).code).toBe('keys_unavailable')
    expect(logged[0]).toContain('could not be read')
  })

  test('refuses a call without its context', async () => {
    const headers = { 'kazzle-tool-context': 'x' }
    const response = await app()(await request(SAVE, { body: {}, headers }))

    expect(response.status).toBe(400)
    expect((await response.json()).code).toBe('invalid_tool_context')
  })

  test.each([
    [SAVE, 'POST, OPTIONS'],
    ['/tools/search', 'GET, PUT, OPTIONS'],
  ])('answers OPTIONS of %s to anybody', async (path, allow) => {
    const response = await app()(new Request(`https://a.example${path}`, { method: 'OPTIONS' }))

    expect(response.status).toBe(204)
    expect(response.headers.get('allow')).toBe(allow)
  })

  test('says which methods a route takes', async () => {
    const response = await app()(await request('/tools/search', { method: 'DELETE' }))

    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, PUT, OPTIONS')
  })

  test('leaves other paths, and tools of other components, to the app', async () => {
    expect((await app()(await request('/tools/dashboard'))).status).toBe(404)
    const open = handler({
      ...settings(),
      tools,
      component: 'web',
      handlers: { show_dashboard: () => 'Shown.' },
      basePath: '/v1',
      otherwise: () => new Response('a page'),
    })

    expect(await (await open(await request('/'))).text()).toBe('a page')
    expect(await (await open(await request('/v1/tools/dashboard'))).text()).toBe('Shown.')
  })

  test('finds faults when it is made', () => {
    const [save] = tools
    const handlers = { save_bookmark: () => 'x' }
    expect(() => handler({ tools: [save], handlers: {} as typeof handlers })).toThrow(
      'The tool "save_bookmark" has no handler.',
    )
    const more = { ...handlers, drop: () => 'x' }
    expect(() => handler({ tools: [save], handlers: more })).toThrow('The handler "drop"')
    const twin = route(save, () => 'x')
    expect(() => handler({ tools: [save], handlers, routes: [twin] })).toThrow('Two routes share')
  })
})

describe('a card', () => {
  const card = { title: 'Connect the mail.', buttons: [{ id: 'a', label: 'A' }] }
  const answering = (run: () => Response) => route(tools[3], run, settings())

  test('reaches a thread', async () => {
    const response = await answering(() => actionRequired(card))(await request('/'))

    expect(await response.json()).toMatchObject({ type: 'action_required', title: card.title })
  })

  test('is refused where no thread calls', async () => {
    const response = await answering(() => actionRequired(card))(
      await request('/', { source: 'api' }),
    )

    expect(response.status).toBe(409)
    expect(await response.json()).toEqual({
      code: 'action_unavailable',
      error:
        'A person has to act first: Connect the mail. That can be asked only in a conversation.',
    })
  })

  test('gives way to what its author says instead', async () => {
    const run = () =>
      actionRequired(card, { otherwise: domainError('connect_required', 'Connect first.') })

    const response = await answering(run)(await request('/', { source: 'api' }))

    expect(await response.json()).toEqual({ code: 'connect_required', error: 'Connect first.' })
  })

  test('is refused also when it was written by hand', async () => {
    const run = () => Response.json({ type: 'action_required', title: 'T', elements: [] })

    expect((await answering(run)(await request('/', { source: 'api' }))).status).toBe(409)
    expect((await answering(run)(await request('/'))).status).toBe(200)
  })

  test('is told from data and from texts that only look like one', async () => {
    const like = '{"type":"action_required"}'
    for (const response of [
      () => new Response(like, { headers: { 'content-type': 'text/plain' } }),
      () => Response.json({ content: 'x', data: JSON.parse(like) }),
      () => new Response('{', { headers: { 'content-type': 'application/json' } }),
    ]) {
      const answer = await answering(response)(await request('/', { source: 'api' }))
      expect(answer.status).toBe(200)
      expect(await answer.text()).toBe(await response().text())
    }
  })
})

describe('route', () => {
  test('serves the target of a button', async () => {
    const start = route(
      {
        input: z.object({ scope: z.string() }),
        target: { type: 'app', component: 'api', path: '/oauth', method: 'POST', body: '${input}' },
      },
      ({ scope }) => `Connected: ${scope}.`,
      settings(),
    )
    const serve = handler({ ...settings(), tools: [], handlers: {}, routes: [start] })

    const response = await serve(await request('/oauth', { body: { scope: 'mail' } }))

    expect(await response.text()).toBe('Connected: mail.')
    expect((await start(await request('/oauth', { method: 'PUT' }))).status).toBe(405)
    expect((await start(await request('/oauth', { method: 'OPTIONS' }))).status).toBe(204)
  })

  test('takes a thrown answer as an answer, and passes other errors on', async () => {
    const thrown = route(
      tools[3],
      () => {
        throw domainError('gone', 'It is gone.', { status: 410 })
      },
      settings(),
    )
    expect((await thrown(await request('/'))).status).toBe(410)

    const broken = route(
      tools[3],
      () => {
        throw new RangeError('a fault of ours')
      },
      settings(),
    )
    await expect(broken(await request('/'))).rejects.toThrow('a fault of ours')
    const silent = route(tools[3], () => ' ', settings())
    await expect(silent(await request('/'))).rejects.toThrow(AnswerError)
  })
})

async function raw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.end(text)
  return (await socket.setEncoding('utf8').toArray()).join('')
}

describe("Node's server", () => {
  test('hands requests to a handler and answers on', async () => {
    const errors: unknown[] = []
    const listener = nodeListener(
      async (incoming) => {
        if (incoming.url.endsWith('/broken')) {
          throw new Error('a fault of ours')
        }
        const headers = new Headers({ 'set-cookie': 'a=1' })
        headers.append('set-cookie', 'b=2')
        const seen = [incoming.method, new URL(incoming.url).pathname, await incoming.text()]
        return new Response(seen.join(' '), { status: 201, headers })
      },
      (error) => errors.push(error),
    )
    const server = createServer(listener)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

    const good = await fetch(`${url}//x/y`, { method: 'POST', body: 'text ☕' })
    const broken = await fetch(`${url}/broken`)
    const large = await fetch(url, { method: 'PUT', body: 'x'.repeat(1_100_000) }).catch(() => null)
    const proxied = await raw(url, 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const odd = await raw(url, 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')
    server.closeAllConnections()
    await new Promise((done) => server.close(done))

    expect([good.status, await good.text()]).toEqual([201, 'POST //x/y text ☕'])
    expect(good.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(broken.status).toBe(500)
    expect(await broken.text()).not.toContain('a fault of ours')
    expect(errors).toHaveLength(1)
    expect([proxied, odd].map((text) => text.split(' ')[1])).toEqual(['400', '400'])
    expect(large?.status ?? 413).toBe(413)
  })
})
