/** The initials of a person; a broken ring for nobody. */

import { personName } from '../store/workspaces.js'

export function Avatar({ id }: { readonly id: string | null }) {
  const name = id === null ? 'Nobody' : personName(id)
  const initials = name
    .split(' ')
    .map((part) => part[0])
    .slice(0, 2)
    .join('')
  return (
    <span
      className={id === null ? 'avatar nobody' : 'avatar'}
      role="img"
      aria-label={name}
      title={name}
    >
      {id === null ? '' : initials}
    </span>
  )
}
