/** The state as text. What an older version or somebody's hand has left there is read with care. */

import * as z from 'zod'
import { PRIORITIES, STATUSES, type State } from './model.js'

const VERSION = 1

const change = z.object({
  at: z.string(),
  userId: z.string(),
  via: z.enum(['person', 'agent']),
  said: z.string(),
})

const issue = z.object({
  id: z.string(),
  tenantId: z.string(),
  projectId: z.string(),
  title: z.string(),
  description: z.string(),
  status: z.enum(STATUSES),
  priority: z.enum(PRIORITIES),
  assigneeId: z.string().nullable(),
  createdBy: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  history: z.array(change),
})

const saved = z.object({
  version: z.literal(VERSION),
  userId: z.string().nullable(),
  tenantId: z.string(),
  issues: z.array(issue),
  lastNumbers: z.record(z.string(), z.number().int()),
})

export function printState(state: State): string {
  return JSON.stringify({ version: VERSION, ...state })
}

/** The state, or null where the text is none of this version. */
export function parseState(text: string): State | null {
  try {
    const { version: _, ...state } = saved.parse(JSON.parse(text))
    return state
  } catch {
    return null
  }
}
