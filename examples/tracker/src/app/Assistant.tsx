/** The conversation: a panel beside the page, on a small screen above it. It is never unmounted. */

import { Chat } from '@remit/sdk/react'
import type { Talk } from '../agent/useConversation.js'
import { Icon } from '../parts/Icon.js'

interface AssistantProps {
  readonly talk: Talk
  readonly open: boolean
  /** What the page behind it is called. */
  readonly behind: string
  readonly onClose: () => void
}

export function Assistant({ talk, open, behind, onClose }: AssistantProps) {
  return (
    <aside className="assistant" aria-label="Assistant" hidden={!open}>
      <header>
        <button type="button" className="button quiet back" onClick={onClose}>
          <Icon name="back" /> <span>{behind}</span>
        </button>
        <h2>Assistant</h2>
        {talk.open && (
          <button type="button" className="button quiet" onClick={talk.startOver}>
            New conversation
          </button>
        )}
        <button
          type="button"
          className="button quiet icon close"
          aria-label="Close the assistant"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <div className="talk">
        <Conversation talk={talk} />
      </div>
    </aside>
  )
}

function Conversation({ talk }: { readonly talk: Talk }) {
  if (!talk.hasAgent) {
    return (
      <div className="note">
        <h3>No assistant is set up</h3>
        <p>
          Everything else works without one. To have one, start the tracker’s server with the
          address of a Remit server and a key; its README says how.
        </p>
      </div>
    )
  }
  if (talk.trouble) {
    return (
      <div className="note" role="alert">
        <h3>The assistant is away</h3>
        <p>{talk.trouble}</p>
        <button type="button" className="button" onClick={talk.tryAgain}>
          Try again
        </button>
      </div>
    )
  }
  return <Chat className="chat" />
}
