import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { makeTools } from '../src/agent/tools.js'
import { widgets } from '../src/agent/widgets.js'
import { type App, AppContext } from '../src/app/app.js'
import { switchTenant, updateIssue } from '../src/store/mutations.js'
import { findIssue } from '../src/store/queries.js'
import { appOf } from './setting.js'

afterEach(cleanup)

function show(app: App, widget: keyof typeof widgets, id: string) {
  return render(<AppContext value={app}>{widgets[widget].render({ id })}</AppContext>)
}

it('takes an id and nothing else (A-26)', () => {
  for (const widget of Object.values(widgets)) {
    expect(Object.keys(widget.parameters.shape)).toEqual(['id'])
  }
})

it('shows an issue as it is now, however it was changed (A-32)', async () => {
  const app = appOf('ben')
  show(app, 'issueCard', 'WEB-1')
  expect(screen.getByRole('link').textContent).toContain('Receipts')
  act(() => {
    updateIssue(app.store, 'WEB-1', { title: 'By the form' }, 'person')
  })
  expect(screen.getByRole('link').textContent).toBe('By the form')
  await act(async () => {
    const tool = makeTools(app).update_issue
    await tool.execute(
      { id: 'WEB-1', status: 'done' },
      { callId: 'call_1', signal: new AbortController().signal },
    )
  })
  expect(screen.getByTitle('Done')).toBeTruthy()
})

it('leads into the app', () => {
  const app = appOf('ben')
  show(app, 'issueCard', 'WEB-2')
  fireEvent.click(screen.getByRole('link'))
  expect(app.router.getPlace()).toMatchObject({ url: '/issues/WEB-2', by: 'person' })
})

it('shows nothing of what is gone, elsewhere or hidden', () => {
  const app = appOf('eva')
  for (const id of ['HIR-1', 'APP-1', 'WEB-99']) {
    const { container, unmount } = show(app, 'issueCard', id)
    expect(container.textContent).toContain(`${id} is not here`)
    unmount()
  }
  const { container } = show(app, 'issueCard', 'WEB-1')
  act(() => switchTenant(app.store, 'finch'))
  expect(container.textContent).not.toContain('Receipts')
})

it('picks an assignee by the function of the form (A-31)', () => {
  const app = appOf('ben')
  show(app, 'assigneePicker', 'WEB-3')
  expect(screen.getByRole('button', { pressed: true }).textContent).toContain('Nobody')
  fireEvent.click(screen.getByRole('button', { name: /Eva Sato/ }))
  expect(screen.getByRole('button', { pressed: true }).textContent).toContain('Eva Sato')
  expect(findIssue(app.store.getState(), 'WEB-3')).toMatchObject({
    assigneeId: 'eva',
    history: [{ userId: 'ben', via: 'person', said: 'assigned Eva Sato' }, {}],
  })
})

it('lets a viewer pick nobody', () => {
  show(appOf('cleo'), 'assigneePicker', 'WEB-3')
  for (const button of screen.getAllByRole<HTMLButtonElement>('button')) {
    expect(button.disabled).toBe(true)
  }
})
