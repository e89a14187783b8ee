/** How many issues of a project are done, as a line and in words. */

import type { Issue } from '../store/model.js'
import { issueCount } from '../store/words.js'

export function Progress({ issues }: { readonly issues: readonly Issue[] }) {
  const done = issues.filter((issue) => issue.status === 'done').length
  return (
    <div className="progress">
      <progress value={done} max={Math.max(issues.length, 1)} aria-label="Done" />
      <span>
        {issues.length === 0 ? 'No issues yet' : `${done} of ${issueCount(issues.length)} done`}
      </span>
    </div>
  )
}
