/** A page's connection with a session: what it shows, what it lends, and what its user does. */

import { entry, type Tools, type WidgetFacts } from '../core/definitions.js'
import { wordsOf } from '../core/plain.js'
import { reduceAll, START } from '../core/state.js'
import { Http, type HttpOptions, path, RemitError, randomId } from '../transport/http.js'
import { follow, type Over } from '../transport/stream.js'
import type { Input } from '../wire/event.js'
import { isRecord } from '../wire/json.js'
import { Announcer, type LeftOut, type Lent, type Told } from './announcer.js'
import { Executor } from './executor.js'
import { ownHandlers, type Prompt } from './handlers.js'
import { type Answer, CONNECTING, type Outgoing, type Snapshot } from './snapshot.js'

export type Context = Readonly<Record<string, unknown>>

/** What a page lends to the agent, and what its user is looking at. */
export interface Definitions {
  readonly tools?: Tools
  readonly widgets?: Readonly<Record<string, WidgetFacts>>
  /** A JSON object up to 8 KiB; the agent reads the newest as the page's words. */
  readonly context?: Context
}

export interface ConnectionOptions extends HttpOptions, Definitions {
  /**
   * Id of the session, which the host's back end made; or what has it made when the user says
   * the first thing.
   */
  readonly session: string | (() => Promise<string>)
}

/** What there is of a session once it is made. */
interface Begun {
  readonly session: string
  readonly announcer: Announcer
  readonly executor: Executor
}

/**
 * What a page has of a session. It reads the events, executes the agent's calls of the page's
 * tools, and sends what the user says and decides.
 */
export class Connection {
  readonly #http: Http
  readonly #client = randomId()
  readonly #ended = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #make: () => Promise<string>
  #begun: Begun | null = null
  #beginning: Promise<Begun> | null = null
  #snapshot: Snapshot = CONNECTING
  #definitions: Definitions
  /** Where the log was when this page came: what happened before is not news. */
  #headThen: number | null = null
  /** Numbers of the events that messages of the outbox became. */
  readonly #sent = new Map<string, number>()
  /** Since when the run goes on that is being stopped. */
  #stopping: { readonly since: string | null } | null = null
  /** What is typed and not sent: it outlives the chat that is unmounted. */
  draft = ''

  constructor(options: ConnectionOptions) {
    const { session } = options
    this.#http = new Http(options)
    this.#definitions = options
    if (typeof session === 'string') {
      this.#make = async () => session
      this.#start(session)
    } else {
      this.#make = session
      this.#snapshot = { ...CONNECTING, link: 'open', isCaughtUp: true }
    }
  }

  /** Id of the session; null until it is made. */
  get session(): string | null {
    return this.#begun?.session ?? null
  }

