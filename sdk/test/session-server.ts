/** A Remit server as a page sees it: one session whose log a test writes, on loopback. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EventType, SessionEvent } from '../src/wire/event.js'
import type { Events } from '../src/wire/events.js'

/** A request as it came. */
export interface Asked {
  readonly method: string
  /** Behind `/v1/sessions/s_1`; empty for the session itself. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

export interface Answered {
  readonly status?: number
  readonly body?: unknown
  /** In the place of a body. */
  readonly text?: string
  readonly headers?: Record<string, string>
  /** Break the connection off in the place of an answer. */
  readonly isBroken?: boolean
}

/** Answers a request; undefined leaves it to the next one. */
export type Answering = (asked: Asked) => Answered | undefined | Promise<Answered | undefined>

export const SESSION = 's_1'
export const TOKEN = 'token_1'
export const AT = '2026-01-02T03:04:05Z'

export class SessionServer {
  url = ''
  readonly log: SessionEvent[] = []
  /** Every request, the oldest first. */
  readonly asked: Asked[] = []
  /** What is sent on a connection when it is opened, after what its reader has not read. */
  greeting = ''
  /** Lives through `reset`: what a call is executed with, by its id. */
  readonly args = new Map<string, unknown>()
  readonly #server: Server
  readonly #streams = new Set<ServerResponse>()
  #answering: Answering[] = []

  constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.destroy(error as Error)
      })
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  /** Answer what comes from now on; the newest is asked first. */
  answer(answering: Answering): void {
    this.#answering = [answering, ...this.#answering]
  }

  /** Answer the next request of a kind, and no other. */
  once(method: string, path: string, answered: Answered): void {
    let isSpent = false
    this.answer((asked) => {
      if (isSpent || asked.method !== method || asked.path !== path) {
        return undefined
      }
      isSpent = true
      return answered
    })
  }

  /** The requests of a kind, the oldest first. */
  of(method: string, path: string | RegExp): Asked[] {
    return this.asked.filter(
      (one) =>
        one.method === method &&
        (typeof path === 'string' ? one.path === path : path.test(one.path)),
    )
  }

  /** Write an event, which all who read get. */
  write<Type extends EventType>(
    type: Type,
    data: Events[Type],
    at: string = new Date().toISOString(),
  ): SessionEvent {
    const event = { seq: this.log.length + 1, type, at, data } as SessionEvent
    this.log.push(event)
    this.send(framed(event))
    return event
  }

  /** A call of a page's tool, offered. */
  offer(callId: string, tool: string, args: Record<string, unknown>): void {
    this.args.set(callId, args)
    this.write('tool_call', {
      callId,
      app: null,
      tool,
      offeredAs: tool,
      title: tool,
      args,
      runId: 'r_1',
      origin: 'client',
    })
    this.write('client_tool_call', { callId, tool, args, runId: 'r_1' })
  }

  /** A piece of a message, or anything else, as text of the stream. */
  send(text: string | Uint8Array): void {
    for (const stream of this.#streams) {
      stream.write(text)
    }
  }

  /** How many read now. */
  get readers(): number {
    return this.#streams.size
  }

  /** End the streams, saying why. */
  end(reason: Events['end']['reason']): void {
    this.send(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
    for (const stream of this.#streams) {
      stream.end()
    }
    this.#streams.clear()
  }

  /** Break the streams off. */
  drop(): void {
    for (const stream of this.#streams) {
      stream.destroy()
    }
    this.#streams.clear()
  }

  /** What a page sent as a call's result, in order. */
  get results(): Record<string, unknown>[] {
    return this.of('POST', /^\/calls\/[^/]+\/result$/).map(({ body }) => body)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) {
      chunks.push(chunk as Buffer)
    }
    const text = Buffer.concat(chunks).toString('utf8')
    const asked: Asked = {
      method: request.method ?? '',
      path: (request.url ?? '').replace(`/v1/sessions/${SESSION}`, ''),
      headers: request.headers,
      body: text ? (JSON.parse(text) as Record<string, unknown>) : {},
    }
    this.asked.push(asked)
    for (const answering of this.#answering) {
      const answered = await answering(asked)
      if (answered) {
        reply(response, answered)
        return
      }
    }
    if (asked.path === '/events') {
      this.#stream(asked, response)
    } else {
      reply(response, this.#usual(asked))
    }
  }

  #stream({ headers }: Asked, response: ServerResponse): void {
    const last = Number(headers['last-event-id'] ?? 0)
    const isAhead = last > this.log.length
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(
      isAhead
        ? `event: reset\ndata: ${JSON.stringify({ headSeq: this.log.length })}\n\n`
        : ': here\n\n',
    )
    const left = this.log.filter(({ seq }) => isAhead || seq > last)
    response.write(left.map(framed).join('') + this.greeting)
    this.#streams.add(response)
    response.on('close', () => this.#streams.delete(response))
  }

  #usual({ method, path, body }: Asked): Answered {
    const callId = /^\/calls\/([^/]+)\/claim$/.exec(path)?.[1]
    if (callId) {
      const args = this.args.get(callId) ?? {}
      return { body: { claim: `claim of ${callId}`, args, timeoutMs: 60_000 } }
    }
    if (method === 'PUT') {
      return { body: { leaseMs: 30_000 } }
    }
    if (path === '/messages') {
      const { seq } = this.write('message', {
        messageId: `m_${this.log.length + 1}`,
        role: 'user',
        text: String(body['text']),
      })
      return { status: 202, body: { runId: 'r_1', seq } }
    }
    if (method === 'GET') {
      return { body: { id: SESSION, headSeq: this.log.length } }
    }
    return { body: {} }
  }
}

function reply(response: ServerResponse, answered: Answered): void {
  const { status = 200, body, text, headers, isBroken } = answered
  if (isBroken) {
    response.destroy()
    return
  }
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(text ?? (body === undefined ? '' : JSON.stringify(body)))
}

export function framed(event: SessionEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

export function delta(messageId: string, offset: number, text: string): string {
  const data = { runId: 'r_1', messageId, offset, text }
  return `event: text_delta\ndata: ${JSON.stringify(data)}\n\n`
}

/** A request is refused, as the API says it. */
export function problem(
  status: number,
  code: string,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Answered {
  return { status, body: { status, code, detail: `Refused: ${code}.`, ...more }, headers }
}
