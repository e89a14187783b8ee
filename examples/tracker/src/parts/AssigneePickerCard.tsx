/** Picks who has an issue, in the chat, by the same function as the issue's page. */

import { useApp, useTracker } from '../app/app.js'
import { Link } from '../router/Link.js'
import { mayChange, viewerOf } from '../store/access.js'
import { assignIssue } from '../store/mutations.js'
import { assignable, findProject, listIssues } from '../store/queries.js'
import { Avatar } from './Avatar.js'
import { GoneCard } from './GoneCard.js'
import { useAttempt } from './useAttempt.js'

export function AssigneePickerCard({ id }: { readonly id: string }) {
  const { store } = useApp()
  const state = useTracker()
  const { refusal, attempt } = useAttempt()
  const issue = state.userId === null ? undefined : listIssues(state).find((one) => one.id === id)
  if (!issue) {
    return <GoneCard id={id} />
  }
  const people = assignable(state, findProject(state, issue.projectId))
  const fixed = !mayChange(viewerOf(state))
  const choices = [...people.map(({ id, name }) => ({ id, name })), { id: null, name: 'Nobody' }]

  return (
    <fieldset className="card picker">
      <legend>
        Who has <Link to={{ view: 'issue', issueId: issue.id }}>{issue.id}</Link>?
      </legend>
      {choices.map((one) => (
        <button
          key={one.id}
          type="button"
          aria-pressed={issue.assigneeId === one.id}
          disabled={fixed}
          onClick={() => attempt(() => assignIssue(store, issue.id, one.id, 'person'))}
        >
          <Avatar id={one.id} /> {one.name}
        </button>
      ))}
      {fixed && <p className="hint">You may read issues here, not change them.</p>}
      {refusal && (
        <p className="refusal" role="alert">
          {refusal}
        </p>
      )}
    </fieldset>
  )
}
