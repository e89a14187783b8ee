/** The conversation of a user in a tenant: opened on arrival, another one for another tenant. */

import { useCallback, useEffect, useState } from 'react'
import { type Conversation, openConversation } from '../api/conversations.js'
import { useApp } from '../app/app.js'
import { wordsOf } from '../store/refused.js'

export interface Talk {
  /** Null until the server has opened it. */
  readonly open: Conversation | null
  /** Why there is none, where there will be none. */
  readonly trouble: string | null
  readonly hasAgent: boolean
  /** Leaves the conversation as it is and begins another. */
  readonly startOver: () => void
  readonly tryAgain: () => void
}

interface Wish {
  readonly number: number
  readonly fresh: boolean
}

interface Found {
  readonly key: string
  readonly open: Conversation | null
  readonly trouble: string | null
}

export function useConversation(userId: string, tenantId: string, hasAgent: boolean): Talk {
  const { ask } = useApp()
  const [wish, setWish] = useState<Wish>({ number: 0, fresh: false })
  const [found, setFound] = useState<Found | null>(null)
  const key = `${userId}/${tenantId}`

  useEffect(() => {
    if (!hasAgent) {
      return
    }
    let wanted = true
    openConversation(ask, tenantId, wish.fresh)
      .then((open) => wanted && setFound({ key, open, trouble: null }))
      .catch((error: unknown) => {
        if (wanted) {
          setFound({ key, open: null, trouble: wordsOf(error) })
        }
      })
    return () => {
      wanted = false
    }
  }, [ask, hasAgent, key, tenantId, wish])

  const again = useCallback(
    (fresh: boolean) => {
      setFound({ key, open: null, trouble: null })
      setWish(({ number }) => ({ number: number + 1, fresh }))
    },
    [key],
  )
  // What was found for another user or tenant is nothing here.
  const here = found?.key === key ? found : null
  return {
    open: here?.open ?? null,
    trouble: here?.trouble ?? null,
    hasAgent,
    startOver: useCallback(() => again(true), [again]),
    tryAgain: useCallback(() => again(false), [again]),
  }
}
