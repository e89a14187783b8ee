/** The door of the demo: one picks who one is. */

import { signIn } from '../api/signing-in.js'
import { useApp } from '../app/app.js'
import { Avatar } from '../parts/Avatar.js'
import { useAttempt } from '../parts/useAttempt.js'
import { signedIn } from '../store/mutations.js'
import { ROLE_WORDS } from '../store/words.js'
import { PEOPLE, tenantsOf } from '../store/workspaces.js'

export function SignInPage() {
  const { ask, store } = useApp()
  const { refusal, busy, attempt } = useAttempt()

  const become = (user: string) =>
    attempt(async () => {
      const { user: now } = await signIn(ask, user)
      signedIn(store, now)
    })

  return (
    <main className="lone">
      <h1>Who are you?</h1>
      <p>This is a demo: pick somebody, and be somebody else whenever you like.</p>
      <ul className="people">
        {PEOPLE.map((person) => (
          <li key={person.id}>
            <button type="button" disabled={busy} onClick={() => become(person.id)}>
              <Avatar id={person.id} />
              <strong>{person.name}</strong>
              <small>{placesOf(person.id)}</small>
            </button>
          </li>
        ))}
      </ul>
      {refusal && (
        <p className="refusal" role="alert">
          {refusal}
        </p>
      )}
    </main>
  )
}

/** "Admin of Harbor Labs, viewer of Finch & Co". */
function placesOf(userId: string): string {
  const places = tenantsOf(userId).flatMap((tenant) =>
    tenant.members
      .filter((member) => member.id === userId)
      .map((member) => `${ROLE_WORDS[member.role].toLowerCase()} of ${tenant.name}`),
  )
  const said = places.join(', ')
  return said.charAt(0).toUpperCase() + said.slice(1)
}
