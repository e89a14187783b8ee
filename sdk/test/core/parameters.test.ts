import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { parametersOf, validate } from '../../src/core/parameters.js'
import type { InputSchema } from '../../src/wire/schema.js'

const text = { type: 'string' }
const number = { type: 'number' }

describe('the JSON Schema that is announced', () => {
  test('is plain JSON Schema itself (A-14)', () => {
    const schema = { type: 'object', properties: { id: text }, required: ['id'] } as const

    expect(parametersOf(schema)).toBe(schema)
  })

  test.each<[string, InputSchema, object]>([
    [
      'closed, where Zod strips unknown keys',
      z.object({ id: z.string(), note: z.string().optional() }),
      {
        type: 'object',
        properties: { id: text, note: text },
        required: ['id'],
        additionalProperties: false,
      },
    ],
    [
      'closed, where unknown keys are refused',
      z.strictObject({ id: z.string() }),
      { type: 'object', properties: { id: text }, required: ['id'], additionalProperties: false },
    ],
    [
      'open, where unknown keys are kept',
      z.looseObject({ id: z.string() }),
      { type: 'object', properties: { id: text }, required: ['id'], additionalProperties: {} },
    ],
    [
      'closed in objects inside, too',
      z.object({ lines: z.array(z.object({ sku: z.string() })) }),
      {
        type: 'object',
        properties: {
          lines: {
            type: 'array',
            items: {
              type: 'object',
              properties: { sku: text },
              required: ['sku'],
              additionalProperties: false,
            },
          },
        },
        required: ['lines'],
        additionalProperties: false,
      },
    ],
    [
      'the output side of a coercion, with what is said of the input',
      z.object({ n: z.coerce.number().describe('How many.') }),
      {
        type: 'object',
        properties: { n: { type: 'number', description: 'How many.' } },
        required: ['n'],
        additionalProperties: false,
      },
    ],
    [
      'the output side of a step before',
      z.preprocess((value) => value, z.object({ id: z.string() })),
      { type: 'object', properties: { id: text }, required: ['id'], additionalProperties: false },
    ],
    [
      'the input side of a transformation, closed all the same',
      z.object({ ids: z.string().transform((ids) => ids.split(',')) }),
      { type: 'object', properties: { ids: text }, required: ['ids'], additionalProperties: false },
    ],
    [
      'without the type of a part that JSON has not, and with all the others',
      z.object({ from: z.coerce.date(), id: z.string() }),
      {
        type: 'object',
        properties: { from: {}, id: text },
        required: ['from', 'id'],
        additionalProperties: false,
      },
    ],
    [
      'an object also where a union says it in each of its parts',
      z.discriminatedUnion('by', [
        z.object({ by: z.literal('id'), id: z.coerce.number() }),
        z.object({ by: z.literal('all') }),
      ]),
      {
        type: 'object',
        oneOf: [
          {
            type: 'object',
            properties: { by: { type: 'string', const: 'id' }, id: number },
            required: ['by', 'id'],
            additionalProperties: false,
          },
          {
            type: 'object',
            properties: { by: { type: 'string', const: 'all' } },
            required: ['by'],
            additionalProperties: false,
          },
        ],
      },
    ],
    [
      'the output side of every value of a record',
      z.record(z.string(), z.coerce.number()),
      { type: 'object', propertyNames: text, additionalProperties: number },
    ],
    [
      'open, where ArkType keeps unknown keys',
      type({ id: 'string', 'rank?': 'number' }),
      { type: 'object', properties: { id: text, rank: number }, required: ['id'] },
    ],
    [
      'closed, where ArkType deletes unknown keys',
      type({ '+': 'delete', id: 'string' }),
      { type: 'object', properties: { id: text }, required: ['id'], additionalProperties: false },
    ],
  ])('is %s (A-14)', (_, schema, announced) => {
    expect(parametersOf(schema)).toEqual(announced)
  })

  test.each<[string, InputSchema]>([
    ['Valibot', v.object({ id: v.string() })],
    ['Zod 3', z3.object({ id: z3.string() })],
    ['an exporter that throws', standard({ input: refuse, output: refuse })],
    ['an exporter that says nothing', standard({ input: () => ({}), output: () => true })],
  ])('is any object of %s, which gives no JSON Schema (A-19)', (_, schema) => {
    expect(parametersOf(schema)).toEqual({ type: 'object' })
  })

  test('takes nothing of an output that refers to parts that the input has not', () => {
    const schema = standard({
      input: () => ({ type: 'object', properties: { at: {} } }),
      output: () => ({ type: 'object', properties: { at: { $ref: '#/$defs/at' } } }),
    })

    expect(parametersOf(schema)).toEqual({ type: 'object', properties: { at: {} } })
  })

  test('is worked out once for one schema (A-24)', () => {
    const schema = z.object({ id: z.string() })

    expect(parametersOf(schema)).toBe(parametersOf(schema))
  })

  test('names no dialect', () => {
    expect(parametersOf(z.object({}))).not.toHaveProperty('$schema')
  })
})

