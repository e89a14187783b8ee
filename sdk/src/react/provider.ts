'use client'

/** The session of a page: it lives here, wherever chats come and go. */

import { createContext, createElement, type ReactNode, useEffect, useRef, useState } from 'react'
import type { ChatOptions } from '../client/chat/chat.js'
import { Connection, type Context } from '../client/connection.js'
import type { Tools } from '../core/definitions.js'
import type { GetToken } from '../transport/http.js'
import type { ReactWidgets } from './definitions.js'

export interface RemitProps extends ChatOptions {
  /** Base URL of the server. */
  readonly server: string
  /** Id of the session; null while the host's back end makes it. */
  readonly session: string | null
  /** A token of the session; asked again when the server refuses the last one. */
  readonly getToken: GetToken
  readonly tools?: Tools
  readonly widgets?: ReactWidgets
  /** What the user is looking at: a JSON object up to 8 KiB. */
  readonly context?: Context
  readonly children?: ReactNode
}

/** What may be left out may be undefined, too. */
interface Lent {
  readonly tools?: Tools | undefined
  readonly widgets?: ReactWidgets | undefined
  readonly context?: Context | undefined
}

/** What the chats and the hook inside of a provider have. */
export interface Provided {
  /** Null while there is no session, and on a server. */
  readonly connection: Connection | null
  readonly widgets: ReactWidgets
  readonly options: ChatOptions
}

export const RemitContext = createContext<Provided | null>(null)

const NONE = {}

export function Remit(props: RemitProps): ReactNode {
  const { getToken: _, children, ...rest } = props
  // What is left are the options of the chat.
  const { server, session, tools = NONE, widgets = NONE, context, ...options } = rest
  // Rebuilt on each render, looked up at the moment of use.
  const newest = useRef(props)
  const [connection, setConnection] = useState<Connection | null>(null)

  useEffect(() => {
    newest.current = props
  })

  useEffect(() => {
    if (session === null) {
      return undefined
    }
    const made = new Connection({
      server,
      session,
      getToken: () => newest.current.getToken(),
      ...lent(newest.current),
    })
    setConnection(made)
    return () => {
      setConnection(null)
      made.close()
    }
  }, [server, session])

  useEffect(() => {
    connection?.update(lent({ tools, widgets, context }))
  }, [connection, tools, widgets, context])

  return createElement(RemitContext.Provider, { value: { connection, widgets, options } }, children)
}

function lent({ tools = NONE, widgets = NONE, context }: Lent) {
  return { tools, widgets, ...(context !== undefined && { context }) }
}
