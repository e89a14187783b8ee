/** Where a call comes from: a thread, or the API. */

import type { ThreadContext, ToolContext } from '../wire/answers.js'
import { isRecord, own, parseStrictJson } from '../wire/json.js'
import type { WithHeaders } from './identity.js'

const MAX_CHARS = 4_096

/** The header is missing, there are two, or it cannot be read. */
export class ToolContextError extends Error {
  override readonly name = 'ToolContextError'
}

/**
 * Reads `<Brand>-Tool-Context`, whatever the brand.
 *
 * @throws ToolContextError
 */
export function toolContext(request: WithHeaders): ToolContext {
  const found = [...request.headers].filter(([name]) => /.-tool-context$/i.test(name))
  const [first, ...others] = found
  if (first === undefined || others.length > 0) {
    throw new ToolContextError(
      `The request has ${found.length} headers that end with -Tool-Context. Remit sends one.`,
    )
  }
  const [name, text] = first
  if (text.length > MAX_CHARS) {
    throw new ToolContextError(`The header ${name} has more than ${MAX_CHARS} characters.`)
  }
  let value: unknown
  try {
    value = parseStrictJson(bytes(text))
  } catch {
    throw new ToolContextError(`The header ${name} is no strict JSON. Remit alone may set it.`)
  }
  const source = isRecord(value) ? own(value, 'source') : undefined
  const threadId = isRecord(value) ? own(value, 'threadId') : undefined
  if (source === 'api') {
    return { source }
  }
  if (source === 'thread' && typeof threadId === 'string' && threadId !== '') {
    return { source, threadId }
  }
  throw new ToolContextError(
    `The header ${name} names neither a thread nor the API. Remit alone may set it.`,
  )
}

/** Header values reach a program with one character for each byte. */
function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0))
}

/** True for a call from a thread: only there may a handler answer with a card. */
export function isThreadToolInvocation(context: ToolContext): context is ThreadContext {
  return context.source === 'thread'
}