  #start(session: string): Begun {
    const signal = this.#ended.signal
    const told: Told = (fault, leftOut) => this.#lendingTold(fault, leftOut)
    const announcer = new Announcer(this.#http, session, this.#client, told, signal)
    const own = ownHandlers({
      ask: (prompt, until) => this.#ask(prompt, until),
      tell: (notice) => this.#set({ notices: [...this.#snapshot.notices, notice] }),
    })
    const find = (handler: string) =>
      entry(this.#definitions.tools ?? {}, handler) ?? entry(own, handler)
    const page = {
      find,
      announced: () => announcer.settled(),
      executes: (executing: string | null) => this.#set({ executing }),
    }
    const executor = new Executor(this.#http, session, this.#client, page, signal)
    this.#begun = { session, announcer, executor }
    this.#lend()
    this.#follow(session)
    return this.#begun
  }

  /** The session, which the first message makes where it is not there. */
  async #ensured(): Promise<Begun> {
    if (this.#begun) {
      return this.#begun
    }
    this.#beginning ??= this.#make().then((session) => this.#start(session))
    try {
      return await this.#beginning
    } finally {
      this.#beginning = null
    }
  }

  /** What is to be shown; the same object until something changes. */
  readonly snapshot = (): Snapshot => this.#snapshot

  /** Be told when the snapshot has changed; gives back what ends it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What the page lends from now on: it reaches the agent on its next run. */
  update(definitions: Definitions): void {
    this.#definitions = definitions
    this.#lend()
    this.#execute()
  }

  /**
   * Say something. While something waits for an answer this takes it back; while the agent works
   * it is the next message. Where it cannot be sent it stays in the outbox, with the reason.
   */
  async send(text: string): Promise<void> {
    const id = randomId()
    this.#set({ outbox: [...this.#snapshot.outbox, { id, text, fault: null }] })
    await this.#deliver(id, text)
  }

  /** Try once more to send what is in the outbox. */
  async retry(id: string): Promise<void> {
    const found = this.#snapshot.outbox.find((one) => one.id === id)
    if (found?.fault != null) {
      this.#outgoing(id, { fault: null })
      await this.#deliver(id, found.text)
    }
  }

  /** Take back what could not be sent. */
  discard(id: string): void {
    this.#set({ outbox: this.#snapshot.outbox.filter((one) => one.id !== id) })
  }

  /**
   * Answer what waits for a person. The first answer decides: another one's is taken as it stands,
   * and comes as an event.
   *
   * @returns the input as it stands where it is another one by now, else null.
   * @throws RemitError
   */
  async answer(input: Input, answer: Answer): Promise<Input | null> {
    try {
      await this.#post(path`human-input/${input.id}`, answer)
      return null
    } catch (error) {
      const stands = error instanceof RemitError ? error.problem['input'] : undefined
      if (isRecord(stands)) {
        return stands['status'] === 'open' ? (stands as unknown as Input) : null
      }
      throw error
    }
  }

  /** Stop the run: what was not sent is not sent. @throws RemitError */
  async cancel(): Promise<void> {
    this.#stopping = { since: this.#snapshot.state.runningSince }
    this.#set({})
    try {
      await this.#post('cancel', {})
    } catch (error) {
      this.#stopping = null
      this.#set({})
      throw error
    }
  }

  /** Leave the session, which goes on without this page. */
  close(): void {
    this.#ended.abort()
    this.#listeners.clear()
  }

  async #post(what: string, body: unknown): Promise<unknown> {
    const { session } = await this.#ensured()
    return this.#http.ask('POST', `${path`/v1/sessions/${session}`}/${what}`, body)
  }

