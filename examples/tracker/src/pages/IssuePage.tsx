/** One issue: what it is, its properties to change at once, and what has become of it. */

import { useEffect, useId } from 'react'
import { useApp, useEstimate, useTracker, useViewer } from '../app/app.js'
import { AssigneeChoice, EstimateChoice, PriorityChoice, StatusChoice } from '../parts/choices.js'
import { DeleteIssue } from '../parts/DeleteIssue.js'
import { History } from '../parts/History.js'
import { useAttempt } from '../parts/useAttempt.js'
import { Link } from '../router/Link.js'
import { mayChange, mayDelete } from '../store/access.js'
import type { Issue } from '../store/model.js'
import { assignIssue, type IssueChanges, updateIssue } from '../store/mutations.js'
import { assignable, findProject } from '../store/queries.js'

export function IssuePage({ issue }: { readonly issue: Issue }) {
  const viewer = useViewer()
  const project = findProject(useTracker(), issue.projectId)

  return (
    <article className="issue">
      <header className="page-head">
        <p className="crumbs">
          <Link to={{ view: 'project', projectId: project.id }}>{project.name}</Link>
          <span aria-hidden="true">/</span> {issue.id}
        </p>
        <h1>{issue.title}</h1>
        <div className="page-acts">
          {mayChange(viewer) && (
            <Link className="button" to={{ view: 'edit', issueId: issue.id }}>
              Edit
            </Link>
          )}
          {mayDelete(viewer) && <DeleteIssue issue={issue} />}
        </div>
      </header>
      <div className="issue-body">
        <div className="issue-text">
          {issue.description ? (
            <p className="description">{issue.description}</p>
          ) : (
            <p className="hint">No description.</p>
          )}
          <History changes={issue.history} />
        </div>
        <Properties issue={issue} />
      </div>
    </article>
  )
}

function Properties({ issue }: { readonly issue: Issue }) {
  const { store, estimates } = useApp()
  const state = useTracker()
  const fixed = !mayChange(useViewer())
  const estimate = useEstimate(issue.id)
  const { refusal, busy, attempt } = useAttempt()
  const id = useId()
  const change = (changes: IssueChanges) =>
    attempt(() => updateIssue(store, issue.id, changes, 'person'))

  useEffect(() => {
    // The server may know a newer one than the list that was read on arrival.
    estimates.read(issue.id).catch(() => {})
  }, [estimates, issue.id])

  return (
    <section className="properties" aria-label="Properties">
      <label htmlFor={`${id}-status`}>Status</label>
      <StatusChoice
        id={`${id}-status`}
        value={issue.status}
        disabled={fixed}
        onChange={(status) => change({ status })}
      />
      <label htmlFor={`${id}-priority`}>Priority</label>
      <PriorityChoice
        id={`${id}-priority`}
        value={issue.priority}
        disabled={fixed}
        onChange={(priority) => change({ priority })}
      />
      <label htmlFor={`${id}-assignee`}>Assignee</label>
      <AssigneeChoice
        id={`${id}-assignee`}
        value={issue.assigneeId}
        members={assignable(state, findProject(state, issue.projectId))}
        disabled={fixed}
        onChange={(to) => attempt(() => assignIssue(store, issue.id, to, 'person'))}
      />
      <label htmlFor={`${id}-estimate`}>Estimate</label>
      <EstimateChoice
        id={`${id}-estimate`}
        value={estimate?.points ?? null}
        disabled={fixed || busy}
        onChange={(points) => attempt(() => estimates.save(issue.id, points))}
      />
      {refusal && (
        <p className="refusal" role="alert">
          {refusal}
        </p>
      )}
      {fixed && <p className="hint">You may read issues here, not change them.</p>}
    </section>
  )
}
