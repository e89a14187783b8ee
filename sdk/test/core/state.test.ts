import { describe, expect, test } from 'vitest'
import { reduce, type SessionState, START } from '../../src/core/index.js'
import { reduceAll } from '../../src/core/state.js'
import type { EventType, Input, SessionEvent, TextDelta } from '../../src/wire/event.js'
import type { Events } from '../../src/wire/events.js'

const runId = 'r_1'
const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, calls: 1, ms: 1 }
const input: Input = {
  id: 'i_1',
  inputId: 'i_1',
  kind: 'approval',
  status: 'open',
  callId: 'c_1',
  user: 'ana',
  app: 'orders',
  tool: 'cancel_order',
  title: 'Cancel order 7',
  args: { id: '7' },
  digest: 'd',
  by: 'user',
  createdAt: '2026-01-01T00:00:00Z',
  expiresAt: '2026-01-02T00:00:00Z',
  runId,
}

type Written = { [Type in EventType]: readonly [Type, Events[Type]] }[EventType]

/** Numbered events, a second apart. */
function log(...written: readonly Written[]): SessionEvent[] {
  return written.map(([type, data], index) => {
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, index + 1)).toISOString()
    return { seq: index + 1, type, at, data } as SessionEvent
  })
}

function second(seq: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString()
}

function piece(messageId: string, offset: number, text: string): TextDelta {
  return { type: 'text_delta', data: { runId, messageId, offset, text } }
}

function fold(events: readonly (SessionEvent | TextDelta)[], from = START): SessionState {
  return events.reduce(reduce, from)
}

const call = (callId: string, tool: string) =>
  ['tool_call', { callId, app: null, tool, offeredAs: tool, title: '', args: {}, runId }] as const

/** A session with every type of event in it. */
const WHOLE = log(
  ['session_started', { apps: [{ id: 'orders', version: 1 }], user: 'ana', pins: [], model: null }],
  [
    'catalog',
    {
      apps: [
        {
          app: 'mail',
          source: 'stale',
          ageSeconds: 9,
          tools: 0,
          dropped: [],
          unavailable: 'Down.',
        },
        {
          app: 'orders',
          source: 'fresh',
          ageSeconds: 0,
          tools: 1,
          dropped: [{ name: 'odd', reason: 'No description.' }],
        },
      ],
    },
  ],
  ['message', { messageId: 'm_1', role: 'user', text: 'Cancel order 7.' }],
  ['run_started', { runId, model: 'a', instructionsDigest: 'b', catalogDigests: {} }],
  ['status', { status: 'running', runId }],
  call('c_1', 'cancel_order'),
  ['human_input_needed', input],
  ['status', { status: 'waiting_human', runId }],
  ['run_finished', { runId, reason: 'waiting', usage }],
  ['human_input_resolved', { inputId: 'i_1', status: 'approved', decision: 'approve', by: 'ana' }],
  ['tool_progress', { callId: 'c_1', polls: 2, status: 'half' }],
  ['tool_result', { callId: 'c_1', outcome: 'ok', content: '{}', display: { markdown: 'Done.' } }],
  call('c_2', 'open_order'),
  ['client_tool_call', { callId: 'c_2', tool: 'open_order', args: {}, runId }],
  ['tool_result', { callId: 'c_2', outcome: 'error', content: 'no' }],
  call('c_3', 'widget_orderCard'),
  ['widget', { callId: 'c_3', widget: 'orderCard', props: { id: '7' }, runId }],
  ['tool_result', { callId: 'c_3', outcome: 'ok', content: '{"shown":1}' }],
  ['message', { messageId: 'm_2', role: 'assistant', text: 'Done.', runId }],
  ['run_finished', { runId, reason: 'limit', usage, error: { code: 'x', message: 'Too long.' } }],
  ['status', { status: 'idle' }],
)

