/** For pages: a connection with a session, and a whole chat without a framework. */

import type { Widget } from '../core/definitions.js'
import type { InputSchema } from '../wire/schema.js'
import { Connection, type ConnectionOptions } from './connection.js'

export {
  defineTool,
  type Tool,
  type ToolContext,
  type Tools,
  type Widget,
  type Widgets,
} from '../core/definitions.js'
export { type GetToken, RemitError } from '../transport/http.js'
export type { LeftOut } from './announcer.js'
export type { ChatOptions } from './chat/chat.js'
export type { Texts } from './chat/texts.js'
export { Connection, type ConnectionOptions, type Context, type Definitions } from './connection.js'
export type { Notice, Prompt } from './handlers.js'
export { type Lending, type Mounted, type MountOptions, mount } from './mount.js'
export type { Answer, Link, Outgoing, Snapshot } from './snapshot.js'

/** Connect a page with a session; the page draws what it wants to of the snapshots. */
export function connect(options: ConnectionOptions): Connection {
  return new Connection(options)
}

/** Gives back its argument; it is there for the types that it infers. */
export function defineWidget<const Schema extends InputSchema>(
  widget: Widget<Schema>,
): Widget<Schema> {
  return widget
}
