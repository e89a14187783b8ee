/** Does something that may be refused, and keeps the words for the person. */

import { useCallback, useState } from 'react'
import { Refused, wordsOf } from '../store/refused.js'

export interface Attempt {
  readonly refusal: string | null
  /** The field of a form that is meant, where it is one. */
  readonly field: string | undefined
  /** Whether it is under way. */
  readonly busy: boolean
  /** Whether it was done. What is done at once is done when this returns. */
  readonly attempt: (act: () => unknown) => Promise<boolean>
}

interface Outcome {
  readonly refusal: string | null
  readonly field: string | undefined
}

const FINE: Outcome = { refusal: null, field: undefined }

export function useAttempt(): Attempt {
  const [outcome, setOutcome] = useState(FINE)
  const [busy, setBusy] = useState(false)
  const attempt = useCallback(async (act: () => unknown) => {
    setBusy(true)
    try {
      await act()
      setOutcome(FINE)
      return true
    } catch (error) {
      setOutcome({
        refusal: wordsOf(error),
        field: error instanceof Refused ? error.field : undefined,
      })
      return false
    } finally {
      setBusy(false)
    }
  }, [])
  return { ...outcome, busy, attempt }
}
