import type * as sdk from '@remit/sdk/react'
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react'
import { type ReactNode, useEffect } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Ask } from '../src/api/ask.js'
import { AppContext } from '../src/app/app.js'
import { Workspace } from '../src/app/Workspace.js'
import { switchTenant, updateIssue } from '../src/store/mutations.js'
import { findIssue } from '../src/store/queries.js'
import { appOf, serverThat } from './setting.js'

// The session and the chat have tests of their own; here it counts where they stand, and how long.
const seen = vi.hoisted(() => ({ mounts: [] as string[], props: {} as Record<string, unknown> }))
vi.mock('@remit/sdk/react', async (original) => {
  const mounted = (name: string) =>
    useEffect(() => {
      seen.mounts.push(`+${name}`)
      return () => {
        seen.mounts.push(`-${name}`)
      }
    }, [name])
  return {
    ...(await original<typeof sdk>()),
    Remit: ({ children, ...props }: { children: ReactNode }) => {
      mounted('Remit')
      seen.props = props
      return children
    },
    Chat: () => {
      mounted('Chat')
      return <p>The chat</p>
    },
    useRemit: () => ({ status: 'idle' }),
  }
})

beforeEach(() => {
  seen.mounts = []
  vi.stubGlobal('matchMedia', () => ({ matches: true }))
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const server = () =>
  serverThat((_, path) =>
    path === '/agent/session'
      ? { id: 'ses_1', server: 'https://remit.example' }
      : path.split('/').length > 4
        ? { issueId: 'WEB-1', points: null, version: 0, savedBy: null, savedAt: null }
        : { items: [] },
  )

async function open(user: string, tenant = 'harbor', hasAgent = true) {
  const app = appOf(user, tenant, server())
  let waiting = Promise.resolve()
  const { ask } = app
  const slow: Ask = async (...asked) => {
    await waiting
    return ask(...asked)
  }
  await act(async () => {
    render(
      <AppContext value={{ ...app, ask: slow }}>
        <Workspace hasAgent={hasAgent} />
      </AppContext>,
    )
  })
  return {
    ...app,
    waitFor(what: Promise<void>) {
      waiting = what
    },
  }
}

const page = () => within(screen.getByRole('main'))

it('keeps the conversation while pages come and go (A-36)', async () => {
  const app = await open('ben')
  expect(seen.props['session']).toBe('ses_1')
  for (const url of ['/board', '/issues/WEB-1', '/issues/WEB-1/edit', '/nowhere', '/projects']) {
    await act(async () => app.router.go(url, { by: 'agent' }))
  }
  await act(async () => fireEvent.click(page().getByRole('link', { name: 'Web shop' })))
  expect(page().getByRole('heading', { level: 1 }).textContent).toBe('Web shop')
  expect(seen.mounts.toSorted()).toEqual(['+Chat', '+Remit'])
})

it('tells the agent what the user looks at', async () => {
  const app = await open('ben')
  await act(async () => app.router.go('/issues/WEB-1'))
  expect(seen.props['context']).toEqual({
    workspace: { id: 'harbor', name: 'Harbor Labs' },
    user: { id: 'ben', name: 'Ben Okafor', role: 'member' },
    view: 'issue',
    issueId: 'WEB-1',
  })
})

it('has another conversation in another tenant', async () => {
  const app = await open('eva')
  await act(async () => switchTenant(app.store, 'finch'))
  const opened = app.asked.filter((one) => one.path === '/agent/session')
  expect(opened.map((one) => one.body)).toEqual([
    { tenant: 'harbor', fresh: false },
    { tenant: 'finch', fresh: false },
  ])
})

it('lends nothing until the conversation of the tenant is there', async () => {
  const app = await open('eva')
  expect(Object.keys(seen.props['tools'] as object)).toContain('update_issue')
  let answer = (): void => {}
  app.waitFor(new Promise<void>((done) => (answer = done)))
  await act(async () => switchTenant(app.store, 'finch'))
  expect(seen.props).toMatchObject({ session: null, tools: {} })
  expect(Object.keys(seen.props['tools'] as object)).toEqual([])
  await act(async () => answer())
  expect(Object.keys(seen.props['tools'] as object)).toContain('update_issue')
})

it('leaves the focus where it is when the agent opens a page', async () => {
  const app = await open('ben')
  const button = screen.getByRole('button', { name: /Close the assistant/ })
  button.focus()
  await act(async () => app.router.go('/issues/WEB-1', { by: 'agent' }))
  expect(document.activeElement).toBe(button)
  expect(screen.getByText(/The assistant opened: WEB-1/)).toBeTruthy()
  await act(async () => app.router.go('/board'))
  expect(document.activeElement).toBe(screen.getByRole('main'))
})

it('refuses by hand what it refuses the agent (A-35)', async () => {
  const app = await open('ben')
  await act(async () => app.router.go('/issues/HIR-1'))
  expect(page().getByText(/no issue HIR-1 in Harbor Labs that you may see/)).toBeTruthy()
})

it('saves a form by the mutation, and goes to the issue', async () => {
  const app = await open('ben')
  await act(async () => app.router.go('/issues/new?project=OPS'))
  await act(async () => fireEvent.click(page().getByRole('button', { name: 'Create issue' })))
  expect(page().getByRole('alert').textContent).toBe('An issue needs a title.')
  fireEvent.change(page().getByLabelText('Title'), { target: { value: 'Rotate the keys' } })
  await act(async () => fireEvent.click(page().getByRole('button', { name: 'Create issue' })))
  expect(app.router.getPlace().url).toBe('/issues/OPS-5')
  expect(findIssue(app.store.getState(), 'OPS-5')).toMatchObject({ title: 'Rotate the keys' })
})

it('saves of a form what the person changed, and leaves what the agent did meanwhile', async () => {
  const app = await open('ben')
  await act(async () => app.router.go('/issues/WEB-3/edit'))
  fireEvent.change(page().getByLabelText('Title'), { target: { value: 'Another title' } })
  await act(async () => {
    updateIssue(app.store, 'WEB-3', { status: 'done' }, 'agent')
  })
  await act(async () => fireEvent.click(page().getByRole('button', { name: 'Save' })))
  expect(findIssue(app.store.getState(), 'WEB-3')).toMatchObject({
    title: 'Another title',
    status: 'done',
  })
})

it('works without an agent, and says that there is none', async () => {
  await open('ben', 'harbor', false)
  expect(screen.getByText('No assistant is set up')).toBeTruthy()
  expect(page().getAllByRole('listitem').length).toBeGreaterThan(5)
})
