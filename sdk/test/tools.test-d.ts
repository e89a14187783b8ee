import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import {
  type AppTool,
  actionRequired,
  type Button,
  handler,
  identity,
  isThreadToolInvocation,
  type OutputOf,
  route,
  toolContext,
} from '../src/kit/index.js'

const target = {
  type: 'app',
  component: 'api',
  path: '/tools/save',
  method: 'POST',
  body: '${input}',
} as const
const common = { description: 'Save it.', target } as const

const Zod = z.object({ url: z.url(), rank: z.coerce.number().default(0) })
const Valibot = v.object({ url: v.string(), rank: v.optional(v.number(), 0) })
const ArkType = type({ url: 'string', rank: 'number = 0' })
const Zod3 = z3.object({ url: z3.string(), rank: z3.coerce.number().default(0) })
const JsonSchema = {
  type: 'object',
  properties: { url: { type: 'string' }, rank: { type: 'number' } },
  required: ['url'],
  additionalProperties: false,
} as const

const tools = [
  { ...common, name: 'by_zod', input: Zod },
  { ...common, name: 'by_valibot', input: Valibot },
  { ...common, name: 'by_arktype', input: ArkType },
  { ...common, name: 'by_zod_3', input: Zod3 },
  { ...common, name: 'by_schema', input: JsonSchema },
  { ...common, name: 'of_web', input: Zod, target: { ...target, component: 'web' } },
  {
    ...common,
    name: 'outside',
    input: Zod,
    target: { type: 'url', url: 'https://a.example', method: 'GET' },
  },
  { ...common, name: 'in_client', input: Zod, target: { type: 'client', name: 'open_url' } },
] as const satisfies readonly AppTool[]

type Saved = { url: string; rank: number }

describe('the input of a handler', () => {
  test('is the output of its schema', () => {
    expectTypeOf<OutputOf<typeof Zod>>().toEqualTypeOf<Saved>()
    expectTypeOf<OutputOf<typeof Valibot>>().toEqualTypeOf<Saved>()
    expectTypeOf<OutputOf<typeof ArkType>>().toEqualTypeOf<Saved>()
    expectTypeOf<OutputOf<typeof Zod3>>().toEqualTypeOf<Saved>()
    expectTypeOf<OutputOf<typeof JsonSchema>>().toEqualTypeOf<Record<string, unknown>>()
  })

  test('is that of the tool by whose name the handler stands', () => {
    handler({
      tools,
      component: 'api',
      handlers: {
        by_zod: (input) => {
          expectTypeOf(input).toEqualTypeOf<Saved>()
          return 'Saved.'
        },
        by_valibot: (input) => {
          expectTypeOf(input).toEqualTypeOf<Saved>()
          return { content: 'Saved.' }
        },
        by_arktype: async (input) => {
          expectTypeOf(input).toEqualTypeOf<Saved>()
          return Response.json({ content: 'Saved.' })
        },
        by_zod_3: (input, call) => {
          expectTypeOf(input).toEqualTypeOf<Saved>()
          expectTypeOf(call.identity.user).toEqualTypeOf<string>()
          return 'Saved.'
        },
        by_schema: (input) => {
          expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>()
          return 'Saved.'
        },
      },
    })
    route(tools[0], (input) => {
      expectTypeOf(input).toEqualTypeOf<Saved>()
      return 'Saved.'
    })
  })

  test('needs a handler for each tool of the component, and for no other', () => {
    const [, , , , , ofWeb, outside] = tools
    handler({ tools: [ofWeb, outside], handlers: { of_web: () => 'Shown.' } })
    // @ts-expect-error of_web has no handler
    handler({ tools: [ofWeb, outside], handlers: {} })
    // @ts-expect-error outside is no tool of a component
    handler({ tools: [ofWeb, outside], handlers: { of_web: () => 'x', outside: () => 'x' } })
    // @ts-expect-error a number is no answer
    handler({ tools: [ofWeb], handlers: { of_web: () => 1 } })
    // @ts-expect-error there is no such component
    handler({ tools: [ofWeb], component: 'api', handlers: { of_web: () => 'x' } })
  })
})

