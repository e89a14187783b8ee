'use client'

/** The session, for a host that draws more of it than the chat. */

import { useContext, useSyncExternalStore } from 'react'
import type { Answer, Snapshot } from '../client/snapshot.js'
import { START } from '../core/state.js'
import type { Input, Status } from '../wire/event.js'
import { RemitContext } from './provider.js'

export interface RemitHandle {
  readonly status: Status
  /** Null while there is no session. */
  readonly snapshot: Snapshot | null
  /** Say something, as the user; does nothing while there is no session. */
  readonly send: (text: string) => Promise<void>
  readonly answer: (input: Input, answer: Answer) => Promise<Input | null>
  /** Stop the run. */
  readonly cancel: () => Promise<void>
}

const none = () => () => undefined
const nothing = () => null

export function useRemit(): RemitHandle {
  const provided = useContext(RemitContext)
  if (!provided) {
    throw new Error('useRemit has to be used inside of <Remit>.')
  }
  const { connection } = provided
  const snapshot = useSyncExternalStore(
    connection?.subscribe ?? none,
    connection?.snapshot ?? nothing,
    nothing,
  )
  return {
    status: (snapshot?.state ?? START).status,
    snapshot,
    send: async (text) => connection?.send(text),
    answer: async (input, answer) => connection?.answer(input, answer) ?? null,
    cancel: async () => connection?.cancel(),
  }
}
