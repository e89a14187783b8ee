/** The types that hosts see: what a handler gets, and which records are taken. */

import { type } from 'arktype'
import type { ReactNode } from 'react'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import {
  connect,
  defineTool,
  defineWidget,
  mount,
  type Tool,
  type ToolContext,
  type Tools,
  type Widgets,
} from '../../src/client/index.js'
import { defineTool as ofCore } from '../../src/core/index.js'
import {
  defineTool as ofReact,
  type ReactWidgets,
  Remit,
  type RemitProps,
  defineWidget as reactWidget,
} from '../../src/react/index.js'

const description = 'Saves it.'
type Saved = { url: string; rank: number }

const Zod = z.object({ url: z.url(), rank: z.coerce.number().default(0) })
const Zod3 = z3.object({ url: z3.string(), rank: z3.coerce.number().default(0) })
const Valibot = v.object({ url: v.string(), rank: v.optional(v.number(), 0) })
const ArkType = type({ url: 'string', rank: 'number = 0' })
const JsonSchema = {
  type: 'object',
  properties: { url: { type: 'string' } },
  required: ['url'],
} as const
const Before = z.preprocess((value) => value, Zod)

describe('the input of execute', () => {
  test('is the output of its schema (A-20)', () => {
    const execute = (input: Saved, context: ToolContext) => [input.rank, context.signal]

    expectTypeOf(defineTool({ description, parameters: Zod, execute }).execute)
      .parameter(0)
      .toEqualTypeOf<Saved>()
    defineTool({
      description,
      parameters: Zod,
      execute: (input, { callId, signal }) => {
        expectTypeOf(input).toEqualTypeOf<Saved>()
        expectTypeOf(callId).toEqualTypeOf<string>()
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      },
    })
    defineTool({
      description,
      parameters: Zod3,
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Saved>(),
    })
    defineTool({
      description,
      parameters: Valibot,
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Saved>(),
    })
    defineTool({
      description,
      parameters: ArkType,
      execute: async (input) => expectTypeOf(input).toEqualTypeOf<Saved>(),
    })
    defineTool({
      description,
      parameters: Before,
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Saved>(),
    })
  })

  test('is an open record with plain JSON Schema (A-22)', () => {
    defineTool({
      description,
      parameters: JsonSchema,
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>(),
    })
    defineTool({
      description,
      parameters: { type: 'object', properties: {} },
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>(),
    })
  })

  test('is the same whichever room the define function comes from (A-21)', () => {
    expectTypeOf(ofCore).toEqualTypeOf(defineTool)
    expectTypeOf(ofReact).toEqualTypeOf(defineTool)
    expectTypeOf(defineTool({ description, parameters: Zod, execute: () => 1 })).toEqualTypeOf<
      Tool<typeof Zod>
    >()
  })
})

describe('the input of render', () => {
  test('is the output of its schema, drawn into a container (A-20, A-21)', () => {
    defineWidget({
      description,
      parameters: Zod,
      render: (input, container) => {
        expectTypeOf(input).toEqualTypeOf<Saved>()
        expectTypeOf(container).toEqualTypeOf<HTMLElement>()
        return () => container.remove()
      },
    })
    defineWidget({
      description,
      parameters: JsonSchema,
      render: (input) => {
        expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>()
      },
    })
  })

  test('is the output of its schema, given back as JSX (A-20, A-21)', () => {
    reactWidget({
      description,
      parameters: ArkType,
      render: (input): ReactNode => {
        expectTypeOf(input).toEqualTypeOf<Saved>()
        return input.url
      },
    })
    // @ts-expect-error a function draws into a container elsewhere, not in React
    reactWidget({ description, parameters: Zod, render: () => () => undefined })
    // @ts-expect-error JSX is drawn in React alone
    defineWidget({ description, parameters: Zod, render: ({ url }) => url })
  })
})

const tools = {
  by_zod: defineTool({ description, parameters: Zod, execute: ({ rank }) => rank }),
  by_valibot: defineTool({ description, parameters: Valibot, execute: ({ url }) => url }),
  by_arktype: defineTool({ description, parameters: ArkType, execute: ({ rank }) => rank }),
  by_schema: defineTool({ description, parameters: JsonSchema, execute: (input) => input }),
  by_hand: { description, parameters: JsonSchema, execute: () => null },
}
const widgets = {
  by_zod: defineWidget({ description, parameters: Zod, render: () => {} }),
  by_schema: defineWidget({ description, parameters: JsonSchema, render: () => () => {} }),
}
const reactWidgets = {
  by_zod: reactWidget({ description, parameters: Zod, render: ({ url }) => url }),
  by_schema: reactWidget({ description, parameters: JsonSchema, render: () => null }),
}
const session = { server: 'https://a.example', session: 's_1', getToken: () => 'token' }

describe('records of many schemas', () => {
  test('are taken wherever tools and widgets are lent (A-02, A-08, A-14)', () => {
    expectTypeOf(tools).toExtend<Tools>()
    expectTypeOf(widgets).toExtend<Widgets>()
    expectTypeOf(reactWidgets).toExtend<ReactWidgets>()
    const unused = () => {
      mount(document.body, { ...session, tools, widgets }).update({ tools, widgets })
      connect({ ...session, tools, widgets: reactWidgets }).update({ tools })
      Remit({ ...session, tools, widgets: reactWidgets })
    }
    expectTypeOf(unused).toEqualTypeOf<() => void>()
  })

  test('are refused where a handler reads what its schema does not give (A-20)', () => {
    // @ts-expect-error there is no such field
    defineTool({ description, parameters: Zod, execute: ({ title }) => title })
    // @ts-expect-error no schema of objects
    defineTool({ description, parameters: z.string(), execute: () => 1 })
    // @ts-expect-error a description is required
    defineTool({ parameters: Zod, execute: () => 1 })
    // @ts-expect-error no such level
    defineTool({ description, parameters: Zod, execute: () => 1, dangerLevel: 'high' })
    // @ts-expect-error a widget that draws into a container is none of React
    ;({ ...session, widgets }) satisfies RemitProps
  })
})