describe('a tool', () => {
  const named = { ...common, name: 'save', input: Zod } as const

  test('has a target of a known kind, with all that it needs', () => {
    // @ts-expect-error no such kind
    ;({ ...named, target: { type: 'mail', to: 'a' } }) satisfies AppTool
    // @ts-expect-error no component
    ;({ ...named, target: { type: 'app', path: '/a', method: 'POST' } }) satisfies AppTool
    // @ts-expect-error no such method
    ;({ ...named, target: { ...target, method: 'HEAD' } }) satisfies AppTool
    // @ts-expect-error a path begins with a slash
    ;({ ...named, target: { ...target, path: 'tools/save' } }) satisfies AppTool
    // @ts-expect-error a header is a text
    ;({ ...named, target: { ...target, headers: { 'X-Count': 1 } } }) satisfies AppTool
    // @ts-expect-error null is no body
    ;({ ...named, target: { ...target, body: null } }) satisfies AppTool
    // @ts-expect-error a function is no JSON
    ;({ ...named, target: { ...target, body: { at: () => 1 } } }) satisfies AppTool
    ;({ ...named, target: { ...target, body: { a: ['${input.url}', 1, null] } } }) satisfies AppTool
    // @ts-expect-error a client target has a name and nothing else
    ;({ ...named, target: { type: 'client', name: 'a', url: 'https://a' } }) satisfies AppTool
    // @ts-expect-error the brand's name is a kind only under that brand
    ;({ ...named, target: { type: 'kazzle', name: 'open_url' } }) satisfies AppTool
  })

  test('may have a client target of the brand', () => {
    type KazzleTool = AppTool<'kazzle'>
    const branded = [
      { ...named, target: { type: 'kazzle', name: 'open_url' } },
      { ...named, target: { type: 'client', name: 'open_url' } },
    ] as const satisfies readonly KazzleTool[]
    expectTypeOf(branded[0].target.type).toEqualTypeOf<'kazzle'>()
    handler({ tools: branded, handlers: {} })
  })

  test('takes an object in', () => {
    ;({ ...named, input: z.preprocess((value) => value, Zod) }) satisfies AppTool
    // @ts-expect-error a text is no arguments
    ;({ ...named, input: z.string() }) satisfies AppTool
    // @ts-expect-error a list is no arguments
    ;({ ...named, input: { type: 'array', items: {} } }) satisfies AppTool
    // @ts-expect-error properties are required
    ;({ ...named, input: { type: 'object' } }) satisfies AppTool
  })

  test('has no keys that Remit does not know', () => {
    // @ts-expect-error a slip of the pen
    ;({ ...named, danger: 'safe' }) satisfies AppTool
    // @ts-expect-error no renderer reads it
    ;({ ...named, render: { src: 'previewUrl' } }) satisfies AppTool
    // @ts-expect-error no such level
    ;({ ...named, dangerLevel: 'high' }) satisfies AppTool
    // @ts-expect-error a description is required
    ;({ name: 'save', input: Zod, target }) satisfies AppTool
  })
})

describe('what a handler learns', () => {
  test('an identity only once it is told from a refusal', async () => {
    const found = await identity(new Request('https://a.example'))
    // @ts-expect-error it may be a refusal
    found.user
    if (found.ok) {
      expectTypeOf(found.user).toEqualTypeOf<string>()
    } else {
      expectTypeOf(found.message).toEqualTypeOf<string>()
    }
  })

  test('the id of a thread only once it is told from the API', () => {
    const context = toolContext(new Request('https://a.example'))
    // @ts-expect-error the API has none
    context.threadId
    if (isThreadToolInvocation(context)) {
      expectTypeOf(context.threadId).toEqualTypeOf<string>()
    }
  })

  test('that a button and a tool can share one target', () => {
    const button = { id: 'a', label: 'A', target } satisfies Button
    actionRequired({ title: 'T', buttons: [button] })
    // @ts-expect-error no such look
    actionRequired({ title: 'T', buttons: [{ ...button, variant: 'loud' }] })
  })
})