describe('the fold over events', () => {
  test('reads every type of event there is', () => {
    const types = new Set(WHOLE.map(({ type }) => type))

    expect([...types].sort()).toEqual([
      'catalog',
      'client_tool_call',
      'human_input_needed',
      'human_input_resolved',
      'message',
      'run_finished',
      'run_started',
      'session_started',
      'status',
      'tool_call',
      'tool_progress',
      'tool_result',
      'widget',
    ])
    expect(fold(WHOLE)).toEqual({
      headSeq: 21,
      status: 'idle',
      user: 'ana',
      inputs: [],
      clientCalls: [],
      runningSince: null,
      entries: [
        { kind: 'lack', id: 'lack:2:mail:0', app: 'mail', reason: 'Down.', at: second(2) },
        {
          kind: 'lack',
          id: 'lack:2:orders:0',
          app: 'orders',
          tool: 'odd',
          reason: 'No description.',
          at: second(2),
        },
        {
          kind: 'message',
          id: 'm_1',
          role: 'user',
          text: 'Cancel order 7.',
          at: second(3),
          partial: false,
        },
        {
          ...{ kind: 'call', id: 'c_1', app: null, tool: 'cancel_order', title: '', args: {} },
          ...{ at: second(6), isWidget: false, waitsFor: null },
          progress: { polls: 2, status: 'half' },
          ended: { at: second(12), outcome: 'ok', content: '{}', display: { markdown: 'Done.' } },
        },
        {
          kind: 'input',
          id: 'i_1',
          input,
          at: second(7),
          resolved: {
            ...{ inputId: 'i_1', status: 'approved', decision: 'approve', by: 'ana' },
            at: second(10),
          },
        },
        {
          ...{ kind: 'call', id: 'c_2', app: null, tool: 'open_order', title: '', args: {} },
          ...{ at: second(13), isWidget: false, waitsFor: null },
          ended: { at: second(15), outcome: 'error', content: 'no' },
        },
        {
          ...{ kind: 'call', id: 'c_3', app: null, tool: 'widget_orderCard', title: '', args: {} },
          ...{ at: second(16), isWidget: true, waitsFor: null },
          ended: { at: second(18), outcome: 'ok', content: '{"shown":1}' },
        },
        {
          kind: 'widget',
          id: 'widget:c_3',
          widget: 'orderCard',
          props: { id: '7' },
          at: second(17),
        },
        {
          kind: 'message',
          id: 'm_2',
          role: 'assistant',
          text: 'Done.',
          at: second(19),
          partial: false,
        },
        {
          kind: 'end',
          id: 'end:r_1',
          reason: 'limit',
          code: 'x',
          message: 'Too long.',
          at: second(20),
        },
      ],
    })
  })

  test('knows what waits while it waits', () => {
    const waiting = fold(WHOLE.slice(0, 9))

    expect(waiting.status).toBe('waiting_human')
    expect(waiting.inputs).toEqual([input])
    expect(waiting.runningSince).toBe(second(4))
    expect(waiting.entries.find(({ id }) => id === 'c_1')).toMatchObject({ waitsFor: 'person' })
    expect(fold(WHOLE.slice(0, 14)).clientCalls).toEqual([
      { callId: 'c_2', seq: 14, tool: 'open_order', handler: 'open_order', app: null },
    ])
  })

  test('keeps the newest offer of a call, under the handler that an app names', () => {
    const events = log(
      call('c_1', 'show'),
      ['client_tool_call', { callId: 'c_1', tool: 'show', args: {}, runId, app: 'orders' }],
      [
        'client_tool_call',
        { callId: 'c_1', tool: 'show', args: {}, runId, app: 'orders', handler: 'open_url' },
      ],
    )

    expect(fold(events).clientCalls).toEqual([
      { callId: 'c_1', seq: 3, tool: 'show', handler: 'open_url', app: 'orders' },
    ])
  })

  test('gives the same state however the events are cut into batches', () => {
    const whole = fold(WHOLE)
    const random = numbers(7)

    expect(reduceAll(START, WHOLE)).toEqual(whole)
    for (let round = 0; round < 200; round += 1) {
      let state = START
      for (let at = 0; at < WHOLE.length; ) {
        const end = at + 1 + (random() % 6)
        state = reduceAll(state, WHOLE.slice(at, end))
        at = end
      }
      expect(state).toEqual(whole)
    }
  })

  test('is not changed by events that were read before, wherever the reading began again', () => {
    const whole = fold(WHOLE)

    for (let from = 0; from < WHOLE.length; from += 1) {
      expect(reduceAll(whole, WHOLE.slice(from))).toBe(whole)
      const half = fold(WHOLE.slice(0, from))
      expect(fold(WHOLE.slice(Math.max(0, from - 4)), half)).toEqual(whole)
    }
  })

  test.each([
    ['one by one', 1],
    ['many at once', 40],
  ])('keeps an entry that did not change the same object: %s', (_, more) => {
    const before = fold(WHOLE)
    const news = Array.from({ length: more }, (_one, index) => ({
      seq: WHOLE.length + 1 + index,
      type: 'message' as const,
      at: second(60),
      data: { messageId: `n_${index}`, role: 'user' as const, text: 'x' },
    }))

    const after = reduceAll(before, news)

    expect(after.entries.length).toBe(before.entries.length + more)
    for (const [index, entry] of before.entries.entries()) {
      expect(after.entries[index]).toBe(entry)
    }
    expect(after.inputs).toBe(before.inputs)
    expect(after.clientCalls).toBe(before.clientCalls)
  })

  test('changes an entry in its place, whether it is looked up or searched', () => {
    const calls = Array.from({ length: 30 }, (_, index) => call(`c_${index}`, 'save'))
    const result = ['tool_result', { callId: 'c_3', outcome: 'ok', content: '1' }] as const
    const events = log(...calls, result)

    const state = reduceAll(START, events)

    expect(state.entries.map(({ id }) => id)).toEqual(calls.map(([, { callId }]) => callId))
    expect(state.entries[3]).toMatchObject({ ended: { content: '1' } })
    expect(fold(events)).toEqual(state)
  })

  test('counts an event of an unknown type as read', () => {
    const event = { seq: 1, type: 'weather', at: second(1), data: {} } as unknown as SessionEvent

    expect(reduce(START, event)).toEqual({ ...START, headSeq: 1 })
  })

  test('changes no state that it was given', () => {
    const before = structuredClone(fold(WHOLE.slice(0, 8)))
    const state = fold(WHOLE.slice(0, 8))

    reduceAll(state, WHOLE)

    expect(state).toEqual(before)
  })
})