  async #deliver(id: string, text: string): Promise<void> {
    const { context } = this.#definitions
    const isWaiting = this.#snapshot.state.status === 'waiting_human'
    try {
      const { announcer } = await this.#ensured()
      if (this.#isRefused) {
        announcer.again()
      }
      await announcer.settled()
      const said = await this.#post('messages', {
        text,
        clientId: this.#client,
        ...(context && { context }),
        ...(isWaiting ? { withdraw: true } : { queue: true }),
      })
      const seq = isRecord(said) && typeof said['seq'] === 'number' ? said['seq'] : 0
      this.#sent.set(id, seq)
      this.#set({})
      this.#resume()
    } catch (error) {
      this.#outgoing(id, { fault: wordsOf(error) })
    }
  }

  #outgoing(id: string, changes: Partial<Outgoing>): void {
    const change = (one: Outgoing) => (one.id === id ? { ...one, ...changes } : one)
    this.#set({ outbox: this.#snapshot.outbox.map(change) })
  }

  #lend(): void {
    const { tools = {}, widgets = {}, context } = this.#definitions
    this.#begun?.announcer.lend({ tools, widgets, context } satisfies Lent)
  }

  /** What the server says to what the page lends; who builds the page is told of it once. */
  #lendingTold(fault: Error | null, leftOut: readonly LeftOut[]): void {
    const { lendingFault, leftOut: before, link } = this.#snapshot
    // Of these the stream says more: nobody is there, or nobody is signed in.
    const isElse = fault instanceof RemitError && [0, 401].includes(fault.status)
    const now = {
      lendingFault: isElse ? null : (fault?.message ?? null),
      leftOut: fault ? before : leftOut,
    }
    if (JSON.stringify(now) !== JSON.stringify({ lendingFault, leftOut: before })) {
      this.#set(now)
      const left = now.leftOut.map(({ name, reason }) => `${name} is left out: ${reason}`)
      const words = [now.lendingFault, ...left].join('\n').trim()
      if (words) {
        console.warn(words)
      }
    }
    // Who is let in to lend something is let in to read what follows, too.
    if (!fault && link === 'signed_out') {
      this.#resume()
    }
  }

  #ask(prompt: Prompt, until: AbortSignal): void {
    const gone = () => {
      this.#set({ prompts: this.#snapshot.prompts.filter((one) => one !== shown) })
    }
    const shown: Prompt = {
      ...prompt,
      done: () => {
        gone()
        prompt.done()
      },
      refuse: () => {
        gone()
        prompt.refuse()
      },
    }
    until.addEventListener('abort', gone)
    this.#set({ prompts: [...this.#snapshot.prompts, shown] })
  }

  async #follow(session: string): Promise<void> {
    const reader = {
      headSeq: () => this.#snapshot.state.headSeq,
      events: (events: Parameters<typeof reduceAll>[1]) => {
        this.#set({ state: reduceAll(this.#snapshot.state, events) })
      },
      reset: () => this.#set({ state: START }),
      open: () => {
        this.#set({ link: 'open' })
        this.#readHead(session)
      },
      lost: (isOffline: boolean) => this.#set({ link: isOffline ? 'offline' : 'lost' }),
      over: (why: Over) => {
        const isSignedOut = why !== 'closed' && why.status === 401
        const fault = why === 'closed' ? null : why.message
        this.#set({ link: isSignedOut ? 'signed_out' : 'over', fault })
      },
    }
    await follow(this.#http, session, reader, this.#ended.signal)
  }

  /** Who was let in to say something is let in to read what follows. */
  #resume(): void {
    if (this.#begun && this.#isRefused) {
      this.#set({ link: 'connecting', fault: null })
      this.#follow(this.#begun.session)
    }
  }

  get #isRefused(): boolean {
    const { link, fault } = this.#snapshot
    return link === 'signed_out' || (link === 'over' && fault !== null)
  }

  /** A call that waits since before this page came is only known once all is read. */
  async #readHead(session: string): Promise<void> {
    if (this.#headThen !== null) {
      return
    }
    try {
      const found = await this.#http.ask('GET', path`/v1/sessions/${session}`, undefined, {
        signal: this.#ended.signal,
      })
      this.#headThen = isRecord(found) ? Number(found['headSeq'] ?? 0) : 0
    } catch {
      // The stream, which was let in, says what there is.
      this.#headThen = 0
    }
    this.#set({})
  }

  #set(changes: Partial<Snapshot>): void {
    if (this.#ended.signal.aborted) {
      return
    }
    const next = { ...this.#snapshot, ...changes }
    const { headSeq: head, status, runningSince } = next.state
    const isStopping =
      this.#stopping?.since === runningSince && status !== 'idle' && status !== 'closed'
    if (!isStopping) {
      this.#stopping = null
    }
    const isCaughtUp = next.isCaughtUp || (this.#headThen !== null && head >= this.#headThen)
    const outbox = next.outbox.filter(({ id }) => (this.#sent.get(id) ?? Infinity) > head)
    this.#snapshot = {
      ...next,
      isCaughtUp,
      isStopping,
      outbox: outbox.length === next.outbox.length ? next.outbox : outbox,
    }
    for (const listener of this.#listeners) {
      listener()
    }
    this.#execute()
  }

  #execute(): void {
    const { isCaughtUp, state, link } = this.#snapshot
    if (isCaughtUp && link === 'open' && state.clientCalls.length > 0) {
      this.#begun?.executor.consider(state.clientCalls)
    }
  }
}
