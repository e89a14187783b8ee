/** Issues by status. A card is dragged to another column, or sent there by its choice. */

import { type DragEvent, useState } from 'react'
import { useApp, useTracker, useViewer } from '../app/app.js'
import { Avatar } from '../parts/Avatar.js'
import { StatusChoice } from '../parts/choices.js'
import { FilterBar } from '../parts/FilterBar.js'
import { PriorityMark, StatusMark } from '../parts/marks.js'
import { useAttempt } from '../parts/useAttempt.js'
import { Link } from '../router/Link.js'
import { mayChange } from '../store/access.js'
import type { Issue, Status } from '../store/model.js'
import { updateIssue } from '../store/mutations.js'
import { byStatus, type Filters, listIssues } from '../store/queries.js'
import { STATUS_WORDS } from '../store/words.js'

const DRAGGED = 'application/x-tracker-issue'

export function BoardPage({ filters }: { readonly filters: Filters }) {
  const { store } = useApp()
  const state = useTracker()
  const viewer = useViewer()
  const { refusal, attempt } = useAttempt()
  const [over, setOver] = useState<Status | null>(null)
  const columns = byStatus(listIssues(state, filters))
  const movable = mayChange(viewer)
  const move = (id: string, status: Status) =>
    attempt(() => updateIssue(store, id, { status }, 'person'))

  function drop(event: DragEvent, status: Status): void {
    event.preventDefault()
    setOver(null)
    const id = event.dataTransfer.getData(DRAGGED)
    if (id) {
      move(id, status)
    }
  }

  return (
    <>
      <header className="page-head">
        <h1>Board</h1>
      </header>
      <FilterBar view="board" filters={filters} />
      {refusal && (
        <p className="refusal" role="alert">
          {refusal}
        </p>
      )}
      <div className="board">
        {columns.map(({ status, issues }) => (
          <section
            key={status}
            aria-label={STATUS_WORDS[status]}
            data-over={over === status}
            onDragOver={(event) => {
              if (movable && event.dataTransfer.types.includes(DRAGGED)) {
                event.preventDefault()
                setOver(status)
              }
            }}
            onDragLeave={() => setOver(null)}
            onDrop={(event) => drop(event, status)}
          >
            <h2>
              <StatusMark status={status} /> {STATUS_WORDS[status]} <small>{issues.length}</small>
            </h2>
            <ul>
              {issues.map((issue) => (
                <BoardCard
                  key={issue.id}
                  issue={issue}
                  movable={movable}
                  onMove={(to) => move(issue.id, to)}
                />
              ))}
            </ul>
            {issues.length === 0 && <p className="hint">Nothing here.</p>}
          </section>
        ))}
      </div>
    </>
  )
}

interface BoardCardProps {
  readonly issue: Issue
  readonly movable: boolean
  readonly onMove: (status: Status) => void
}

function BoardCard({ issue, movable, onMove }: BoardCardProps) {
  return (
    <li
      className="board-card"
      draggable={movable}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED, issue.id)
        event.dataTransfer.effectAllowed = 'move'
      }}
    >
      <Link to={{ view: 'issue', issueId: issue.id }}>
        <span className="row-id">
          <PriorityMark priority={issue.priority} /> {issue.id}
        </span>
        {issue.title}
      </Link>
      <footer>
        {movable && (
          <StatusChoice label={`Status of ${issue.id}`} value={issue.status} onChange={onMove} />
        )}
        <Avatar id={issue.assigneeId} />
      </footer>
    </li>
  )
}
