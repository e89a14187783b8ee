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
  /**
   * Id of the session; null while the host's back end makes it; or what has it made when the user
   * says the first thing. Such a function may be another one at each render.
   */
  readonly session: string | (() => Promise<string>) | null
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
/** In the place of an id, where the session is made when it is needed. */
const MADE_LATER = Symbol('made later')

type Key = string | typeof MADE_LATER | null

interface Held {
  readonly key: Key
  readonly connection: Connection
}

/** What a connection belongs to: the id of the session that it has made itself changes nothing. */
function keyOf(session: RemitProps['session'], held: Held | null): Key {
  const isOwn = held?.key === MADE_LATER && held.connection.session === session
  return typeof session === 'function' || (session !== null && isOwn) ? MADE_LATER : session
}

export function Remit(props: RemitProps): ReactNode {
  const { getToken: _, children, ...rest } = props
  // What is left are the options of the chat.
  const { server, session, tools = NONE, widgets = NONE, context, ...options } = rest
  // Rebuilt on each render, looked up at the moment of use.
  const newest = useRef(props)
  const [held, setHeld] = useState<Held | null>(null)
  const connection = held?.connection ?? null
  const key = keyOf(session, held)

  useEffect(() => {
    newest.current = props
  })

  useEffect(() => {
    if (key === null) {
      return undefined
    }
    const made = new Connection({
      server,
      session: key === MADE_LATER ? () => later(newest.current.session) : key,
      getToken: () => newest.current.getToken(),
      ...lent(newest.current),
    })
    setHeld({ key, connection: made })
    return () => {
      setHeld(null)
      made.close()
    }
  }, [server, key])

  useEffect(() => {
    connection?.update(lent({ tools, widgets, context }))
  }, [connection, tools, widgets, context])

  return createElement(RemitContext.Provider, { value: { connection, widgets, options } }, children)
}

async function later(session: RemitProps['session']): Promise<string> {
  if (session === null) {
    throw new Error('The session is gone.')
  }
  return typeof session === 'string' ? session : await session()
}

function lent({ tools = NONE, widgets = NONE, context }: Lent) {
  return { tools, widgets, ...(context !== undefined && { context }) }
}
