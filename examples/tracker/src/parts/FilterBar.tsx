/** What a list is narrowed to. It stands in the address, so that it can be kept and sent on. */

import { useApp, useTracker } from '../app/app.js'
import { urlOf } from '../router/routes.js'
import { PRIORITIES, STATUSES } from '../store/model.js'
import { type Filters, listMembers, listProjects } from '../store/queries.js'
import { PRIORITY_WORDS, STATUS_WORDS } from '../store/words.js'
import { Icon } from './Icon.js'

/** A filter: its name, the word for no filter, and what can be picked, each with its word. */
type Choice = readonly [keyof Filters, string, readonly (readonly [string, string])[]]

interface FilterBarProps {
  readonly view: 'issues' | 'board'
  readonly filters: Filters
}

export function FilterBar({ view, filters }: FilterBarProps) {
  const { router } = useApp()
  const state = useTracker()

  function set(name: keyof Filters, value: string): void {
    const next = { ...filters, [name]: value || undefined } as Filters
    router.go(urlOf({ view, filters: next }), { replace: true })
  }

  const statuses: Choice = ['status', 'Any status', STATUSES.map((one) => [one, STATUS_WORDS[one]])]
  const choices: readonly Choice[] = [
    // On the board the columns are the statuses.
    ...(view === 'board' ? [] : [statuses]),
    ['priority', 'Any priority', PRIORITIES.map((one) => [one, PRIORITY_WORDS[one]])],
    [
      'assignee',
      'Anybody',
      [['none', 'Nobody'], ...listMembers(state).map((one) => [one.id, one.name] as const)],
    ],
    ['project', 'All projects', listProjects(state).map((one) => [one.id, one.name])],
  ]
  const narrowed = Object.values(filters).some(Boolean)

  return (
    <form className="filters" onSubmit={(event) => event.preventDefault()}>
      <label className="search">
        <Icon name="search" />
        <span className="unseen">Search issues</span>
        <input
          type="search"
          placeholder="Search"
          value={filters.text ?? ''}
          onChange={(event) => set('text', event.target.value)}
        />
      </label>
      <div className="filter-choices">
        {choices.map(([name, all, values]) => (
          <select
            key={name}
            aria-label={`Filter by ${name}`}
            data-set={filters[name] !== undefined}
            value={filters[name] ?? ''}
            onChange={(event) => set(name, event.target.value)}
          >
            <option value="">{all}</option>
            {values.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        ))}
        {narrowed && (
          <button
            type="button"
            className="button quiet"
            onClick={() => router.go(urlOf({ view, filters: {} }), { replace: true })}
          >
            Clear
          </button>
        )}
      </div>
    </form>
  )
}
