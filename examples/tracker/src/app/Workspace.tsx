/**
 * The app of somebody who is signed in, with the agent around all of it.
 *
 * The provider stands above the router's pages, so that opening one leaves the conversation, its
 * tools and its widgets where they are.
 */

import { Remit } from '@remit/sdk/react'
import { useCallback, useEffect, useMemo } from 'react'
import { issueOf } from '../agent/approval.js'
import { contextOf } from '../agent/context.js'
import { makeTools } from '../agent/tools.js'
import { useConversation } from '../agent/useConversation.js'
import { widgets } from '../agent/widgets.js'
import { tokenFor } from '../api/conversations.js'
import { useApp, usePlace, useViewer } from './app.js'
import { Shell } from './Shell.js'

const NO_TOOLS = {}

export function Workspace({ hasAgent }: { readonly hasAgent: boolean }) {
  const { ask, estimates, router, store } = useApp()
  const viewer = useViewer()
  const { route } = usePlace()
  const talk = useConversation(viewer.member.id, viewer.tenant.id, hasAgent)
  const tools = useMemo(() => makeTools({ store, router, estimates }), [store, router, estimates])
  const context = useMemo(() => contextOf(viewer, route), [viewer, route])
  const session = talk.open?.id ?? null
  const getToken = useCallback(() => tokenFor(ask, session ?? ''), [ask, session])

  useEffect(() => {
    // Without them the app shows none; a press on one says why.
    estimates.load().catch(() => {})
  }, [estimates, viewer.tenant.id, viewer.member.id])

  return (
    <Remit
      server={talk.open?.server ?? ''}
      session={session}
      getToken={getToken}
      // A call of a conversation that was just left must not run in another workspace.
      tools={session === null ? NO_TOOLS : tools}
      widgets={widgets}
      context={context}
      approvalPart={(input) => issueOf(store, input)}
    >
      <Shell talk={talk} />
    </Remit>
  )
}
