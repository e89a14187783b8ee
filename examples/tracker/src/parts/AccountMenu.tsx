/** Who one is and where: the demo's way to see the app with other eyes. */

import { useId } from 'react'
import { signIn, signOut } from '../api/signing-in.js'
import { useApp, useTracker, useViewer } from '../app/app.js'
import { signedIn, switchTenant } from '../store/mutations.js'
import { ROLE_WORDS } from '../store/words.js'
import { PEOPLE, tenantsOf } from '../store/workspaces.js'
import { Avatar } from './Avatar.js'
import { useAttempt } from './useAttempt.js'

export function AccountMenu() {
  const { ask, router, store } = useApp()
  const { tenantId, userId } = useTracker()
  const { member, tenant } = useViewer()
  const { refusal, attempt } = useAttempt()
  const id = useId()

  const become = (user: string) =>
    attempt(async () => {
      const { user: now } = await signIn(ask, user)
      signedIn(store, now)
    })
  const leave = () =>
    attempt(async () => {
      await signOut(ask)
      signedIn(store, null)
    })
  const enter = (other: string) =>
    attempt(() => {
      switchTenant(store, other)
      // What is open belongs to the tenant that is left.
      router.go('/issues')
    })

  return (
    <div className="account">
      <button type="button" className="account-button" popoverTarget={id}>
        <Avatar id={member.id} />
        <span>
          <strong>{tenant.name}</strong>
          <small>
            {member.name}, {ROLE_WORDS[member.role].toLowerCase()}
          </small>
        </span>
      </button>
      <section id={id} popover="auto" className="menu" aria-label="Account">
        <h2>Workspace</h2>
        {tenantsOf(member.id).map((one) => (
          <button
            key={one.id}
            type="button"
            aria-pressed={one.id === tenantId}
            popoverTarget={id}
            onClick={() => enter(one.id)}
          >
            {one.name}
          </button>
        ))}
        <h2>Who you are</h2>
        {PEOPLE.map((person) => (
          <button
            key={person.id}
            type="button"
            aria-pressed={person.id === userId}
            onClick={() => become(person.id)}
          >
            <Avatar id={person.id} />
            <span>{person.name}</span>
            <small>{rolesOf(person.id)}</small>
          </button>
        ))}
        <hr />
        <button type="button" onClick={leave}>
          Sign out
        </button>
        {refusal && (
          <p className="refusal" role="alert">
            {refusal}
          </p>
        )}
      </section>
    </div>
  )
}

/** "Admin, viewer": in the order of their workspaces. */
function rolesOf(userId: string): string {
  const roles = tenantsOf(userId).flatMap((tenant) =>
    tenant.members
      .filter((member) => member.id === userId)
      .map((member) => ROLE_WORDS[member.role]),
  )
  return [...new Set(roles)].join(', ')
}
