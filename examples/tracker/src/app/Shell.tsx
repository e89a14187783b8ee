/** The layout that stays: navigation, one page, and the assistant beside or above it. */

import { useEffect, useRef, useState } from 'react'
import type { Talk } from '../agent/useConversation.js'
import { AccountMenu } from '../parts/AccountMenu.js'
import { Icon } from '../parts/Icon.js'
import { Navigation } from '../parts/Navigation.js'
import { Link } from '../router/Link.js'
import type { Place } from '../router/router.js'
import { mayChange } from '../store/access.js'
import { Assistant } from './Assistant.js'
import { usePlace, useTracker, useViewer } from './app.js'
import { Page } from './Page.js'
import { titleOf } from './titles.js'

/** As wide as the page, the assistant and the navigation need side by side. */
const WIDE = '(min-width: 1180px)'

export function Shell({ talk }: { readonly talk: Talk }) {
  const state = useTracker()
  const viewer = useViewer()
  const place = usePlace()
  const main = useRef<HTMLElement>(null)
  const [assistant, setAssistant] = useState(() => window.matchMedia(WIDE).matches)
  const title = titleOf(state, place.route)

  useEffect(() => {
    document.title = `${title} · ${viewer.tenant.name}`
  }, [title, viewer.tenant.name])

  const shown = useRef(place)
  useEffect(() => {
    const before = shown.current
    shown.current = place
    if (!main.current || place.by === 'history' || isSamePage(before, place)) {
      return
    }
    main.current.scrollTop = 0
    // Who goes there goes on there. When the agent does, the person may be in the middle of a word.
    if (place.by === 'person') {
      main.current.focus({ preventScroll: true })
    }
  }, [place])

  useEffect(() => {
    // A link in the chat leads to a page that the chat covers on a small screen.
    if (place.by === 'person' && !window.matchMedia(WIDE).matches) {
      setAssistant(false)
    }
  }, [place])

  function close(): void {
    setAssistant(false)
    // The button that had the focus goes with the panel.
    requestAnimationFrame(() => main.current?.focus({ preventScroll: true }))
  }

  return (
    <div className="shell" data-assistant={assistant ? 'open' : 'closed'}>
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <header className="rail">
        <p className="brand">
          <Icon name="mark" /> Tracker
        </p>
        <Navigation
          assistant={assistant}
          onAssistant={() => setAssistant((before) => !before)}
          waits={talk.open !== null}
        />
        {mayChange(viewer) && (
          <Link className="button primary" to={{ view: 'new' }}>
            <Icon name="plus" /> New issue
          </Link>
        )}
        <AccountMenu />
      </header>
      <main id="page" ref={main} tabIndex={-1}>
        <Page place={place} />
      </main>
      <Assistant talk={talk} open={assistant} behind={title} onClose={close} />
      <p className="unseen" role="status">
        {place.by === 'agent' ? `The assistant opened: ${title}` : ''}
      </p>
    </div>
  )
}

/** Another filter is the same page, and who types in one goes on typing. */
function isSamePage(one: Place, other: Place): boolean {
  return one.url.split('?')[0] === other.url.split('?')[0]
}
