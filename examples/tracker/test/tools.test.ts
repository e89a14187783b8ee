import type { ToolContext } from '@remit/sdk/react'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { makeTools } from '../src/agent/tools.js'
import { updateIssue } from '../src/store/mutations.js'
import { findIssue } from '../src/store/queries.js'
import { appOf, serverThat } from './setting.js'

const CONTEXT: ToolContext = { callId: 'call_1', signal: new AbortController().signal }

interface AnyTool {
  readonly parameters: z.ZodType
  readonly execute: (input: never, context: ToolContext) => unknown
}

/** As the SDK calls a tool: the input is checked by its schema, and the result is plain JSON. */
async function call(tool: AnyTool, input: object): Promise<unknown> {
  const result = await tool.execute(tool.parameters.parse(input) as never, CONTEXT)
  expect(JSON.parse(JSON.stringify(result)), 'plain JSON, with no undefined field').toStrictEqual(
    result,
  )
  return result
}

describe('reading', () => {
  it('answers with ids, and the URLs of the app’s own records', async () => {
    const tools = makeTools(appOf('ben'))
    expect(await call(tools.list_issues, { status: 'todo', limit: '1' })).toMatchObject({
      total: 3,
      issues: [{ id: 'WEB-2', url: '/issues/WEB-2', assignee: { id: 'eva', name: 'Eva Sato' } }],
    })
    expect(await call(tools.list_projects, {})).toMatchObject({
      projects: [
        { id: 'WEB', url: '/projects/WEB', openIssues: 6 },
        { id: 'OPS', openIssues: 3 },
      ],
    })
    expect(await call(tools.list_members, {})).toMatchObject({
      members: [
        { id: 'ana', role: 'admin', isTheUser: false },
        { id: 'ben', isTheUser: true, mayBeGivenIssuesOf: ['WEB', 'OPS'] },
        { id: 'cleo', role: 'viewer', mayBeGivenIssuesOf: [] },
        { id: 'eva' },
      ],
    })
  })

  it('tells of an issue also where the estimates cannot be read', async () => {
    const down = serverThat(() => {
      throw new Error('down')
    })
    const tools = makeTools(appOf('ben', 'harbor', down))
    expect(await call(tools.get_issue, { id: 'WEB-1' })).toMatchObject({
      id: 'WEB-1',
      estimate: null,
      estimateUnknownBecause: expect.any(String),
    })
  })
})

describe('changing', () => {
  it('is seen by the next call, with nothing drawn in between (A-27)', async () => {
    const tools = makeTools(appOf('ben'))
    const made = await call(tools.create_issue, { projectId: 'WEB', title: 'Say thanks' })
    expect(made).toMatchObject({ id: 'WEB-8', status: 'todo', url: '/issues/WEB-8' })
    await call(tools.assign_issue, { id: 'WEB-8', assigneeId: 'eva' })
    await call(tools.update_issue, { id: 'WEB-8', status: 'in_progress' })
    expect(await call(tools.list_issues, { text: 'thanks' })).toMatchObject({
      total: 1,
      issues: [{ status: 'in_progress', assignee: { id: 'eva' } }],
    })
  })

  it('takes the way of the form, with the rights of the person (A-31)', async () => {
    const viewer = makeTools(appOf('cleo'))
    for (const [tool, input] of [
      [viewer.create_issue, { projectId: 'WEB', title: 'x' }],
      [viewer.update_issue, { id: 'WEB-1', status: 'done' }],
      [viewer.assign_issue, { id: 'WEB-1', assigneeId: null }],
      [viewer.save_estimate, { id: 'WEB-1', points: 3 }],
      [viewer.delete_issue, { id: 'WEB-1' }],
    ] as const) {
      await expect(call(tool, input)).rejects.toThrow(/not change them/)
    }
    const member = appOf('ben')
    await call(makeTools(member).update_issue, { id: 'WEB-1', status: 'done' })
    expect(findIssue(member.store.getState(), 'WEB-1').history[0]).toMatchObject({
      userId: 'ben',
      via: 'agent',
    })
  })

  it('knows what the person did in between', async () => {
    const app = appOf('ben')
    const tools = makeTools(app)
    await call(tools.get_issue, { id: 'WEB-1' })
    updateIssue(app.store, 'WEB-1', { title: 'By hand' }, 'person')
    expect(await call(tools.get_issue, { id: 'WEB-1' })).toMatchObject({ title: 'By hand' })
  })

  it('asks a person before it deletes', () => {
    const { delete_issue } = makeTools(appOf('ana'))
    expect(delete_issue).toMatchObject({ requiresApproval: true, dangerLevel: 'destructive' })
  })
})

describe('estimates', () => {
  it('are answered from what the server has saved (A-28)', async () => {
    // Not what was asked for: the server knows better.
    const saved = {
      issueId: 'WEB-1',
      points: 8,
      version: 4,
      savedBy: 'ben',
      savedAt: '2026-11-30T09:00:00+00:00',
      project: { id: 'WEB', points: 21 },
    }
    const app = appOf(
      'ben',
      'harbor',
      serverThat(() => saved),
    )
    const tools = makeTools(app)
    expect(await call(tools.save_estimate, { id: 'WEB-1', points: '5' })).toEqual(saved)
    expect(app.asked).toEqual([
      { method: 'PUT', path: '/api/estimates/harbor/WEB-1', body: { points: 5 } },
    ])
    expect(app.estimates.getKnown().get('harbor/WEB-1')?.points).toBe(8)
  })

  it('are not asked for where the issue is none of the tenant', async () => {
    const app = appOf('eva', 'finch')
    const tools = makeTools(app)
    await expect(call(tools.save_estimate, { id: 'WEB-1', points: 5 })).rejects.toThrow(/no issue/)
    await expect(call(tools.get_issue, { id: 'WEB-1' })).rejects.toThrow(/no issue/)
    expect(app.asked).toEqual([])
  })
})

describe('navigating', () => {
  it('opens a record that another tool answered with (A-33)', async () => {
    const app = appOf('ben')
    const tools = makeTools(app)
    expect(await call(tools.navigate, { url: '/issues/WEB-2' })).toEqual({
      opened: '/issues/WEB-2',
    })
    expect(window.location.pathname).toBe('/issues/WEB-2')
    expect(app.router.getPlace()).toMatchObject({
      route: { view: 'issue', issueId: 'WEB-2' },
      by: 'agent',
    })
  })

  it('opens no other site, no other tenant and nothing that is not for the user (A-34)', async () => {
    const app = appOf('ben')
    const tools = makeTools(app)
    for (const url of [
      'https://evil.example/',
      '//evil.example/issues/WEB-1',
      'javascript:alert(1)',
      '/issues/APP-1',
      '/projects/BIL',
      '/issues/HIR-1',
      '/nowhere',
    ]) {
      await expect(call(tools.navigate, { url }), url).rejects.toThrow()
    }
    expect(app.router.getPlace().url).toBe('/issues')
  })
})
