import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Http } from '../../src/transport/http.js'
import { follow, Messages, type Over, type Reader } from '../../src/transport/stream.js'
import type { SessionEvent, TextDelta } from '../../src/wire/event.js'
import { delta, framed, problem, SESSION, SessionServer, TOKEN } from '../session-server.js'
import { until } from '../until.js'

const STREAM =
  ': a comment\r\n\r\n' +
  'id: 1\nevent: message\ndata: {"seq":1,"text":"a\\nb ☕"}\n\n' +
  'event:text_delta\r\ndata:{"offset":0,\r\ndata: "text":"x"}\r\n\r\n' +
  'event: left without data\n\n' +
  'retry\ndata: 3\n\n'

const READ = [
  { event: 'message', data: { seq: 1, text: 'a\nb ☕' } },
  { event: 'text_delta', data: { offset: 0, text: 'x' } },
  { event: '', data: 3 },
]

describe('messages of a stream', () => {
  test('are read whole', () => {
    expect(new Messages().take(STREAM)).toEqual(READ)
  })

  test('are the same wherever the text is cut', () => {
    for (let at = 0; at <= STREAM.length; at += 1) {
      const messages = new Messages()
      const read = [...messages.take(STREAM.slice(0, at)), ...messages.take(STREAM.slice(at))]
      expect(read).toEqual(READ)
    }
    const messages = new Messages()
    expect([...STREAM].flatMap((character) => messages.take(character))).toEqual(READ)
  })

  test('are kept back until the empty line that ends them', () => {
    const messages = new Messages()

    expect(messages.take('data: 1\n')).toEqual([])
    expect(messages.take('\n')).toEqual([{ event: '', data: 1 }])
  })
})

let server: SessionServer
let left: AbortController
let questions: number

beforeEach(async () => {
  server = await new SessionServer().start()
  left = new AbortController()
  questions = 0
})

afterEach(async () => {
  left.abort()
  await server.stop()
})

/** A reader that writes down what it is told. */
class Heard implements Reader {
  readonly read: (SessionEvent | TextDelta)[] = []
  readonly told: string[] = []
  end: Over | null = null
  #head = 0

  headSeq = () => this.#head
  events = (events: readonly (SessionEvent | TextDelta)[]) => {
    this.read.push(...events)
    for (const event of events) {
      this.#head = event.type === 'text_delta' ? this.#head : event.seq
    }
  }
  reset = () => {
    this.told.push('reset')
    this.#head = 0
  }
  open = () => this.told.push('open')
  lost = () => this.told.push('lost')
  over = (why: Over) => {
    this.end = why
  }

  get seqs(): number[] {
    return this.read.flatMap((event) => (event.type === 'text_delta' ? [] : [event.seq]))
  }
}

function reading(heard = new Heard()): Heard {
  const getToken = () => {
    questions += 1
    return questions === 1 ? TOKEN : `token_${questions}`
  }
  follow(new Http({ server: server.url, getToken }), SESSION, heard, left.signal)
  return heard
}

const say = (text: string) =>
  server.write('message', { messageId: `m_${text}`, role: 'user', text })

