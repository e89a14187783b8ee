/** An issue in the chat: looked up at each draw, never the one of when it was first shown. */

import { useEstimate, useTracker } from '../app/app.js'
import { Link } from '../router/Link.js'
import { listIssues } from '../store/queries.js'
import { STATUS_WORDS } from '../store/words.js'
import { personName } from '../store/workspaces.js'
import { Avatar } from './Avatar.js'
import { GoneCard } from './GoneCard.js'
import { PriorityMark, StatusMark } from './marks.js'

export function IssueCard({ id }: { readonly id: string }) {
  const state = useTracker()
  const estimate = useEstimate(id)
  const issue = state.userId === null ? undefined : listIssues(state).find((one) => one.id === id)
  if (!issue) {
    return <GoneCard id={id} />
  }
  return (
    <article className="card">
      <p className="card-head">
        <PriorityMark priority={issue.priority} />
        <span>{issue.id}</span>
        <span className="card-status">
          <StatusMark status={issue.status} />
          <span aria-hidden="true">{STATUS_WORDS[issue.status]}</span>
        </span>
      </p>
      <h3>
        <Link to={{ view: 'issue', issueId: issue.id }}>{issue.title}</Link>
      </h3>
      <p className="card-foot">
        <Avatar id={issue.assigneeId} />
        <span>{issue.assigneeId ? personName(issue.assigneeId) : 'Nobody'}</span>
        {estimate?.points != null && (
          <span>{estimate.points === 1 ? '1 point' : `${estimate.points} points`}</span>
        )}
      </p>
    </article>
  )
}
