import { describe, expect, it } from 'vitest'
import { firstState } from '../src/store/first-data.js'
import {
  assignIssue,
  createIssue,
  deleteIssue,
  type IssueChanges,
  signedIn,
  switchTenant,
  updateIssue,
} from '../src/store/mutations.js'
import { findIssue, listIssues, listProjects } from '../src/store/queries.js'
import { Refused } from '../src/store/refused.js'
import { createStore } from '../src/store/store.js'
import { memory, START, storeOf } from './setting.js'

describe('what somebody may do', () => {
  it('lets a viewer read, and change nothing', () => {
    const store = storeOf('cleo')
    const before = store.getState()
    expect(findIssue(before, 'WEB-1').title).toContain('Receipts')
    for (const act of [
      () => createIssue(store, { projectId: 'WEB', title: 'Mine' }, 'person'),
      () => updateIssue(store, 'WEB-1', { status: 'done' }, 'agent'),
      () => assignIssue(store, 'WEB-1', null, 'person'),
      () => deleteIssue(store, 'WEB-1'),
    ]) {
      expect(act).toThrow(/may read issues of Harbor Labs, not change them/)
    }
    expect(store.getState()).toBe(before)
  })

  it('lets a member change and an admin delete', () => {
    const member = storeOf('ben')
    expect(updateIssue(member, 'WEB-1', { status: 'done' }, 'person').status).toBe('done')
    expect(() => deleteIssue(member, 'WEB-1')).toThrow(/Only an admin/)
    const admin = storeOf('ana')
    deleteIssue(admin, 'WEB-1')
    expect(() => findIssue(admin.getState(), 'WEB-1')).toThrow(Refused)
  })

  it('hides a project of the admins as if it were not there', () => {
    const member = storeOf('ben')
    expect(listProjects(member.getState()).map((one) => one.id)).toEqual(['WEB', 'OPS'])
    const hidden = refusal(() => updateIssue(member, 'HIR-1', { status: 'done' }, 'agent'))
    const missing = refusal(() => updateIssue(member, 'HIR-9', { status: 'done' }, 'agent'))
    expect(hidden.replace('HIR-1', 'HIR-9')).toBe(missing)
    expect(refusal(() => createIssue(member, { projectId: 'HIR', title: 'x' }, 'agent'))).toMatch(
      /There is no project HIR/,
    )
    expect(listIssues(member.getState(), { text: 'designer' })).toEqual([])
    expect(updateIssue(storeOf('ana'), 'HIR-1', { status: 'done' }, 'person').status).toBe('done')
  })

  it('gives an issue only to members who may work on it', () => {
    const store = storeOf('ana')
    expect(assignIssue(store, 'WEB-3', 'eva', 'agent').assigneeId).toBe('eva')
    expect(refusal(() => assignIssue(store, 'WEB-3', 'dan', 'agent'))).toMatch(/Nobody with the id/)
    expect(refusal(() => assignIssue(store, 'WEB-3', 'cleo', 'agent'))).toMatch(/may not change/)
    expect(refusal(() => assignIssue(store, 'HIR-1', 'ben', 'agent'))).toMatch(/may not change/)
    expect(findIssue(store.getState(), 'WEB-3').assigneeId).toBe('eva')
  })

  it('does nothing for somebody who is signed out', () => {
    const store = storeOf('ana')
    signedIn(store, null)
    expect(() => listIssues(store.getState())).toThrow(/not signed in/)
    expect(() => updateIssue(store, 'WEB-1', { status: 'done' }, 'agent')).toThrow(Refused)
  })
})

describe('the active tenant', () => {
  it('is the only one whose ids mean anything (A-30)', () => {
    const store = storeOf('eva', 'finch')
    for (const id of ['WEB-1', 'OPS-2']) {
      expect(refusal(() => findIssue(store.getState(), id))).toMatch(/no issue .* in Finch & Co/)
      expect(() => updateIssue(store, id, { status: 'done' }, 'agent')).toThrow(Refused)
    }
    expect(() => createIssue(store, { projectId: 'WEB', title: 'x' }, 'agent')).toThrow(Refused)
    switchTenant(store, 'harbor')
    expect(findIssue(store.getState(), 'WEB-1').status).toBe('in_progress')
  })

  it('is one that the person belongs to', () => {
    const store = storeOf('ben')
    expect(() => switchTenant(store, 'finch')).toThrow(/no workspace/)
    signedIn(store, 'dan')
    expect(store.getState().tenantId).toBe('finch')
  })
})

