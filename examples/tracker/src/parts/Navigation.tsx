/** The few places of the app: a column on a large screen, a bar at the bottom of a small one. */

import { useRemit } from '@remit/sdk/react'
import { usePlace } from '../app/app.js'
import { Link } from '../router/Link.js'
import type { Route } from '../router/routes.js'
import { Icon, type IconName } from './Icon.js'

const PLACES: readonly { to: Route; words: string; icon: IconName; views: readonly string[] }[] = [
  {
    to: { view: 'issues', filters: {} },
    words: 'Issues',
    icon: 'list',
    views: ['issues', 'issue'],
  },
  { to: { view: 'board', filters: {} }, words: 'Board', icon: 'board', views: ['board'] },
  { to: { view: 'projects' }, words: 'Projects', icon: 'folder', views: ['projects', 'project'] },
]

interface NavigationProps {
  readonly assistant: boolean
  readonly onAssistant: () => void
  /** Whether there is a conversation that may wait for the person. */
  readonly waits: boolean
}

export function Navigation({ assistant, onAssistant, waits }: NavigationProps) {
  const { route } = usePlace()
  const { status } = useRemit()
  const asks = waits && status === 'waiting_human'

  return (
    <nav className="places" aria-label="Tracker">
      {PLACES.map(({ to, words, icon, views }) => (
        <Link key={words} to={to} aria-current={views.includes(route.view) ? 'page' : undefined}>
          <Icon name={icon} /> <span>{words}</span>
        </Link>
      ))}
      <button type="button" aria-pressed={assistant} onClick={onAssistant}>
        <Icon name="talk" /> <span>Assistant</span>
        {asks && <small>Waits for you</small>}
      </button>
    </nav>
  )
}
