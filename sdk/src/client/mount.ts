/** A whole chat without a framework. */

import type { Tools, Widgets } from '../core/definitions.js'
import { Chat, type ChatOptions } from './chat/chat.js'
import { Connection, type ConnectionOptions, type Context } from './connection.js'

export interface MountOptions extends Omit<ConnectionOptions, 'widgets'>, ChatOptions {
  readonly widgets?: Widgets
}

/** What may be changed of a chat that is mounted. */
export interface Lending {
  readonly tools?: Tools
  readonly widgets?: Widgets
  readonly context?: Context
}

export interface Mounted {
  readonly connection: Connection
  /** What the page lends from now on; what is left out is not lent any more. */
  readonly update: (lending: Lending) => void
  /** Take the chat out of the element, and leave the session. */
  readonly unmount: () => void
}

/** Put a chat into an element, whose height it fills. */
export function mount(element: HTMLElement, options: MountOptions): Mounted {
  const connection = new Connection(options)
  const chat = new Chat(element, connection, options)
  chat.define(options.widgets ?? {})
  return {
    connection,
    update: (lending) => {
      connection.update(lending)
      chat.define(lending.widgets ?? {})
    },
    unmount: () => {
      chat.close()
      connection.close()
    },
  }
}
