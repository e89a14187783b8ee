/** The words that people read for what the data calls otherwise. */

import type { Priority, Status } from './model.js'
import type { Role } from './workspaces.js'

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  backlog: 'Backlog',
  todo: 'To do',
  in_progress: 'In progress',
  in_review: 'In review',
  done: 'Done',
}

export const PRIORITY_WORDS: Readonly<Record<Priority, string>> = {
  urgent: 'Urgent',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  none: 'No priority',
}

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  admin: 'Admin',
  member: 'Member',
  viewer: 'Viewer',
}

/** "1 issue", "3 issues". */
export function issueCount(count: number): string {
  return `${count} ${count === 1 ? 'issue' : 'issues'}`
}

/** A moment as people say it: today's by the time, others by the day. */
export function when(at: string, now: Date): string {
  const then = new Date(at)
  if (then.toDateString() === now.toDateString()) {
    return then.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false })
  }
  const sameYear = then.getFullYear() === now.getFullYear()
  return then.toLocaleDateString('en', {
    day: 'numeric',
    month: 'short',
    ...(sameYear ? {} : { year: 'numeric' }),
  })
}
