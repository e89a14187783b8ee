import { expect, it } from 'vitest'
import { issueOf } from '../src/agent/approval.js'
import { storeOf } from './setting.js'

it('names the issue that an approval is about', () => {
  expect(issueOf(storeOf('ana'), { args: { id: 'WEB-1' } })?.textContent).toMatch(/^WEB-1: .+/)
})

it.each([{ id: 'APP-1' }, { id: 7 }, {}])(
  'says nothing of what the person may not see: %j',
  (args) => {
    expect(issueOf(storeOf('ana'), { args })).toBeNull()
  },
)
