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
export type { ChatOptions } from './chat/chat.js'
export type { Texts } from './chat/texts.js'
export {
  type Answer,
  Connection,
  type ConnectionOptions,
  type Context,
  type Definitions,
  type Link,
  type Outgoing,
  type Snapshot,
} from './connection.js'
export type { Notice, Prompt } from './handlers.js'
export { type Lending, type Mounted, type MountOptions, mount } from './mount.js'

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
