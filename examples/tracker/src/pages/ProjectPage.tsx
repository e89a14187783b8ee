/** One project: what it is for, and its issues by status. */

import { useTracker, useViewer } from '../app/app.js'
import { Empty } from '../parts/Empty.js'
import { IssueRow } from '../parts/IssueRow.js'
import { Progress } from '../parts/Progress.js'
import { Link } from '../router/Link.js'
import { mayChange } from '../store/access.js'
import { byStatus, listIssues } from '../store/queries.js'
import { STATUS_WORDS } from '../store/words.js'
import type { Project } from '../store/workspaces.js'

export function ProjectPage({ project }: { readonly project: Project }) {
  const issues = listIssues(useTracker(), { project: project.id })
  const writes = mayChange(useViewer())
  const add = writes && (
    <Link className="button" to={{ view: 'new', projectId: project.id }}>
      New issue
    </Link>
  )

  return (
    <>
      <header className="page-head">
        <p className="crumbs">
          <Link to={{ view: 'projects' }}>Projects</Link>
          <span aria-hidden="true">/</span> {project.id}
        </p>
        <h1>{project.name}</h1>
        <div className="page-acts">{add}</div>
        <p className="summary">{project.summary}</p>
        <Progress issues={issues} />
      </header>
      {issues.length === 0 && (
        <Empty title="Nothing to do here" words="This project has no issues." />
      )}
      {byStatus(issues)
        .filter((group) => group.issues.length > 0)
        .map((group) => (
          <section key={group.status} className="group">
            <h2>
              {STATUS_WORDS[group.status]} <small>{group.issues.length}</small>
            </h2>
            <ul className="rows">
              {group.issues.map((issue) => (
                <IssueRow key={issue.id} issue={issue} />
              ))}
            </ul>
          </section>
        ))}
    </>
  )
}
