/** What the host app lends to the agent: its own functions as tools, its own UI as widgets. */

import type { InputSchema, OutputOf } from '../wire/schema.js'

/** What a tool's handler is told beside its input. */
export interface ToolContext {
  readonly callId: string
  /** Aborted where the call's time is over or the session was left; what happened stays so. */
  readonly signal: AbortSignal
}

/** What is said of a tool beside its handler. */
interface ToolFacts {
  /** `title` is what the transcript shows, else the tool's name. */
  readonly metadata?: { readonly title?: string }
  /** What it does, when to use it, and when not; at most 4,000 characters. */
  readonly description: string
  /** `write` where it is left out. */
  readonly category?: 'read' | 'write' | 'action'
  /** `moderate` where it is left out. */
  readonly dangerLevel?: 'safe' | 'moderate' | 'destructive'
  /** A person is asked before each call. */
  readonly requiresApproval?: boolean
  /** May be executed again, where a tab went silent in the middle of a call. */
  readonly idempotent?: boolean
  /** How long a call may take: 120,000 where it is left out. */
  readonly timeoutMs?: number
}

/**
 * A function of the host app.
 *
 * With a Standard Schema in `parameters` its input is validated before `execute` runs, and has the
 * schema's output type. With plain JSON Schema nothing is validated in the browser, and the input
 * is an open record.
 */
export interface Tool<Schema extends InputSchema = InputSchema> extends ToolFacts {
  readonly parameters: Schema
  /** The resolved value is the result, plain JSON; what it throws is a tool error. */
  readonly execute: (input: OutputOf<Schema>, context: ToolContext) => unknown
}

/**
 * A part of the host app's UI, drawn in the transcript.
 *
 * @typeParam Render is what draws it: JSX with React, into a container elsewhere.
 */
export interface WidgetFacts<Schema extends InputSchema = InputSchema> {
  readonly description: string
  readonly parameters: Schema
}

/** A widget that draws into a container and may give back what cleans up. */
export interface Widget<Schema extends InputSchema = InputSchema> extends WidgetFacts<Schema> {
  // biome-ignore lint/suspicious/noConfusingVoidType: a render without a clean-up returns nothing
  readonly render: (input: OutputOf<Schema>, container: HTMLElement) => void | (() => void)
}

/*
 * A record holds tools of many schemas. A handler is contravariant in its input, so that no
 * `Tool<InputSchema>` takes them all: within a record the input is `never`, which every handler has.
 */

/** Any tool, whatever its schema. */
export interface AnyTool extends ToolFacts {
  readonly parameters: InputSchema
  readonly execute: (input: never, context: ToolContext) => unknown
}

/** Any widget that draws into a container, whatever its schema. */
export interface AnyWidget extends WidgetFacts {
  // biome-ignore lint/suspicious/noConfusingVoidType: a render without a clean-up returns nothing
  readonly render: (input: never, container: HTMLElement) => void | (() => void)
}

export type Tools = Readonly<Record<string, AnyTool>>
export type Widgets = Readonly<Record<string, AnyWidget>>

/** What a record has under a name, and not what every object has. */
export function entry<Thing>(
  record: Readonly<Record<string, Thing>>,
  name: string,
): Thing | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Gives back its argument; it is there for the types that it infers. */
export function defineTool<const Schema extends InputSchema>(tool: Tool<Schema>): Tool<Schema> {
  return tool
}
