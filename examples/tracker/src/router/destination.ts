/** Whether the current user may open an address: asked by the pages, and by the agent's tool. */

import { requireChange, viewerOf } from '../store/access.js'
import type { State } from '../store/model.js'
import { findIssue, findMember, findProject } from '../store/queries.js'
import { Refused } from '../store/refused.js'
import { type Route, routeOf } from './routes.js'

/** What a URL shows to the current user; throws `Refused` where it shows them nothing. */
export function destination(state: State, url: string): Route {
  const route = routeOf(url)
  requireOpen(state, route)
  return route
}

/** Throws `Refused` where the current user may not open a view, or there is no such record. */
export function requireOpen(state: State, route: Route): void {
  switch (route.view) {
    case 'issues':
    case 'board':
      if (route.filters.project !== undefined) {
        findProject(state, route.filters.project)
      }
      if (route.filters.assignee !== undefined && route.filters.assignee !== 'none') {
        findMember(state, route.filters.assignee)
      }
      return
    case 'project':
      findProject(state, route.projectId)
      return
    case 'issue':
      findIssue(state, route.issueId)
      return
    case 'edit':
      findIssue(state, route.issueId)
      requireChange(viewerOf(state))
      return
    case 'new':
      if (route.projectId !== undefined) {
        findProject(state, route.projectId)
      }
      requireChange(viewerOf(state))
      return
    case 'projects':
      return
    case 'unknown':
      throw new Refused('This is no address of the tracker.')
  }
}
