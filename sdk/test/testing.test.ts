/** What a host's own tests have: a tool called as the agent calls it, without a server. */

import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../src/core/definitions.js'
import { announced, callTool, widgetInput } from '../src/testing/index.js'

const orders = new Map([['o_1', 'open']])
const closeOrder = defineTool({
  metadata: { title: 'Close an order' },
  description: 'Closes an order.',
  parameters: z.object({ id: z.string(), days: z.coerce.number().default(1) }),
  execute: ({ id, days }, { callId }) => {
    if (!orders.has(id)) {
      throw new Error(`There is no order ${id}.`)
    }
    return { id, days, callId }
  },
})
const tools = {
  closeOrder,
  date: defineTool({ ...closeOrder, execute: () => ({ at: new Date(0) }) }),
  slow: defineTool({ ...closeOrder, timeoutMs: 20, execute: () => new Promise(() => {}) }),
}
const widgets = {
  orderCard: { description: 'Shows it.', parameters: z.object({ id: z.string() }) },
}

test('a tool is called as the agent calls it', async () => {
  expect(await callTool(tools, 'closeOrder', { id: 'o_1' }, { callId: 'call_7' })).toEqual({
    outcome: 'ok',
    result: { id: 'o_1', days: 1, callId: 'call_7' },
  })
})

test.each([
  ['closeOrder', { id: 'o_9' }, 'client_error', 'There is no order o_9.'],
  ['closeOrder', {}, 'invalid_arguments', 'id: '],
  ['date', { id: 'o_1' }, 'unserializable_result', 'its field at is a Date'],
  ['slow', { id: 'o_1' }, 'outcome_unknown', 'slow took longer than 20 ms.'],
] as const)('%s %j ends as the agent is told: %s', async (name, args, code, words) => {
  const ended = await callTool(tools, name, args)

  const outcome = code === 'outcome_unknown' ? code : 'error'
  expect(ended).toMatchObject({ outcome, error: { code } })
  expect(JSON.stringify(ended)).toContain(words)
})

test('a user who leaves in the middle is told of as such', async () => {
  const leaving = new AbortController()
  const called = callTool(tools, 'slow', { id: 'o_1' }, { signal: leaving.signal })
  // Validating comes first.
  setTimeout(() => leaving.abort(), 1)

  expect(await called).toEqual({
    outcome: 'outcome_unknown',
    error: {
      code: 'outcome_unknown',
      message: 'The page left the conversation while it executed slow.',
    },
  })
})

test('a widget gets what its schema makes of the props, and none that it refuses', async () => {
  expect(await widgetInput(widgets, 'orderCard', { id: 'o_1', more: 1 })).toEqual({ id: 'o_1' })
  await expect(widgetInput(widgets, 'orderCard', {})).rejects.toThrow('id: ')
})

test('what the agent is told of them can be looked at', () => {
  expect(announced({ closeOrder }, widgets)).toEqual({
    tools: [
      {
        name: 'closeOrder',
        title: 'Close an order',
        description: 'Closes an order.',
        parameters: expect.objectContaining({ type: 'object', required: ['id'] }),
      },
    ],
    widgets: [
      {
        name: 'orderCard',
        description: 'Shows it.',
        parameters: expect.objectContaining({ type: 'object' }),
      },
    ],
  })
})

test('a name that is not there is a mistake of the test', async () => {
  await expect(callTool(tools, 'toString')).rejects.toThrow('There is no tool "toString".')
  await expect(widgetInput(widgets, 'card')).rejects.toThrow('There is no widget "card".')
})
