/** An app as the tests need it: a storage in memory, a clock that goes on, a server that is told. */

import type { Ask } from '../src/api/ask.js'
import { createEstimates } from '../src/api/estimates.js'
import type { App } from '../src/app/app.js'
import { createRouter } from '../src/router/router.js'
import { firstState } from '../src/store/first-data.js'
import { signedIn, switchTenant } from '../src/store/mutations.js'
import { createStore, type Store } from '../src/store/store.js'

export const START = new Date('2026-11-30T09:00:00Z')

export function memory(): Pick<Storage, 'getItem' | 'setItem'> & { full: boolean } {
  const kept = new Map<string, string>()
  return {
    full: false,
    getItem: (key) => kept.get(key) ?? null,
    setItem(key, value) {
      if (this.full) {
        throw new Error('QuotaExceededError')
      }
      kept.set(key, value)
    },
  }
}

export function storeOf(user: string, tenant = 'harbor', storage = memory()): Store {
  let ms = START.getTime()
  const now = () => {
    ms += 1000
    return new Date(ms)
  }
  const store = createStore({ storage, first: firstState(START), now })
  signedIn(store, user)
  if (store.getState().tenantId !== tenant) {
    switchTenant(store, tenant)
  }
  return store
}

/** What a server was asked, and what it answers. */
export interface FakeServer {
  readonly asked: { method: string; path: string; body: object | undefined }[]
  readonly ask: Ask
}

export function serverThat(answers: (method: string, path: string) => unknown): FakeServer {
  const asked: FakeServer['asked'] = []
  const ask: Ask = async (shape, method, path, body) => {
    asked.push({ method, path, body })
    return shape.parse(answers(method, path))
  }
  return { asked, ask }
}

const NO_ESTIMATE = { issueId: 'WEB-1', points: null, version: 0, savedBy: null, savedAt: null }

export function appOf(
  user: string,
  tenant = 'harbor',
  server = serverThat(() => NO_ESTIMATE),
): App & { asked: FakeServer['asked'] } {
  window.history.replaceState(null, '', '/issues')
  const store = storeOf(user, tenant)
  return {
    store,
    router: createRouter(window),
    estimates: createEstimates(store, server.ask),
    ask: server.ask,
    asked: server.asked,
  }
}
