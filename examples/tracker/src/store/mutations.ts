/**
 * Every change of an issue. The form, the board, the picker in the chat and the agent's tools all
 * come through here, so that all of them are checked, kept and shown in the same way.
 */

import { requireChange, requireDelete, viewerOf } from './access.js'
import type { Change, Issue, Priority, State, Status, Via } from './model.js'
import { assignable, findIssue, findMember, findProject } from './queries.js'
import { Refused } from './refused.js'
import type { Store } from './store.js'
import { PRIORITY_WORDS, STATUS_WORDS } from './words.js'
import { personName, TENANTS, tenantsOf } from './workspaces.js'

export const MAX_TITLE = 120
export const MAX_DESCRIPTION = 4000
const KEPT_HISTORY = 30

export interface NewIssue {
  readonly projectId: string
  readonly title: string
  readonly description?: string
  readonly status?: Status
  readonly priority?: Priority
  readonly assigneeId?: string | null
}

/** What of an issue can change; what is left out stays. */
export type IssueChanges = Partial<
  Pick<Issue, 'title' | 'description' | 'status' | 'priority' | 'assigneeId'>
>

export function createIssue(store: Store, wish: NewIssue, via: Via): Issue {
  return committed(store, (state) => {
    const viewer = viewerOf(state)
    requireChange(viewer)
    const project = findProject(state, wish.projectId)
    const number = (state.lastNumbers[project.id] ?? 0) + 1
    const at = store.now()
    const issue: Issue = {
      id: `${project.id}-${number}`,
      tenantId: viewer.tenant.id,
      projectId: project.id,
      title: checkedTitle(wish.title),
      description: checkedDescription(wish.description ?? ''),
      status: wish.status ?? 'todo',
      priority: wish.priority ?? 'none',
      assigneeId: checkedAssignee(state, project.id, wish.assigneeId ?? null),
      createdBy: viewer.member.id,
      createdAt: at,
      updatedAt: at,
      history: [{ at, userId: viewer.member.id, via, said: 'created the issue' }],
    }
    const lastNumbers = { ...state.lastNumbers, [project.id]: number }
    return [{ ...state, lastNumbers, issues: [...state.issues, issue] }, issue]
  })
}

export function updateIssue(store: Store, id: string, wish: IssueChanges, via: Via): Issue {
  return committed(store, (state) => {
    const viewer = viewerOf(state)
    const issue = findIssue(state, id)
    requireChange(viewer)
    const changes = checked(state, issue, wish)
    const at = store.now()
    const history = sentences(issue, changes).map(
      (said): Change => ({ at, userId: viewer.member.id, via, said }),
    )
    if (history.length === 0) {
      return [state, issue]
    }
    const next: Issue = {
      ...issue,
      ...changes,
      updatedAt: at,
      history: [...history, ...issue.history].slice(0, KEPT_HISTORY),
    }
    const issues = state.issues.map((one) => (one === issue ? next : one))
    return [{ ...state, issues }, next]
  })
}

/** Gives an issue to a member, or with null to nobody. */
export function assignIssue(store: Store, id: string, to: string | null, via: Via): Issue {
  return updateIssue(store, id, { assigneeId: to }, via)
}

export function deleteIssue(store: Store, id: string): Issue {
  return committed(store, (state) => {
    const issue = findIssue(state, id)
    requireDelete(viewerOf(state))
    return [{ ...state, issues: state.issues.filter((one) => one !== issue) }, issue]
  })
}

/** Somebody is signed in, as the server says; they stay in a tenant that they belong to. */
export function signedIn(store: Store, userId: string | null): void {
  store.commit((state) => {
    const theirs = userId === null ? TENANTS : tenantsOf(userId)
    const tenantId = theirs.some((tenant) => tenant.id === state.tenantId)
      ? state.tenantId
      : (theirs[0]?.id ?? state.tenantId)
    const same = userId === state.userId && tenantId === state.tenantId
    return same ? state : { ...state, userId, tenantId }
  })
}

export function switchTenant(store: Store, tenantId: string): void {
  store.commit((state) => {
    if (!tenantsOf(state.userId ?? '').some((tenant) => tenant.id === tenantId)) {
      throw new Refused('You have no workspace of this name.')
    }
    return { ...state, tenantId }
  })
}

function committed<Result>(store: Store, change: (state: State) => [State, Result]): Result {
  let result: Result | undefined
  store.commit((state) => {
    const [next, made] = change(state)
    result = made
    return next
  })
  return result as Result
}

function checked(state: State, issue: Issue, wish: IssueChanges): IssueChanges {
  return {
    ...(wish.title === undefined ? {} : { title: checkedTitle(wish.title) }),
    ...(wish.description === undefined
      ? {}
      : { description: checkedDescription(wish.description) }),
    ...(wish.status === undefined ? {} : { status: wish.status }),
    ...(wish.priority === undefined ? {} : { priority: wish.priority }),
    ...(wish.assigneeId === undefined
      ? {}
      : { assigneeId: checkedAssignee(state, issue.projectId, wish.assigneeId) }),
  }
}

function checkedTitle(given: string): string {
  const title = given.replace(/\s+/g, ' ').trim()
  if (!title) {
    throw new Refused('An issue needs a title.', 'title')
  }
  if (title.length > MAX_TITLE) {
    throw new Refused(
      `A title has at most ${MAX_TITLE} characters; this one has ${title.length}.`,
      'title',
    )
  }
  return title
}

function checkedDescription(given: string): string {
  const description = given.trim()
  if (description.length > MAX_DESCRIPTION) {
    throw new Refused(
      `A description has at most ${MAX_DESCRIPTION} characters; this one has ${description.length}.`,
      'description',
    )
  }
  return description
}

function checkedAssignee(state: State, projectId: string, id: string | null): string | null {
  if (id === null) {
    return null
  }
  const member = findMember(state, id)
  const project = findProject(state, projectId)
  if (!assignable(state, project).some((one) => one.id === member.id)) {
    throw new Refused(`${member.name} may not change issues of ${project.name}.`, 'assigneeId')
  }
  return member.id
}

/** What has changed, in words; nothing where all is as it was. */
function sentences(issue: Issue, next: IssueChanges): string[] {
  const said: string[] = []
  if (next.title !== undefined && next.title !== issue.title) {
    said.push('changed the title')
  }
  if (next.description !== undefined && next.description !== issue.description) {
    said.push('changed the description')
  }
  if (next.status !== undefined && next.status !== issue.status) {
    said.push(`set the status to ${STATUS_WORDS[next.status]}`)
  }
  if (next.priority !== undefined && next.priority !== issue.priority) {
    said.push(`set the priority to ${PRIORITY_WORDS[next.priority]}`)
  }
  if (next.assigneeId !== undefined && next.assigneeId !== issue.assigneeId) {
    said.push(next.assigneeId ? `assigned ${personName(next.assigneeId)}` : 'assigned nobody')
  }
  return said
}
