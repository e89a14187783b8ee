/** What a page is called: in the tab of the browser, and where one goes back to it. */

import type { Route } from '../router/routes.js'
import type { State } from '../store/model.js'
import { listIssues, listProjects } from '../store/queries.js'

export function titleOf(state: State, route: Route): string {
  switch (route.view) {
    case 'issues':
      return 'Issues'
    case 'board':
      return 'Board'
    case 'projects':
      return 'Projects'
    case 'project':
      return (
        listProjects(state).find((project) => project.id === route.projectId)?.name ??
        'Nothing to see'
      )
    case 'issue':
    case 'edit': {
      const issue = listIssues(state).find((one) => one.id === route.issueId)
      return issue ? `${issue.id} ${issue.title}` : 'Nothing to see'
    }
    case 'new':
      return 'New issue'
    case 'unknown':
      return 'Nothing to see'
  }
}
