/** For a host app's tests of its tools and widgets, without a server and without a model. */

import { announcement } from '../core/announcement.js'
import { entry, type Tools, type WidgetFacts } from '../core/definitions.js'
import { executed, type Fault } from '../core/executing.js'
import { validate } from '../core/parameters.js'

export type { Fault } from '../core/executing.js'

/** How long a call may take where its tool does not say. */
const TIMEOUT_MS = 120_000

/** What the agent is told of a call. */
export type Outcome =
  | { readonly outcome: 'ok'; readonly result: unknown }
  | { readonly outcome: 'error' | 'outcome_unknown'; readonly error: Fault }

export interface CallOptions {
  readonly callId?: string
  /** Aborted where the user leaves the page in the middle of the call. */
  readonly signal?: AbortSignal
}

/**
 * Call a tool as the agent does: a Standard Schema is enforced, what is thrown becomes a tool
 * error, and what cannot be sent is refused. Plain JSON Schema is enforced by the server alone.
 *
 * @throws RangeError there is no tool of that name.
 */
export async function callTool(
  tools: Tools,
  name: string,
  args: unknown = {},
  { callId = 'call_test', signal = new AbortController().signal }: CallOptions = {},
): Promise<Outcome> {
  const find = (wanted: string) => entry(tools, wanted)
  const timeoutMs = one(name, 'tool', find(name)).timeoutMs ?? TIMEOUT_MS
  const end = await executed(find, { callId, name, args, timeoutMs }, signal)
  if (!('error' in end)) {
    return { outcome: 'ok', result: end.result }
  }
  const { error } = end
  return { outcome: error.code === 'outcome_unknown' ? error.code : 'error', error }
}

/**
 * What a widget's `render` is given for these props.
 *
 * @throws RangeError there is no widget of that name.
 * @throws TypeError its schema refuses the props; then nothing is drawn.
 */
export async function widgetInput(
  widgets: Readonly<Record<string, WidgetFacts>>,
  name: string,
  props: unknown = {},
): Promise<unknown> {
  const widget = one(name, 'widget', entry(widgets, name))
  const input = await validate(widget.parameters, props)
  if (!input.isValid) {
    throw new TypeError(input.message)
  }
  return input.value
}

/** What the agent is told of these tools and widgets: names, words and JSON Schemas. */
export function announced(
  tools: Tools,
  widgets: Readonly<Record<string, WidgetFacts>> = {},
): unknown {
  // As it goes over the wire: a field that is undefined is not there.
  return JSON.parse(JSON.stringify(announcement(tools, widgets)))
}

function one<Thing>(name: string, kind: string, found: Thing | undefined): Thing {
  if (found === undefined) {
    throw new RangeError(`There is no ${kind} "${name}".`)
  }
  return found
}
