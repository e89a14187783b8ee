/** What a request for approval is about: an id alone tells a person little. */

import type { Input } from '@remit/sdk/core'
import { listIssues } from '../store/queries.js'
import type { Store } from '../store/store.js'

/** The title of the issue that is named, where the person may see it; it stands on the card. */
export function issueOf(store: Store, { args }: Pick<Input, 'args'>): HTMLElement | null {
  const found = listIssues(store.getState()).find(({ id }) => id === args?.['id'])
  if (!found) {
    return null
  }
  const line = document.createElement('p')
  line.textContent = `${found.id}: ${found.title}`
  return line
}