describe('a message that is being written', () => {
  test('grows by pieces whose offsets count code points beyond the first plane as one', () => {
    const state = fold([piece('m', 0, 'a😀'), piece('m', 2, '🇪🇸b'), piece('m', 5, '!')])

    expect(state.entries).toEqual([
      { kind: 'message', id: 'm', role: 'assistant', text: 'a😀🇪🇸b!', at: null, partial: false },
    ])
    expect(state.headSeq).toBe(0)
  })

  test('is joined in its middle by a piece with all of the text so far', () => {
    const joined = fold([piece('m', 0, 'all so far'), piece('m', 10, ', and on')])

    expect(joined.entries).toMatchObject([{ text: 'all so far, and on' }])
    // The same once more, after the connection was lost.
    const again = fold([piece('m', 0, 'all so far, and on'), piece('m', 18, '.')], joined)
    expect(again.entries).toMatchObject([{ text: 'all so far, and on.' }])
  })

  test('leaves out a piece whose beginning is not there', () => {
    const state = fold([piece('m', 0, 'ab')])

    expect(reduce(state, piece('m', 3, 'd'))).toBe(state)
    expect(reduce(START, piece('m', 3, 'd'))).toBe(START)
  })

  test('gives way to the message, after which no piece counts', () => {
    const [event] = log(['message', { messageId: 'm', role: 'assistant', text: 'Whole.', runId }])
    const state = fold([piece('m', 0, 'Wh'), ...(event ? [event] : [])])

    expect(state.entries).toMatchObject([{ text: 'Whole.', at: second(1), partial: false }])
    expect(reduce(state, piece('m', 2, 'at?'))).toBe(state)
  })

  test('is marked as partial where the server says so, or where its run ended before it', () => {
    const [said] = log([
      'message',
      { messageId: 'm', role: 'assistant', text: 'Who', runId, partial: true },
    ])
    const [ended] = log(['run_finished', { runId, reason: 'cancelled', usage }])

    expect(fold(said ? [said] : []).entries).toMatchObject([{ text: 'Who', partial: true }])
    expect(fold([piece('m', 0, 'Who'), ...(ended ? [ended] : [])]).entries).toMatchObject([
      { text: 'Who', partial: true, at: second(1) },
      { kind: 'end', reason: 'cancelled', message: '' },
    ])
  })
})

/** Numbers that look random and are the same each time. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648
    return state >> 8
  }
}
