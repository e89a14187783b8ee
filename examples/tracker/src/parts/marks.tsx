/** Signs of status and priority: told apart by shape, and always with their word at hand. */

import type { Priority, Status } from '../store/model.js'
import { PRIORITY_WORDS, STATUS_WORDS } from '../store/words.js'

/** How much of the circle is filled. */
const FILLED: Readonly<Record<Status, number>> = {
  backlog: 0,
  todo: 0,
  in_progress: 0.5,
  in_review: 0.75,
  done: 1,
}
/** Once around a circle of radius 2.5. */
const AROUND = 2 * Math.PI * 2.5

export function StatusMark({ status }: { readonly status: Status }) {
  return (
    <svg className={`mark status-${status}`} viewBox="0 0 16 16" role="img">
      <title>{STATUS_WORDS[status]}</title>
      <circle className="ring" cx="8" cy="8" r="6" />
      {status === 'done' ? (
        <path className="tick" d="M5 8.2 7.2 10.4 11 6" />
      ) : (
        <circle
          className="pie"
          cx="8"
          cy="8"
          r="2.5"
          strokeDasharray={`${AROUND * FILLED[status]} ${AROUND}`}
          transform="rotate(-90 8 8)"
        />
      )}
    </svg>
  )
}

const BARS: Readonly<Record<Exclude<Priority, 'urgent' | 'none'>, number>> = {
  high: 3,
  medium: 2,
  low: 1,
}

export function PriorityMark({ priority }: { readonly priority: Priority }) {
  return (
    <svg className={`mark priority-${priority}`} viewBox="0 0 16 16" role="img">
      <title>{PRIORITY_WORDS[priority]}</title>
      {priority === 'urgent' && (
        <>
          <rect className="plate" x="2" y="2" width="12" height="12" rx="3" />
          <path className="shout" d="M8 5v3.5M8 11v.2" />
        </>
      )}
      {priority === 'none' && <path className="dash" d="M4 8h8" />}
      {priority !== 'urgent' &&
        priority !== 'none' &&
        [1, 2, 3].map((bar) => (
          <rect
            key={bar}
            className={bar <= BARS[priority] ? 'bar' : 'bar off'}
            x={bar * 4 - 2}
            y={12 - bar * 3}
            width="3"
            height={bar * 3 + 1}
            rx="1"
          />
        ))}
    </svg>
  )
}
