/** All issues of the workspace, narrowed by filters. */

import { useTracker, useViewer } from '../app/app.js'
import { Empty } from '../parts/Empty.js'
import { FilterBar } from '../parts/FilterBar.js'
import { IssueRow } from '../parts/IssueRow.js'
import { Link } from '../router/Link.js'
import { mayChange } from '../store/access.js'
import { type Filters, listIssues } from '../store/queries.js'
import { issueCount } from '../store/words.js'

export function IssuesPage({ filters }: { readonly filters: Filters }) {
  const state = useTracker()
  const viewer = useViewer()
  const issues = listIssues(state, filters)
  const narrowed = Object.values(filters).some(Boolean)

  return (
    <>
      <header className="page-head">
        <h1>Issues</h1>
        <p className="count" role="status">
          {issueCount(issues.length)}
        </p>
      </header>
      <FilterBar view="issues" filters={filters} />
      {issues.length > 0 && (
        <ul className="rows">
          {issues.map((issue) => (
            <IssueRow key={issue.id} issue={issue} />
          ))}
        </ul>
      )}
      {issues.length === 0 && narrowed && (
        <Empty
          title="No issue fits"
          words="Nothing has all of what you picked. Take a filter away."
        >
          <Link className="button" to={{ view: 'issues', filters: {} }}>
            Show all issues
          </Link>
        </Empty>
      )}
      {issues.length === 0 && !narrowed && (
        <Empty
          title="No issues yet"
          words={`What is to be done in ${viewer.tenant.name} will stand here.`}
        >
          {mayChange(viewer) && (
            <Link className="button primary" to={{ view: 'new' }}>
              Write the first one
            </Link>
          )}
        </Empty>
      )}
    </>
  )
}
