/**
 * A handler's input, read back out of the request that a target describes: the whole body where
 * that is `${input}`, else each value from the place whose template is exactly one reference.
 */

import { isRecord } from '../wire/json.js'
import {
  type InputSchema,
  namesOf,
  type StandardIssue,
  type StandardSchema,
} from '../wire/schema.js'
import type { RequestSpec } from '../wire/targets.js'

const MAX_BODY_BYTES = 1024 * 1024
const MAX_FAULTS = 20
const WHOLE = /^\$\{\s*input\s*\}$/
const ONE_REFERENCE = /^\$\{\s*input\.([\w-]+(?:\.[\w-]+)*)\s*\}$/
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** The body cannot be read as what the target sends. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
}

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly faults: readonly Fault[] }

/** One thing that is wrong with an input. */
export interface Fault {
  /** A JSON Pointer into the input. */
  readonly pointer: string
  readonly message: string
}

/** What was found in a request; what came by the query is text, whatever it was before. */
interface Found {
  readonly input: unknown
  readonly texts: ReadonlyMap<string, string | readonly string[]>
}

/** @throws BodyError */
export async function readInput(
  request: Request,
  target: RequestSpec,
  schema: InputSchema,
): Promise<Checked> {
  const body = target.body === undefined ? undefined : await json(request)
  const isWhole = typeof target.body === 'string' && WHOLE.test(target.body)
  const found: Found = isWhole
    ? { input: body, texts: new Map() }
    : rebuilt(target, body, new URL(request.url).searchParams)
  return '~standard' in schema
    ? validated(found, schema as StandardSchema)
    : { ok: true, value: plain(found.input) }
}

function plain(input: unknown): Record<string, unknown> {
  if (!isRecord(input)) {
    throw new BodyError('The body is no JSON object.')
  }
  return input
}

async function json(request: Request): Promise<unknown> {
  const bytes = await request.arrayBuffer()
  if (bytes.byteLength > MAX_BODY_BYTES) {
    throw new BodyError(`The body has more than ${MAX_BODY_BYTES} bytes.`)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new BodyError('The body is no JSON.')
  }
}

function rebuilt(target: RequestSpec, body: unknown, query: URLSearchParams): Found {
  const input: Record<string, unknown> = {}
  const texts = new Map<string, string | readonly string[]>()
  collect(target.body, body, input)
  for (const [name, template] of Object.entries(target.query ?? {})) {
    const path = ONE_REFERENCE.exec(template)?.[1]
    const values = query.getAll(name)
    const [first] = values
    if (path !== undefined && first !== undefined) {
      const value = values.length === 1 ? first : values
      put(input, path, value)
      texts.set(path, value)
    }
  }
  return { input, texts }
}

function collect(template: unknown, value: unknown, input: Record<string, unknown>): void {
  if (typeof template === 'string') {
    const path = ONE_REFERENCE.exec(template)?.[1]
    if (path !== undefined && value !== undefined) {
      put(input, path, value)
    } else if (WHOLE.test(template) && isRecord(value)) {
      Object.assign(input, value)
    }
  } else if (Array.isArray(template) && Array.isArray(value)) {
    template.forEach((part, at) => {
      collect(part, value[at], input)
    })
  } else if (isRecord(template) && isRecord(value)) {
    for (const [name, part] of Object.entries(template)) {
      collect(part, value[name], input)
    }
  }
}

/** A place inside a list is passed over: the rest of the list is not known. */
function put(input: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.')
  if (names.some((name) => /^\d+$/.test(name) || name === '__proto__')) {
    return
  }
  const last = names.pop() as string
  let inner = input
  for (const name of names) {
    const next = isRecord(inner[name]) ? { ...inner[name] } : {}
    inner[name] = next
    inner = next
  }
  inner[last] = value
}

/** A text out of the query that does not fit is tried as the number, truth or list it may be. */
async function validated({ input, texts }: Found, schema: StandardSchema): Promise<Checked> {
  let best = input
  let last = await schema['~standard'].validate(input)
  for (const read of [spelled, listed, (value: Text) => listed(value).map(spelled)]) {
    const wrong = [...texts].filter(([path]) => isAt(last.issues, path))
    const changed = structuredClone(best)
    if (wrong.length === 0 || !isRecord(changed)) {
      break
    }
    for (const [path, value] of wrong) {
      put(changed, path, read(value))
    }
    const next = await schema['~standard'].validate(changed)
    if ((next.issues?.length ?? 0) < (last.issues?.length ?? 0)) {
      best = changed
      last = next
    }
  }
  return last.issues === undefined
    ? { ok: true, value: last.value }
    : { ok: false, faults: last.issues.slice(0, MAX_FAULTS).map(fault) }
}

type Text = string | readonly string[]

function spelled(value: Text): unknown {
  if (typeof value !== 'string') {
    return value.map(spelled)
  }
  return value === 'true' || value === 'false' || NUMBER.test(value) ? JSON.parse(value) : value
}

function listed(value: Text): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

function isAt(issues: readonly StandardIssue[] | undefined, path: string): boolean {
  return issues?.some((issue) => `${namesOf(issue).join('.')}.`.startsWith(`${path}.`)) ?? false
}

function fault(issue: StandardIssue): Fault {
  const escaped = namesOf(issue).map(
    (name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  )
  return { pointer: escaped.join(''), message: issue.message }
}
