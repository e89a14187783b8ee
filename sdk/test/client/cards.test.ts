// @vitest-environment jsdom
/** What waits for a person: approvals, action cards of apps, connections that are missing. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MountOptions } from '../../src/client/index.js'
import type { Input } from '../../src/wire/event.js'
import { problem, SessionServer } from '../session-server.js'
import { until } from '../until.js'
import { approval, Page, press } from './mounted.js'

let server: SessionServer
let page: Page

beforeEach(async () => {
  server = await new SessionServer().start()
})

afterEach(async () => {
  page.leave()
  await server.stop()
})

function mounted(options: Partial<MountOptions> = {}): Page {
  page = new Page(server, options)
  return page
}

const ANSWER = '/human-input/i_1'
const answers = () => server.of('POST', ANSWER).map(({ body }) => body)

describe('an approval', () => {
  test("has the platform's line above the app's words, with inserted values set apart", async () => {
    server.write('human_input_needed', approval())
    mounted()
    const card = await page.one('article.card')

    expect(card.classList).toContain('destructive')
    expect(card.firstElementChild?.textContent).toContain('DELETES · cannot be undone')
    expect(card.firstElementChild?.textContent).toContain('on api.orders.example as ana@orders')
    expect(card.querySelector('.title q')?.textContent).toBe('7')
    expect(card.querySelector('.title')?.textContent).toBe('Cancel order 7')
    for (const words of ['Order', 'Acme', 'it is destructive']) {
      expect(card.textContent).toContain(words)
    }
    expect(card.querySelector('details')?.open).toBe(false)
    expect(card.querySelector('details')?.textContent).toContain(
      'DELETE https://api.orders.example/7',
    )
    expect(page.root.activeElement).toBeNull()
    expect(await page.faults()).toEqual([])
  })

  test('is answered with the digest of what is shown, once', async () => {
    server.write('human_input_needed', approval())
    mounted()
    await page.one('article.card')
    server.answer(async ({ path }) => {
      if (path === ANSWER) {
        await new Promise((done) => setTimeout(done, 80))
      }
      return undefined
    })

    const yes = page.button('Cancel the order')
    yes.click()
    yes.click()
    expect(yes.disabled).toBe(true)

    await until(() => expect(answers()).toEqual([{ decision: 'approve', digest: 'd_1' }]))
  })

  test('can hold for the conversation where the server offers it', async () => {
    server.write('human_input_needed', approval({ rememberable: true }))
    mounted()
    const again = (await page.one('article.card')).querySelector<HTMLInputElement>(
      'input[type=checkbox]',
    )
    again?.click()

    page.button('Cancel the order').click()

    await until(() =>
      expect(answers()).toEqual([{ decision: 'approve', digest: 'd_1', remember: 'session' }]),
    )
  })

  test('is refused with a note that the agent reads', async () => {
    server.write('human_input_needed', approval())
    mounted()
    const note = (await page.one('article.card')).querySelector('input') as HTMLInputElement
    press(note, 'Enter')
    note.value = ' Not that one. '

    press(note, 'Enter')

    await until(() => expect(answers()).toEqual([{ decision: 'deny', note: 'Not that one.' }]))
  })

  test('becomes one line that says who decided what, also where another page did', async () => {
    server.write('human_input_needed', approval())
    mounted()
    await page.one('article.card')

    server.write('human_input_resolved', {
      inputId: 'i_1',
      status: 'denied',
      decision: 'deny',
      by: 'user:ben',
      note: 'Too late.',
    })

    await until(() => expect(page.all('article.card')).toEqual([]))
    expect(page.all('.input')[0]?.textContent).toMatch(/ben said no · .*: Too late\.$/)
    expect(answers()).toEqual([])
    expect(await page.faults()).toEqual([])
  })

  test('is told from another of the same tool, also once it is answered', async () => {
    for (const id of ['i_1', 'i_2']) {
      const title = `Cancel order “${id}”`
      server.write('human_input_needed', approval({ id, inputId: id, title }))
      server.write('human_input_resolved', {
        inputId: id,
        status: 'approved',
        decision: 'approve',
        by: 'user:ana',
      })
    }
    mounted()

    await until(() => expect(page.all('.input')).toHaveLength(2))
    expect(page.all('.input').map(({ textContent }) => textContent)).toEqual([
      expect.stringMatching(/^ana approved · .* · Cancel order “i_1”$/),
      expect.stringMatching(/^ana approved · .* · Cancel order “i_2”$/),
    ])
  })

  test('has what the host adds: the record that an id names', async () => {
    const approvalPart = ({ args }: Input) =>
      document.createTextNode(`Order of Acme, ${args['id']}`)
    server.write('human_input_needed', approval())
    mounted({ approvalPart })

    expect((await page.one('article.card')).textContent).toContain('Order of Acme, 7')
  })

  test('of a tool of this page says that it acts there', async () => {
    const line = {
      act: 'CHANGES DATA',
      danger: 'may be hard to put right',
      host: "the user's client",
    }
    server.write('human_input_needed', approval({ line }))
    mounted()

    await page.shows('in your page of the app')
  })

  test('that another one answered first is taken as it stands', async () => {
    server.write('human_input_needed', approval())
    mounted()
    await page.one('article.card')
    server.once('POST', ANSWER, problem(409, 'answered', { input: { status: 'denied' } }))

    page.button('Cancel the order').click()
    await until(() => expect(answers()).toHaveLength(1))
    server.write('human_input_resolved', {
      inputId: 'i_1',
      status: 'denied',
      decision: 'deny',
      by: 'user:ben',
    })

    await until(() => expect(page.all('article.card')).toEqual([]))
    expect(page.text).toContain('ben')
    expect(page.all('[role=alert]')).toEqual([])
  })

  test('that is another one by now is shown as it stands before it is answered', async () => {
    server.write('human_input_needed', approval())
    mounted()
    await page.one('article.card')
    const changed = approval({ digest: 'd_2', arguments: [{ title: 'Order', text: '8' }] })
    server.once('POST', ANSWER, problem(409, 'stale_digest', { input: changed }))

    page.button('Cancel the order').click()

    await page.shows('It has changed.')
    expect(page.all('dd')[0]?.textContent).toBe('8')
    expect(await page.faults()).toEqual([])
    page.button('Cancel the order').click()
    await until(() => expect(answers().at(-1)).toEqual({ decision: 'approve', digest: 'd_2' }))
  })

  test('that could not be answered says why, and can be answered again', async () => {
    server.write('human_input_needed', approval())
    mounted()
    await page.one('article.card')
    server.once('POST', ANSWER, problem(403, 'not_yours'))

    page.button('Not now').click()
    await page.shows('Refused: not_yours.')
    page.button('Not now').click()

    await until(() => expect(answers()).toHaveLength(2))
  })

  test.each([
    ['operator', 'Waits for an operator of the workspace.'],
    ['other', 'Waits for somebody else.'],
  ] as const)('that is for an %s has no buttons', async (by, words) => {
    server.write('human_input_needed', approval({ by }))
    mounted()
    await page.one('article.card')

    expect(page.all('article.card button')).toEqual([])
    expect(page.text).toContain(words)
  })

  test('that is for somebody else can be answered by who may stand in', async () => {
    server.write('human_input_needed', approval({ by: 'other' }))
    mounted({ standsIn: true })
    await page.one('article.card')

    page.button('Cancel the order').click()

    await until(() => expect(answers()).toEqual([{ decision: 'approve', digest: 'd_1' }]))
  })

  test('gives the focus to where one writes once it is gone', async () => {
    server.write('human_input_needed', approval())
    mounted()
    await page.one('article.card')
    page.button('Not now').focus()

    server.write('human_input_resolved', {
      inputId: 'i_1',
      status: 'expired',
      decision: null,
      by: null,
    })

    await until(() => expect(page.root.activeElement).toBe(page.words))
    expect(page.text).toContain('Nobody answered in time')
  })
})

describe('an action card', () => {
  const card = {
    type: 'action_required',
    title: 'Connect the mail.',
    description: '<b>Choose</b> one.',
    elements: [
      { type: 'button', id: 'go', label: 'Connect', variant: 'primary', input: { scope: 'mail' } },
      {
        type: 'button',
        id: 'drop',
        label: 'Drop all',
        variant: 'danger',
        target: { type: 'url', method: 'POST', url: 'https://mail.example/drop' },
        does: { act: 'DELETES', danger: 'cannot be undone', host: 'mail.example' },
      },
    ],
  }
  const line = { act: 'NEEDS YOU', danger: 'the app asks you to choose', host: 'mail.example' }
  const action = (more = {}) =>
    approval({ kind: 'action', title: 'Connect the mail.', card: { ...card, ...more }, line })

  test("tells the app's words from the platform's, and what each button does", async () => {
    server.write('human_input_needed', action())
    mounted()
    const drawn = await page.one('article.card')

    const app = drawn.querySelector('section.app')
    expect(drawn.firstElementChild?.textContent).toContain('NEEDS YOU')
    expect(app?.textContent).toContain('<b>Choose</b> one.')
    expect(app?.querySelector('b')).toBeNull()
    expect(drawn.textContent).toContain('“Drop all”: DELETES · mail.example · cannot be undone')
    expect(drawn.querySelector('details')?.textContent).toContain('POST https://mail.example/drop')
    expect(await page.faults()).toEqual([])
  })

  test.each([
    ['Connect', { press: 'go' }],
    ['Skip', { skip: true }],
    ['Cancel', { cancel: true }],
  ])('is answered by %s', async (label, answer) => {
    server.write('human_input_needed', action())
    mounted()
    await page.one('article.card')

    page.button(label).click()

    await until(() => expect(answers()).toEqual([answer]))
  })

  test('that belongs to another device has its buttons there alone', async () => {
    server.write('human_input_needed', action({ assignee: { computerId: 'd_9', name: 'Laptop' } }))
    mounted()
    await page.one('article.card')

    expect(page.text).toContain('Continue on Laptop.')
    expect(page.all('button').map(({ textContent }) => textContent)).not.toContain('Connect')
  })

  test('says which button was pressed, and where', async () => {
    server.write('human_input_needed', action())
    server.write('human_input_resolved', {
      ...{ inputId: 'i_1', status: 'answered', decision: 'answer', by: 'user:ana' },
      ...{ press: 'go', device: 'd_9' },
    })
    mounted()

    await page.shows('ana pressed “Connect” on d_9')
  })
})

describe('a connection that is missing', () => {
  test('is asked for, and can be left out or stop the run', async () => {
    server.write('human_input_needed', approval({ kind: 'connect' }))
    mounted()
    await page.one('article.card')
    expect(await page.faults()).toEqual([])
    const before = page.text

    page.button('Go on without it').click()

    await until(() => expect(answers()).toEqual([{ decision: 'deny' }]))
    expect(before).toContain('orders waits until you are connected')
  })

  test('has what the host adds: where one connects', async () => {
    server.write('human_input_needed', approval({ kind: 'connect' }))
    const connectPart = ({ app }: Input) => {
      const made = document.createElement('a')
      made.href = `https://host.example/connect/${app}`
      made.textContent = 'Connect'
      return made
    }
    mounted({ connectPart })

    const link = await page.one('article.card a')
    expect(link.getAttribute('href')).toBe('https://host.example/connect/orders')
    expect(await page.faults()).toEqual([])
  })
})
