/** What every part of the app stands on, handed down once; hooks read it as it is now. */

import { createContext, useContext, useMemo, useSyncExternalStore } from 'react'
import type { Ask } from '../api/ask.js'
import { type Estimate, type Estimates, keyOf } from '../api/estimates.js'
import type { Place, Router } from '../router/router.js'
import { type Viewer, viewerOf } from '../store/access.js'
import type { State } from '../store/model.js'
import type { Store } from '../store/store.js'

export interface App {
  readonly store: Store
  readonly router: Router
  readonly estimates: Estimates
  readonly ask: Ask
}

export const AppContext = createContext<App | null>(null)

export function useApp(): App {
  const app = useContext(AppContext)
  if (!app) {
    throw new Error('useApp is called outside of AppContext')
  }
  return app
}

export function useTracker(): State {
  const { store } = useApp()
  return useSyncExternalStore(store.subscribe, store.getState)
}

/** The signed-in person; only for what is drawn once somebody is. */
export function useViewer(): Viewer {
  const state = useTracker()
  return useMemo(() => viewerOf(state), [state])
}

export function usePlace(): Place {
  const { router } = useApp()
  return useSyncExternalStore(router.subscribe, router.getPlace)
}

/** The estimate of an issue as it is known so far. */
export function useEstimate(issueId: string): Estimate | undefined {
  const { estimates } = useApp()
  const { tenantId } = useTracker()
  return useSyncExternalStore(estimates.subscribe, estimates.getKnown).get(keyOf(tenantId, issueId))
}
