/** Deletes an issue, after a question whose safe answer has the focus. */

import { useId, useRef } from 'react'
import { useApp } from '../app/app.js'
import type { Issue } from '../store/model.js'
import { deleteIssue } from '../store/mutations.js'
import { useAttempt } from './useAttempt.js'

export function DeleteIssue({ issue }: { readonly issue: Issue }) {
  const { router, store } = useApp()
  const { refusal, attempt } = useAttempt()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()

  async function remove(): Promise<void> {
    if (await attempt(() => deleteIssue(store, issue.id))) {
      router.go('/issues')
    }
  }

  return (
    <>
      <button type="button" className="button" onClick={() => dialog.current?.showModal()}>
        Delete
      </button>
      <dialog ref={dialog} aria-labelledby={id}>
        <h2 id={id}>Delete {issue.id}?</h2>
        <p>“{issue.title}” goes with its history. This cannot be undone.</p>
        {refusal && (
          <p className="refusal" role="alert">
            {refusal}
          </p>
        )}
        <div className="dialog-acts">
          {/* The first one has the focus when the dialog opens. */}
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Keep it
          </button>
          <button type="button" className="button bad" onClick={remove}>
            Delete the issue
          </button>
        </div>
      </dialog>
    </>
  )
}
