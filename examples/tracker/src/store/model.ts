/** What the tracker knows: issues, and who looks at them. Everything is plain JSON. */

export const STATUSES = ['backlog', 'todo', 'in_progress', 'in_review', 'done'] as const
export const PRIORITIES = ['urgent', 'high', 'medium', 'low', 'none'] as const

export type Status = (typeof STATUSES)[number]
export type Priority = (typeof PRIORITIES)[number]
/** Who carried out a change: the person in the UI, or the agent on the person's behalf. */
export type Via = 'person' | 'agent'

/** One line of an issue's history; `said` reads on after a name: "set the status to Done". */
export interface Change {
  readonly at: string
  readonly userId: string
  readonly via: Via
  readonly said: string
}

export interface Issue {
  /** The project's id and a number, as in WEB-12; never given to another issue again. */
  readonly id: string
  readonly tenantId: string
  readonly projectId: string
  readonly title: string
  readonly description: string
  readonly status: Status
  readonly priority: Priority
  readonly assigneeId: string | null
  readonly createdBy: string
  readonly createdAt: string
  readonly updatedAt: string
  /** Newest first. */
  readonly history: readonly Change[]
}

export interface State {
  /** Who is signed in, as the server has said; null before it has. */
  readonly userId: string | null
  readonly tenantId: string
  readonly issues: readonly Issue[]
  /** The last number that was given in each project. */
  readonly lastNumbers: Readonly<Record<string, number>>
}
