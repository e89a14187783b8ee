/** What became of an issue, the newest first; it says where the agent's hand was in it. */

import type { Change } from '../store/model.js'
import { when } from '../store/words.js'
import { personName } from '../store/workspaces.js'

export function History({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <section className="history">
      <h2>History</h2>
      <ol>
        {changes.map((change, index) => (
          <li key={changes.length - index}>
            <strong>{personName(change.userId)}</strong> {change.said}
            {change.via === 'agent' && ' through the assistant'}
            <time dateTime={change.at}>{when(change.at, new Date())}</time>
          </li>
        ))}
      </ol>
    </section>
  )
}