describe('the stream of a session', () => {
  test('gives what happened before, what happens, and pieces of messages in between', async () => {
    say('a')
    server.greeting = delta('m_2', 0, 'so far')
    const heard = reading()
    await until(() => expect(heard.read).toHaveLength(2))

    server.send(delta('m_2', 6, '.'))
    say('b')

    await until(() => expect(heard.read).toHaveLength(4))
    expect(heard.read.map(({ type }) => type)).toEqual([
      'message',
      'text_delta',
      'text_delta',
      'message',
    ])
    expect(heard.told).toEqual(['open'])
    expect(server.of('GET', '/events')[0]?.headers).toMatchObject({
      accept: 'text/event-stream',
      'last-event-id': '0',
    })
  })

  test('hands over together what came together', async () => {
    for (const text of 'abcde') {
      say(text)
    }
    const heard = new Heard()
    const batches: number[] = []
    const { events } = heard
    heard.events = (some) => {
      batches.push(some.length)
      events(some)
    }
    reading(heard)

    await until(() => expect(heard.seqs).toEqual([1, 2, 3, 4, 5]))
    expect(batches.length).toBeLessThan(5)
  })

  test('reads a character whose bytes come apart', async () => {
    const heard = reading()
    await until(() => expect(server.readers).toBe(1))
    const event = { seq: 1, type: 'message', at: '', data: { text: '☕' } } as never

    for (const byte of Buffer.from(framed(event))) {
      server.send(Buffer.from([byte]))
      await new Promise(setImmediate)
    }

    await until(() => expect(heard.read).toEqual([event]))
  })

  test('goes on behind the last event that was read after the connection broke', async () => {
    say('a')
    say('b')
    const heard = reading()
    await until(() => expect(heard.seqs).toEqual([1, 2]))

    server.drop()
    say('c')

    await until(() => expect(heard.seqs).toEqual([1, 2, 3]))
    expect(server.of('GET', '/events').at(-1)?.headers['last-event-id']).toBe('2')
    expect(heard.told).toEqual(['open', 'lost', 'open'])
    expect(questions).toBe(1)
  })

  test.each(['slow_reader', 'shutdown'] as const)(
    'comes again after the end by %s',
    async (why) => {
      const heard = reading()
      await until(() => expect(server.readers).toBe(1))

      server.end(why)

      await until(() => expect(heard.told).toEqual(['open', 'lost', 'open']))
      expect(questions).toBe(1)
    },
  )

  test('comes again at once with another token where its own ran out', async () => {
    say('a')
    const heard = reading()
    await until(() => expect(heard.seqs).toEqual([1]))

    server.end('token_expired')

    await until(() => expect(heard.told).toEqual(['open', 'open']))
    const [first, second] = server.of('GET', '/events')
    expect(first?.headers.authorization).toBe(`Bearer ${TOKEN}`)
    expect(second?.headers.authorization).toBe('Bearer token_2')
    expect(second?.headers['last-event-id']).toBe('1')
  })

  test('does not ask without a pause where each new token is said to have run out', async () => {
    server.greeting = 'event: end\ndata: {"reason":"token_expired"}\n\n'
    reading()

    await new Promise((done) => setTimeout(done, 600))

    expect(server.of('GET', '/events').length).toBeLessThan(8)
  })

  test('waits longer each time where the server takes a connection and ends it', async () => {
    server.greeting = 'event: end\ndata: {"reason":"shutdown"}\n\n'
    reading()

    await new Promise((done) => setTimeout(done, 1500))

    expect(server.of('GET', '/events').length).toBeLessThan(5)
  })

  test('is over where the session was closed', async () => {
    const heard = reading()
    await until(() => expect(server.readers).toBe(1))

    server.end('session_closed')

    await until(() => expect(heard.end).toBe('closed'))
    expect(heard.told).toEqual(['open'])
    expect(server.of('GET', '/events')).toHaveLength(1)
  })

  test('is over where the server does not know the session', async () => {
    server.answer(() => problem(404, 'not_found'))
    const heard = reading()

    await until(() => expect(heard.end).toMatchObject({ status: 404, code: 'not_found' }))
  })

  test.each([
    ['a server that is away', { status: 503 }],
    ['one that has too much to do', problem(429, 'rate_limited')],
    ['a connection that is not made', { isBroken: true }],
  ])('outlasts %s', async (_, answered) => {
    server.once('GET', '/events', answered)
    const heard = reading()

    await until(() => expect(heard.told).toEqual(['lost', 'open']))
    expect(heard.end).toBeNull()
  })

  test('outlasts a message that is no JSON', async () => {
    say('a')
    const heard = reading()
    await until(() => expect(heard.seqs).toEqual([1]))

    server.send('data: {\n\n')
    await until(() => expect(heard.told).toContain('lost'))
    say('b')

    await until(() => expect(heard.seqs).toEqual([1, 2]))
  })

  test('begins from the first event where the server has another log', async () => {
    say('a')
    say('b')
    const heard = reading()
    await until(() => expect(heard.seqs).toEqual([1, 2]))

    server.log.length = 0
    server.drop()
    server.log.push({ seq: 1, type: 'status', at: '', data: { status: 'idle' } })

    await until(() => expect(heard.told).toEqual(['open', 'lost', 'open', 'reset']))
    await until(() => expect(heard.seqs).toEqual([1, 2, 1]))
  })

  test('ends with its signal, and tells nothing more', async () => {
    const heard = reading()
    await until(() => expect(server.readers).toBe(1))

    left.abort()

    await until(() => expect(server.readers).toBe(0))
    expect(heard.told).toEqual(['open'])
    expect(heard.end).toBeNull()
  })

  test('is left where nothing comes for long, and read again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const heard = reading()
      await vi.waitUntil(() => server.readers === 1)
      await vi.advanceTimersByTimeAsync(39_000)
      expect(heard.told).toEqual(['open'])

      await vi.advanceTimersByTimeAsync(2_000)
      await vi.waitUntil(() => heard.told.includes('lost'))
      await vi.advanceTimersByTimeAsync(1_000)
      await vi.waitUntil(() => heard.told.length === 3)
      expect(heard.told).toEqual(['open', 'lost', 'open'])
    } finally {
      vi.useRealTimers()
    }
  })
})