describe('a change', () => {
  it('is seen by a read right after it (A-29)', () => {
    const store = storeOf('ben')
    const seen: string[] = []
    store.subscribe(() => seen.push(findIssue(store.getState(), 'WEB-1').status))
    updateIssue(store, 'WEB-1', { status: 'in_review' }, 'agent')
    expect(findIssue(store.getState(), 'WEB-1').status).toBe('in_review')
    updateIssue(store, 'WEB-1', { status: 'done' }, 'agent')
    expect(findIssue(store.getState(), 'WEB-1').status).toBe('done')
    expect(seen).toEqual(['in_review', 'done'])
  })

  it('is kept, with whose hand it was', () => {
    const storage = memory()
    updateIssue(storeOf('ben', 'harbor', storage), 'WEB-1', { priority: 'low' }, 'agent')
    const again = createStore({ storage, first: firstState(START) })
    const [change] = findIssue(again.getState(), 'WEB-1').history
    expect(change).toMatchObject({
      userId: 'ben',
      via: 'agent',
      said: 'set the priority to Low',
    })
  })

  it('is checked the same for everybody', () => {
    const store = storeOf('ben')
    const refused: readonly [IssueChanges, RegExp][] = [
      [{ title: ' \n ' }, /needs a title/],
      [{ title: 'x'.repeat(121) }, /at most 120/],
      [{ description: 'x'.repeat(4001) }, /at most 4000/],
      [{ assigneeId: 'nobody' }, /Nobody with the id/],
    ]
    for (const via of ['person', 'agent'] as const) {
      for (const [changes, words] of refused) {
        expect(() => updateIssue(store, 'WEB-1', changes, via)).toThrow(words)
      }
    }
  })

  it('that changes nothing leaves no trace', () => {
    const store = storeOf('ben')
    const before = store.getState()
    updateIssue(store, 'WEB-1', { status: 'in_progress' }, 'agent')
    expect(store.getState()).toBe(before)
  })

  it('that cannot be kept is not made', () => {
    const storage = memory()
    const store = storeOf('ben', 'harbor', storage)
    storage.full = true
    const before = store.getState()
    expect(() => updateIssue(store, 'WEB-1', { status: 'done' }, 'person')).toThrow(
      /nothing was changed/,
    )
    expect(store.getState()).toBe(before)
  })

  it('in another tab is neither lost nor overwritten', () => {
    const storage = memory()
    const one = storeOf('ben', 'harbor', storage)
    const other = storeOf('ben', 'harbor', storage)
    updateIssue(one, 'WEB-1', { status: 'done' }, 'person')
    updateIssue(other, 'WEB-2', { status: 'done' }, 'person')
    expect(findIssue(other.getState(), 'WEB-1').status).toBe('done')
    window.dispatchEvent(new StorageEvent('storage', { key: 'tracker' }))
    updateIssue(one, 'WEB-4', { status: 'done' }, 'person')
    expect(findIssue(one.getState(), 'WEB-2').status).toBe('done')
  })

  it('never gives the id of a deleted issue again', () => {
    const store = storeOf('ana')
    const first = createIssue(store, { projectId: 'OPS', title: 'One' }, 'person')
    deleteIssue(store, first.id)
    expect(createIssue(store, { projectId: 'OPS', title: 'Two' }, 'person').id).not.toBe(first.id)
  })
})

it('begins anew where what was kept cannot be read', () => {
  const storage = memory()
  for (const text of ['{', '{"version": 1}', 'null', '[]']) {
    storage.setItem('tracker', text)
    const store = createStore({ storage, first: firstState(START) })
    expect(store.getState().issues.length).toBeGreaterThan(10)
  }
})

function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(Refused)
    return (error as Refused).message
  }
  throw new Error('it was not refused')
}
