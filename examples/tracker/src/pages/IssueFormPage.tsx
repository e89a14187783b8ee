/** The form: a new issue, or another text for one that is there. */

import { type FormEvent, useEffect, useId, useState } from 'react'
import { useApp, useTracker } from '../app/app.js'
import { AssigneeChoice, PriorityChoice, StatusChoice } from '../parts/choices.js'
import { useAttempt } from '../parts/useAttempt.js'
import { Link } from '../router/Link.js'
import { urlOf } from '../router/routes.js'
import type { Issue } from '../store/model.js'
import { createIssue, type IssueChanges, MAX_TITLE, updateIssue } from '../store/mutations.js'
import { assignable, listProjects } from '../store/queries.js'

type Draft = Required<IssueChanges> & { readonly projectId: string }

interface IssueFormPageProps {
  /** Left out for a new one. */
  readonly issue?: Issue
  readonly projectId?: string
}

export function IssueFormPage({ issue, projectId }: IssueFormPageProps) {
  const { router, store } = useApp()
  const state = useTracker()
  const { refusal, field, attempt } = useAttempt()
  const id = useId()
  const projects = listProjects(state)
  const [first] = useState(
    (): Draft => ({
      projectId: issue?.projectId ?? projectId ?? projects[0]?.id ?? '',
      title: issue?.title ?? '',
      description: issue?.description ?? '',
      status: issue?.status ?? 'todo',
      priority: issue?.priority ?? 'none',
      assigneeId: issue?.assigneeId ?? null,
    }),
  )
  const [draft, setDraft] = useState(first)
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const project = projects.find((one) => one.id === draft.projectId)

  useEffect(() => {
    // Once it is refused, so that the person is where it can be mended.
    if (refusal && field) {
      document.getElementById(`${id}-${field}`)?.focus()
    }
  }, [refusal, field, id])

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault()
    let saved: Issue | undefined
    await attempt(() => {
      saved = issue
        ? updateIssue(store, issue.id, changedSince(first, draft), 'person')
        : createIssue(store, draft, 'person')
    })
    if (saved) {
      router.go(urlOf({ view: 'issue', issueId: saved.id }))
    }
  }

  const words = refusal && (
    <p id={`${id}-refusal`} className="refusal" role="alert">
      {refusal}
    </p>
  )
  const isPlaced = field === 'title' || field === 'description'
  /** Ties the words of a refusal to the field that they are about. */
  const marked = (name: string) =>
    field === name ? { 'aria-invalid': true, 'aria-describedby': `${id}-refusal` } : {}

  return (
    <form className="issue-form" onSubmit={save}>
      <h1>{issue ? `Edit ${issue.id}` : 'New issue'}</h1>
      {!issue && (
        <div className="field">
          <label htmlFor={`${id}-projectId`}>Project</label>
          <select
            id={`${id}-projectId`}
            value={draft.projectId}
            onChange={(event) => set({ projectId: event.target.value, assigneeId: null })}
          >
            {projects.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </div>
      )}
      <div className="field">
        <label htmlFor={`${id}-title`}>Title</label>
        <input
          id={`${id}-title`}
          value={draft.title}
          maxLength={MAX_TITLE}
          placeholder="What is to be done, in one line"
          onChange={(event) => set({ title: event.target.value })}
          {...marked('title')}
        />
        {field === 'title' && words}
      </div>
      <div className="field">
        <label htmlFor={`${id}-description`}>Description</label>
        <textarea
          id={`${id}-description`}
          rows={8}
          value={draft.description}
          onChange={(event) => set({ description: event.target.value })}
          {...marked('description')}
        />
        {field === 'description' && words}
      </div>
      <div className="field-row">
        <div className="field">
          <label htmlFor={`${id}-status`}>Status</label>
          <StatusChoice
            id={`${id}-status`}
            value={draft.status}
            onChange={(status) => set({ status })}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-priority`}>Priority</label>
          <PriorityChoice
            id={`${id}-priority`}
            value={draft.priority}
            onChange={(priority) => set({ priority })}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-assigneeId`}>Assignee</label>
          <AssigneeChoice
            id={`${id}-assigneeId`}
            value={draft.assigneeId}
            members={project ? assignable(state, project) : []}
            onChange={(assigneeId) => set({ assigneeId })}
          />
        </div>
      </div>
      {!isPlaced && words}
      <div className="form-acts">
        <button type="submit" className="button primary">
          {issue ? 'Save' : 'Create issue'}
        </button>
        <Link
          className="button quiet"
          to={issue ? { view: 'issue', issueId: issue.id } : { view: 'issues', filters: {} }}
        >
          Cancel
        </Link>
      </div>
    </form>
  )
}

/** What the person changed: a field that they left alone keeps what the agent has set since. */
function changedSince(first: Draft, draft: Draft): IssueChanges {
  const { projectId: _, ...fields } = draft
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== first[name as keyof Draft]),
  ) as IssueChanges
}