describe('what is enforced in the browser', () => {
  test.each<[string, InputSchema]>([
    ['Zod', z.object({ id: z.string(), rank: z.coerce.number().default(0) })],
    ['Zod 3', z3.object({ id: z3.string(), rank: z3.coerce.number().default(0) })],
    ['Valibot', v.object({ id: v.string(), rank: v.optional(v.number(), 0) })],
    ['ArkType', type({ id: 'string', rank: 'number = 0' })],
  ])('is a schema of %s, whose output the handler gets (A-14, A-15, A-19)', async (_, schema) => {
    expect(await validate(schema, { id: 'a' })).toEqual({
      isValid: true,
      value: { id: 'a', rank: 0 },
    })
    expect(await validate(schema, { id: 1 })).toMatchObject({
      isValid: false,
      message: expect.stringMatching(/^id: .*string/i),
    })
  })

  test('is a coercion, so that a number that arrives as a text works (A-17)', async () => {
    const schema = z.object({ n: z.coerce.number() })

    expect(await validate(schema, { n: '7' })).toEqual({ isValid: true, value: { n: 7 } })
  })

  test('is no plain JSON Schema (A-16)', async () => {
    const schema = { type: 'object', properties: { id: text }, required: ['id'] } as const

    expect(await validate(schema, { other: 1 })).toEqual({ isValid: true, value: { other: 1 } })
  })

  test('is a schema that takes its time', async () => {
    const schema = z.object({ id: z.string().refine(async (id) => id === 'a', 'is taken') })

    expect(await validate(schema, { id: 'a' })).toMatchObject({ isValid: true })
    expect(await validate(schema, { id: 'b' })).toEqual({
      isValid: false,
      message: 'id: is taken',
    })
  })

  test('says of each fault where it is, and of very many only the first ones', async () => {
    const lines = z.object({ lines: z.array(z.object({ n: z.number() })) })
    const nested = await validate(lines, { lines: [{ n: 1 }, { n: 'x' }] })
    const many = await validate(lines, { lines: Array.from({ length: 40 }, () => ({})) })
    const whole = await validate(z.object({}), 1)

    expect(nested).toMatchObject({ message: expect.stringMatching(/^lines\.1\.n: /) })
    expect((many as { message: string }).message.split('\n')).toHaveLength(10)
    expect(whole).toMatchObject({ message: expect.not.stringContaining(': expected object\n') })
  })
})

/** A validator that takes everything, with an exporter of its own. */
function standard(jsonSchema: { input: () => unknown; output: () => unknown }): InputSchema {
  const validator = { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) }
  return { '~standard': { ...validator, jsonSchema } } as unknown as InputSchema
}

function refuse(): never {
  throw new Error('not in JSON Schema')
}
