/**
 * The state of the app, in `localStorage`, and the one way to change it.
 *
 * `commit` is synchronous: when it returns, the change is kept, `getState` answers with it and
 * everybody who subscribed was told. So a read right after a write sees the write, in whatever turn
 * of the agent and however long React takes to draw.
 */

import type { State } from './model.js'
import { Refused } from './refused.js'
import { parseState, printState } from './saved.js'

const KEY = 'tracker'

export interface Store {
  getState: () => State
  subscribe: (listener: () => void) => () => void
  /** Keeps what `change` makes of the state; what it throws changes nothing. */
  commit: (change: (state: State) => State) => void
  now: () => string
}

export interface StoreOptions {
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>
  /** What stands there at the first start, and where what was saved cannot be read. */
  readonly first: State
  readonly now?: () => Date
}

export function createStore({ storage, first, now = () => new Date() }: StoreOptions): Store {
  const listeners = new Set<() => void>()
  let text: string | null = null
  let state = first

  // Another tab may have written: its change must not be lost under ours.
  function refresh(): void {
    const found = read(storage)
    if (found !== text) {
      text = found
      state = (found === null ? null : parseState(found)) ?? first
    }
  }

  function tell(): void {
    for (const listener of [...listeners]) {
      listener()
    }
  }

  function onStorage(event: StorageEvent): void {
    if (event.key === KEY || event.key === null) {
      refresh()
      tell()
    }
  }

  refresh()
  return {
    getState: () => state,
    subscribe(listener) {
      if (listeners.size === 0) {
        window.addEventListener('storage', onStorage)
      }
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) {
          window.removeEventListener('storage', onStorage)
        }
      }
    },
    commit(change) {
      refresh()
      const next = change(state)
      if (next === state) {
        return
      }
      const printed = printState(next)
      write(storage, printed)
      text = printed
      state = next
      tell()
    },
    now: () => now().toISOString(),
  }
}

function read(storage: StoreOptions['storage']): string | null {
  try {
    return storage.getItem(KEY)
  } catch {
    return null
  }
}

function write(storage: StoreOptions['storage'], printed: string): void {
  try {
    storage.setItem(KEY, printed)
  } catch {
    throw new Refused('This browser keeps no more data for the tracker, so nothing was changed.')
  }
}
