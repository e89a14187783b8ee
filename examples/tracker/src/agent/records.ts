/** Records as the agent reads them: ids with names beside them, and the URL that shows each. */

import { urlOf } from '../router/routes.js'
import type { Issue, State } from '../store/model.js'
import { findProject } from '../store/queries.js'
import { type Project, personName } from '../store/workspaces.js'

const named = (id: string | null) => (id === null ? null : { id, name: personName(id) })

/** An issue in a list. */
export function issueLine(issue: Issue) {
  return {
    id: issue.id,
    title: issue.title,
    status: issue.status,
    priority: issue.priority,
    projectId: issue.projectId,
    assignee: named(issue.assigneeId),
    updatedAt: issue.updatedAt,
    url: urlOf({ view: 'issue', issueId: issue.id }),
  }
}

/** An issue with all that there is. */
export function issueRecord(state: State, issue: Issue) {
  return {
    ...issueLine(issue),
    description: issue.description,
    project: projectRecord(findProject(state, issue.projectId)),
    createdBy: named(issue.createdBy),
    createdAt: issue.createdAt,
    lastChanges: issue.history.slice(0, 5).map((change) => ({
      at: change.at,
      said: `${personName(change.userId)} ${change.said}`,
      byAgent: change.via === 'agent',
    })),
  }
}

export function projectRecord(project: Project) {
  return {
    id: project.id,
    name: project.name,
    summary: project.summary,
    url: urlOf({ view: 'project', projectId: project.id }),
  }
}
