/** One route of a component: a tool's, or that of a card's button. */

import type { Channels, ToolContext } from '../wire/answers.js'
import type { InputSchema, OutputOf } from '../wire/schema.js'
import type { AppTarget } from '../wire/targets.js'
import { domainError, plainText, result, withoutCard } from './answers.js'
import { isThreadToolInvocation, ToolContextError, toolContext } from './context.js'
import { type IdentityOptions, identity } from './identity.js'
import { BodyError, type Fault, readInput } from './input.js'
import { KeysUnavailable } from './keys.js'
import type { Identity, Refusal } from './verify.js'

/** Whom a call serves and where it comes from. */
export interface Call {
  readonly identity: Identity
  readonly context: ToolContext
  /** Its body has been read. */
  readonly request: Request
}

/** A text is the content; a `Response` of `result`, `actionRequired`, `domainError` or your own. */
export type Answer = string | Channels | Response

/** A `Response` may also be thrown. */
export type Run<Schema extends InputSchema> = (
  input: OutputOf<Schema>,
  call: Call,
) => Answer | Promise<Answer>

type Log = (message: string) => void

export interface RouteOptions extends Omit<IdentityOptions, 'nowS'> {
  /** Gets why a request was refused; `console.warn` by default. */
  readonly log?: Log
}

/** What a route needs of a tool. */
export interface Routed<Schema extends InputSchema = InputSchema> {
  readonly input: Schema
  readonly target: AppTarget
}

/** Answers the requests of one target. */
export interface Route {
  (request: Request): Promise<Response>
  readonly target: AppTarget
}

/**
 * Makes a function that serves a target: it verifies the identity token, reads the tool context,
 * checks the input, runs, and refuses a card outside a thread. OPTIONS is answered with `Allow`:
 * that is how Remit notices that the route is there.
 */
export function route<const Schema extends InputSchema>(
  tool: Routed<Schema>,
  run: Run<Schema>,
  options: RouteOptions = {},
): Route {
  const { target } = tool
  const { log = console.warn } = options
  const serve = async (request: Request): Promise<Response> => {
    if (request.method === 'OPTIONS') {
      return allowed([target.method])
    }
    if (request.method !== target.method) {
      return methodNotAllowed([target.method])
    }
    try {
      const who = await identity(request, options)
      if (!who.ok) {
        return unauthorized(who, log)
      }
      const call = { identity: who, context: toolContext(request), request }
      const input = await readInput(request, target, tool.input)
      return input.ok
        ? await answered(run, input.value as OutputOf<Schema>, call)
        : unfit(input.faults)
    } catch (error) {
      return unread(error, log)
    }
  }
  return Object.assign(serve, { target })
}

/** The answer to OPTIONS. */
export function allowed(methods: readonly string[]): Response {
  return new Response(null, { status: 204, headers: { allow: allow(methods) } })
}

export function methodNotAllowed(methods: readonly string[]): Response {
  const response = domainError('method_not_allowed', `This route takes ${methods.join(', ')}.`, {
    status: 405,
  })
  response.headers.set('allow', allow(methods))
  return response
}

function allow(methods: readonly string[]): string {
  return [...methods, 'OPTIONS'].join(', ')
}

async function answered<Schema extends InputSchema>(
  run: Run<Schema>,
  input: OutputOf<Schema>,
  call: Call,
): Promise<Response> {
  const answer = await ran(run, input, call)
  if (answer instanceof Response) {
    return isThreadToolInvocation(call.context) ? answer : withoutCard(answer)
  }
  return typeof answer === 'string' ? plainText(answer) : result(answer)
}

async function ran<Schema extends InputSchema>(
  run: Run<Schema>,
  input: OutputOf<Schema>,
  call: Call,
): Promise<Answer> {
  try {
    return await run(input, call)
  } catch (thrown) {
    if (thrown instanceof Response) {
      return thrown
    }
    throw thrown
  }
}

/** The caller learns nothing of the reason; the app's log does. */
function unauthorized({ reason, message }: Refusal, log: Log): Response {
  log(`Identity refused: ${reason}: ${message}`)
  const response = domainError('identity_refused', 'The identity token was not accepted.', {
    status: 401,
  })
  response.headers.set('www-authenticate', 'Bearer')
  return response
}

function unfit(faults: readonly Fault[]): Response {
  const words = faults.map(({ pointer, message }) => `${pointer || 'input'}: ${message}`)
  return domainError('invalid_arguments', `The input does not fit. ${words.join('; ')}.`, {
    status: 422,
    details: { faults },
  })
}

/** What a request lacks is said to the caller; what else is thrown is for the framework. */
function unread(error: unknown, log: Log): Response {
  if (error instanceof KeysUnavailable) {
    log(`No identity could be verified: ${error.message}`)
    return domainError('keys_unavailable', 'The identity cannot be verified now. Try later.', {
      status: 503,
    })
  }
  if (error instanceof ToolContextError) {
    return domainError('invalid_tool_context', error.message, { status: 400 })
  }
  if (error instanceof BodyError) {
    return domainError('invalid_body', error.message, { status: 400 })
  }
  throw error
}
