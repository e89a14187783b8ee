/** The page of a place, or why it cannot be opened: by the same check as the agent's tool. */

import { BoardPage } from '../pages/BoardPage.js'
import { IssueFormPage } from '../pages/IssueFormPage.js'
import { IssuePage } from '../pages/IssuePage.js'
import { IssuesPage } from '../pages/IssuesPage.js'
import { ProjectPage } from '../pages/ProjectPage.js'
import { ProjectsPage } from '../pages/ProjectsPage.js'
import { Empty } from '../parts/Empty.js'
import { requireOpen } from '../router/destination.js'
import { Link } from '../router/Link.js'
import type { Place } from '../router/router.js'
import type { Route } from '../router/routes.js'
import type { State } from '../store/model.js'
import { findIssue, findProject } from '../store/queries.js'
import { wordsOf } from '../store/refused.js'
import { useTracker } from './app.js'

export function Page({ place }: { readonly place: Place }) {
  const state = useTracker()
  const refusal = refusalOf(state, place.route)
  if (refusal) {
    return (
      <Empty heading="h1" title="Nothing to see here" words={refusal}>
        <Link className="button" to={{ view: 'issues', filters: {} }}>
          All issues
        </Link>
      </Empty>
    )
  }
  return pageOf(state, place.route)
}

function refusalOf(state: State, route: Route): string | null {
  try {
    requireOpen(state, route)
    return null
  } catch (error) {
    return wordsOf(error)
  }
}

function pageOf(state: State, route: Route) {
  switch (route.view) {
    case 'issues':
      return <IssuesPage filters={route.filters} />
    case 'board':
      return <BoardPage filters={route.filters} />
    case 'projects':
      return <ProjectsPage />
    case 'project':
      return <ProjectPage project={findProject(state, route.projectId)} />
    case 'issue':
      return <IssuePage key={route.issueId} issue={findIssue(state, route.issueId)} />
    case 'edit':
      return <IssueFormPage key={route.issueId} issue={findIssue(state, route.issueId)} />
    case 'new':
      return (
        <IssueFormPage
          key={`new ${route.projectId ?? ''}`}
          {...(route.projectId === undefined ? {} : { projectId: route.projectId })}
        />
      )
    case 'unknown':
      return null
  }
}
