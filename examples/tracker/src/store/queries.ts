/**
 * Reads. An id is looked up among what the current user may see in the active tenant: that it has
 * the right form proves nothing, and what is not there and what is hidden look alike.
 */

import { maySee, viewerOf } from './access.js'
import {
  type Issue,
  PRIORITIES,
  type Priority,
  STATUSES,
  type State,
  type Status,
} from './model.js'
import { Refused } from './refused.js'
import type { Member, Project } from './workspaces.js'

export interface Filters {
  readonly status?: Status
  readonly priority?: Priority
  /** A member's id, or `none` for issues of nobody. */
  readonly assignee?: string
  readonly project?: string
  /** Words that must all be in the id, the title or the description. */
  readonly text?: string
}

export function listProjects(state: State): readonly Project[] {
  const { member, tenant } = viewerOf(state)
  return tenant.projects.filter((project) => maySee(member, project))
}

export function findProject(state: State, id: string): Project {
  const found = listProjects(state).find((project) => project.id === id)
  if (!found) {
    throw new Refused(
      `There is no project ${shown(id)} in ${viewerOf(state).tenant.name} that you may see.`,
      'projectId',
    )
  }
  return found
}

export function listMembers(state: State): readonly Member[] {
  return viewerOf(state).tenant.members
}

/** Who may be given issues of a project: whoever may change them, and sees the project. */
export function assignable(state: State, project: Project): readonly Member[] {
  return listMembers(state).filter((one) => one.role !== 'viewer' && maySee(one, project))
}

export function findMember(state: State, id: string): Member {
  const found = listMembers(state).find((member) => member.id === id)
  if (!found) {
    throw new Refused(
      `Nobody with the id ${shown(id)} belongs to ${viewerOf(state).tenant.name}.`,
      'assigneeId',
    )
  }
  return found
}

/** Issues that may be seen, the most urgent first, then the one that changed last. */
export function listIssues(state: State, filters: Filters = {}): readonly Issue[] {
  const { tenant } = viewerOf(state)
  const projects = new Set(listProjects(state).map((project) => project.id))
  const words = (filters.text ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return state.issues
    .filter(
      (issue) =>
        issue.tenantId === tenant.id &&
        projects.has(issue.projectId) &&
        matches(issue, filters) &&
        words.every((word) => textOf(issue).includes(word)),
    )
    .sort(
      (one, other) =>
        PRIORITIES.indexOf(one.priority) - PRIORITIES.indexOf(other.priority) ||
        other.updatedAt.localeCompare(one.updatedAt) ||
        one.id.localeCompare(other.id),
    )
}

export function findIssue(state: State, id: string): Issue {
  const found = listIssues(state).find((issue) => issue.id === id)
  if (!found) {
    throw new Refused(
      `There is no issue ${shown(id)} in ${viewerOf(state).tenant.name} that you may see.`,
    )
  }
  return found
}

/** Issues by status, in the order of the work. */
export function byStatus(
  issues: readonly Issue[],
): readonly { status: Status; issues: readonly Issue[] }[] {
  return STATUSES.map((status) => ({
    status,
    issues: issues.filter((issue) => issue.status === status),
  }))
}

function matches(issue: Issue, filters: Filters): boolean {
  const { status, priority, assignee, project } = filters
  return (
    (status === undefined || issue.status === status) &&
    (priority === undefined || issue.priority === priority) &&
    (project === undefined || issue.projectId === project) &&
    (assignee === undefined || (issue.assigneeId ?? 'none') === assignee)
  )
}

function textOf(issue: Issue): string {
  return `${issue.id}\n${issue.title}\n${issue.description}`.toLowerCase()
}

/** An id as it may stand in a sentence, however long it was. */
function shown(id: string): string {
  return id.length > 40 ? `${id.slice(0, 40)}…` : id
}
