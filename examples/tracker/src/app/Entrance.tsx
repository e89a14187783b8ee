/** What stands before the app: whether somebody is signed in, which the server alone knows. */

import { useEffect, useState } from 'react'
import { type Me, whoAmI } from '../api/signing-in.js'
import { SignInPage } from '../pages/SignInPage.js'
import { signedIn } from '../store/mutations.js'
import { wordsOf } from '../store/refused.js'
import { useApp, useTracker } from './app.js'
import { Workspace } from './Workspace.js'

export function Entrance() {
  const { ask, store } = useApp()
  const { userId } = useTracker()
  const [me, setMe] = useState<Me | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [tries, setTries] = useState(0)

  useEffect(() => {
    let wanted = true
    setTrouble(null)
    whoAmI(ask)
      .then((found) => {
        if (wanted) {
          signedIn(store, found.user)
          setMe(found)
        }
      })
      .catch((error: unknown) => wanted && setTrouble(wordsOf(error)))
    return () => {
      wanted = false
    }
  }, [ask, store, tries])

  if (trouble) {
    return (
      <main className="lone">
        <h1>Tracker is not reachable</h1>
        <p>{trouble}</p>
        <button type="button" className="button primary" onClick={() => setTries(tries + 1)}>
          Try again
        </button>
      </main>
    )
  }
  if (!me) {
    return (
      <main className="lone">
        <p role="status">Opening Tracker…</p>
      </main>
    )
  }
  return userId === null ? <SignInPage /> : <Workspace hasAgent={me.agent} />
}
