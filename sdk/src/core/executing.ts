/** One call of a host app's own function, as the agent's call of it goes. */

import type { AnyTool } from './definitions.js'
import { validate } from './parameters.js'
import { NotPlainError, plainJson, wordsOf } from './plain.js'

/** What a tool is looked up by; `undefined` where it is not there (any more). */
export type FindTool = (name: string) => AnyTool | undefined

export interface Call {
  readonly callId: string
  readonly name: string
  readonly args: unknown
  /** How long the handler may take. */
  readonly timeoutMs: number
}

/** How a call ended, as it is posted. */
export type End = { readonly result: unknown } | { readonly error: Fault }

export interface Fault {
  readonly code: 'client_error' | 'unserializable_result' | 'outcome_unknown' | 'invalid_arguments'
  readonly message: string
}

/**
 * Validate, execute, and hold the result to plain JSON.
 *
 * @param signal where it is aborted, the session was left.
 */
export async function executed(find: FindTool, call: Call, signal: AbortSignal): Promise<End> {
  const { callId, name, args, timeoutMs } = call
  const tool = find(name)
  if (!tool) {
    return failed(`${name} is not on this page any more.`)
  }
  const input = await validate(tool.parameters, args).catch((error: unknown) => ({
    isValid: false as const,
    message: wordsOf(error),
  }))
  if (!input.isValid) {
    return { error: { code: 'invalid_arguments', message: input.message } }
  }
  if (signal.aborted) {
    return failed('The page left the conversation before it executed this: nothing happened.')
  }
  const over = new AbortController()
  const end = (why: string) => over.abort(new Error(why))
  const timer = setTimeout(() => end(`${name} took longer than ${timeoutMs} ms.`), timeoutMs)
  const leave = () => end(`The page left the conversation while it executed ${name}.`)
  signal.addEventListener('abort', leave)
  try {
    // The newest definition: validating may have taken a while.
    const { execute } = find(name) ?? tool
    const value = await Promise.race([
      Promise.resolve(execute(input.value as never, { callId, signal: over.signal })),
      aborted(over.signal),
    ])
    // As it is now: it may change before it is posted.
    return { result: JSON.parse(plainJson(value)) as unknown }
  } catch (error) {
    if (error instanceof NotPlainError) {
      return notPlain(name, error.message)
    }
    // What was not awaited goes on: as a failure it would be tried again.
    return over.signal.aborted ? unfinished(wordsOf(over.signal.reason)) : failed(wordsOf(error))
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  }
}

/** As the server says it, so that it is not said twice. */
export const MAY_HAVE_HAPPENED =
  'The action may have happened: read the current state before you repeat it.'

/** The end of a call whose result cannot be sent. */
export function notPlain(tool: string, why: string): End {
  const message = `The result of ${tool} cannot be sent: ${why}. ${MAY_HAVE_HAPPENED}`
  return { error: { code: 'unserializable_result', message } }
}

function failed(message: string): End {
  return { error: { code: 'client_error', message } }
}

/** The end of a call that began, and whose end nobody here knows. */
function unfinished(message: string): End {
  return { error: { code: 'outcome_unknown', message } }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_done, fail) => {
    signal.addEventListener('abort', () => fail(signal.reason))
  })
}
