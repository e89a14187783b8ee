/** What a tool or a widget takes: as the JSON Schema that is announced, and as it is enforced. */

import { isRecord } from '../wire/json.js'
import {
  type InputSchema,
  namesOf,
  type StandardIssue,
  type StandardSchema,
} from '../wire/schema.js'
import { isOpen, merge } from './merging.js'

/**
 * What validators are asked for: a release of JSON Schema. A part that has none (a transformation, a
 * date) is open, where Zod would give nothing of the whole.
 */
const WANTED = { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } }
/** Takes every object: nobody is held to it. */
const ANY_OBJECT = { type: 'object' }
const MAX_ISSUES = 10

/** Version 1 of Standard JSON Schema, which not every validator has. */
interface Exporter {
  readonly input: (options: typeof WANTED) => unknown
  readonly output: (options: typeof WANTED) => unknown
}

/** Hosts ask on each render, with schemas that are mostly the same. */
const known = new WeakMap<InputSchema, Record<string, unknown>>()

/**
 * The JSON Schema that is announced. Of a Standard Schema it is the input side, where that is open
 * (a coercion) the output side, closed where the library strips unknown keys; any object where the
 * validator gives no JSON Schema.
 */
export function parametersOf(schema: InputSchema): Record<string, unknown> {
  if (!isStandard(schema)) {
    return schema as Record<string, unknown>
  }
  const found = known.get(schema) ?? exported(schema)
  known.set(schema, found)
  return found
}

function exported(schema: StandardSchema<object, unknown>): Record<string, unknown> {
  const { jsonSchema } = schema['~standard'] as { readonly jsonSchema?: Exporter }
  const input = tolerant(() => jsonSchema?.input(WANTED))
  const output = tolerant(() => jsonSchema?.output(WANTED))
  const merged = input === undefined ? undefined : merge(input, output)
  if (!isRecord(merged) || isOpen(merged)) {
    return ANY_OBJECT
  }
  const { $schema: _, ...parameters } = merged
  // A union says it in each of its parts.
  return { type: 'object', ...parameters }
}

function tolerant(make: () => unknown): unknown {
  try {
    return make()
  } catch {
    return undefined
  }
}

function isStandard(schema: InputSchema): schema is StandardSchema<object, unknown> {
  return '~standard' in schema
}

export type Validated =
  | { readonly isValid: true; readonly value: unknown }
  | { readonly isValid: false; readonly message: string }

/** The value as the handler gets it. Plain JSON Schema is not enforced here: the server does it. */
export async function validate(schema: InputSchema, value: unknown): Promise<Validated> {
  if (!isStandard(schema)) {
    return { isValid: true, value }
  }
  const said = await schema['~standard'].validate(value)
  return said.issues === undefined
    ? { isValid: true, value: said.value }
    : { isValid: false, message: said.issues.slice(0, MAX_ISSUES).map(issueText).join('\n') }
}

function issueText(issue: StandardIssue): string {
  const names = namesOf(issue)
  return names.length ? `${names.join('.')}: ${issue.message}` : issue.message
}
