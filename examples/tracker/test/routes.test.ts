import { describe, expect, it } from 'vitest'
import { destination } from '../src/router/destination.js'
import { type Route, routeOf, urlOf } from '../src/router/routes.js'
import { storeOf } from './setting.js'

const FINCH = storeOf('eva', 'finch').getState()
const MEMBER = storeOf('ben').getState()
const VIEWER = storeOf('cleo').getState()
const ADMIN = storeOf('ana').getState()

describe('addresses', () => {
  it('lead to a view and back', () => {
    const routes: readonly Route[] = [
      { view: 'issues', filters: {} },
      { view: 'issues', filters: { status: 'todo', assignee: 'none', text: 'a & b/c' } },
      { view: 'board', filters: { project: 'WEB', priority: 'high' } },
      { view: 'projects' },
      { view: 'project', projectId: 'WEB' },
      { view: 'issue', issueId: 'WEB-1' },
      { view: 'edit', issueId: 'WEB-1' },
      { view: 'new' },
      { view: 'new', projectId: 'WEB' },
    ]
    for (const route of routes) {
      expect(routeOf(urlOf(route)), urlOf(route)).toEqual(route)
    }
    expect(routeOf('/')).toEqual({ view: 'issues', filters: {} })
  })

  it('that lead out of the app lead nowhere (A-33)', () => {
    for (const url of [
      'https://evil.example/issues/WEB-1',
      '//evil.example/issues',
      '/\\evil.example/issues',
      '/\t/evil.example',
      'javascript:alert(1)',
      'issues',
      '',
      '/api/estimates/harbor',
      '/sign-out',
      '/issues/WEB-1/delete',
      '/issues/WEB-1/edit/more',
      '/projects/WEB/more',
      '/issues/%',
      '/%2e%2e//evil.example/',
    ]) {
      expect(routeOf(url), url).toEqual({ view: 'unknown' })
      expect(() => destination(ADMIN, url), url).toThrow('This is no address of the tracker.')
    }
  })
})

describe('a destination', () => {
  it('is a record of the active tenant (A-34)', () => {
    expect(destination(MEMBER, '/issues/WEB-1')).toEqual({ view: 'issue', issueId: 'WEB-1' })
    for (const url of [
      '/issues/WEB-1',
      '/projects/WEB',
      '/issues?project=WEB',
      '/issues?assignee=ben',
    ]) {
      expect(() => destination(FINCH, url), url).toThrow(/Finch & Co/)
    }
  })

  it('is open by the rights of the current user (A-35)', () => {
    for (const url of [
      '/issues/HIR-1',
      '/projects/HIR',
      '/issues/HIR-1/edit',
      '/board?project=HIR',
    ]) {
      expect(() => destination(MEMBER, url), url).toThrow(/that you may see/)
      expect(destination(ADMIN, url).view).not.toBe('unknown')
    }
    for (const url of ['/issues/new', '/issues/WEB-1/edit']) {
      expect(() => destination(VIEWER, url), url).toThrow(/not change them/)
      expect(destination(MEMBER, url).view).not.toBe('unknown')
    }
  })
})
