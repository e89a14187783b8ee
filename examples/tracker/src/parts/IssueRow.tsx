/** One issue in a list, as one link. */

import { Link } from '../router/Link.js'
import type { Issue } from '../store/model.js'
import { STATUS_WORDS, when } from '../store/words.js'
import { Avatar } from './Avatar.js'
import { PriorityMark, StatusMark } from './marks.js'

export function IssueRow({ issue }: { readonly issue: Issue }) {
  return (
    <li>
      <Link className="row" to={{ view: 'issue', issueId: issue.id }}>
        <PriorityMark priority={issue.priority} />
        <span className="row-id">{issue.id}</span>
        <span className="row-title">{issue.title}</span>
        <span className="row-status">
          <StatusMark status={issue.status} />
          <span aria-hidden="true">{STATUS_WORDS[issue.status]}</span>
        </span>
        <time dateTime={issue.updatedAt}>{when(issue.updatedAt, new Date())}</time>
        <Avatar id={issue.assigneeId} />
      </Link>
    </li>
  )
}
