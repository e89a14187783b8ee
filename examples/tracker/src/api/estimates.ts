/**
 * Estimates, which the server keeps. What is shown and what the agent is told is what the server
 * answered, never what it was asked for: it may know better, and it may refuse.
 */

import * as z from 'zod'
import { requireChange, viewerOf } from '../store/access.js'
import { findIssue } from '../store/queries.js'
import type { Store } from '../store/store.js'
import type { Ask } from './ask.js'

export const POINTS = [1, 2, 3, 5, 8, 13, 21] as const

const estimate = z.object({
  issueId: z.string(),
  /** Null where there is none, or it was taken back. */
  points: z.number().nullable(),
  version: z.number(),
  savedBy: z.string().nullable(),
  savedAt: z.string().nullable(),
})
const savedEstimate = estimate.extend({
  project: z.object({ id: z.string(), points: z.number() }),
})
const list = z.object({ items: z.array(estimate) })

export type Estimate = z.infer<typeof estimate>
export type SavedEstimate = z.infer<typeof savedEstimate>

export interface Estimates {
  /** What was read so far, by tenant and issue. */
  getKnown: () => ReadonlyMap<string, Estimate>
  subscribe: (listener: () => void) => () => void
  /** Reads all that the current user may see in the active tenant. */
  load: () => Promise<void>
  read: (issueId: string) => Promise<Estimate>
  /** Saves one, with null takes it back; by the same rights as any change of the issue. */
  save: (issueId: string, points: number | null) => Promise<SavedEstimate>
}

export function createEstimates(store: Store, ask: Ask): Estimates {
  const listeners = new Set<() => void>()
  let known: ReadonlyMap<string, Estimate> = new Map()

  function learn(tenantId: string, found: readonly Estimate[]): void {
    known = new Map([...known, ...found.map((one) => [keyOf(tenantId, one.issueId), one] as const)])
    for (const listener of [...listeners]) {
      listener()
    }
  }

  function pathOf(issueId: string): { tenantId: string; path: string } {
    const state = store.getState()
    const { id } = findIssue(state, issueId)
    const tenantId = viewerOf(state).tenant.id
    return { tenantId, path: `/api/estimates/${tenantId}/${id}` }
  }

  return {
    getKnown: () => known,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async load() {
      const tenantId = viewerOf(store.getState()).tenant.id
      const { items } = await ask(list, 'GET', `/api/estimates/${tenantId}`)
      learn(tenantId, items)
    },
    async read(issueId) {
      const { tenantId, path } = pathOf(issueId)
      const found = await ask(estimate, 'GET', path)
      learn(tenantId, [found])
      return found
    },
    async save(issueId, points) {
      const { tenantId, path } = pathOf(issueId)
      requireChange(viewerOf(store.getState()))
      const saved = await ask(savedEstimate, 'PUT', path, { points })
      learn(tenantId, [saved])
      return saved
    },
  }
}

/** Two tenants may have issues of one id. */
export function keyOf(tenantId: string, issueId: string): string {
  return `${tenantId}/${issueId}`
}
