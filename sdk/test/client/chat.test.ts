// @vitest-environment jsdom
/** The chat as its user meets it: entries, cards, and where one writes. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { MountOptions } from '../../src/client/index.js'
import type { Display, Input, Outcome } from '../../src/wire/event.js'
import { delta, problem, SessionServer } from '../session-server.js'
import { until } from '../until.js'
import { Page, press } from './mounted.js'

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

function call(callId: string, title = '', tool = 'save_order', args = {}): void {
  const data = { callId, app: 'orders', tool, offeredAs: tool, title, args, runId: 'r_1' }
  server.write('tool_call', data)
}

function result(callId: string, outcome: Outcome, display?: Display): void {
  server.write('tool_result', { callId, outcome, content: '{"id":7}', ...(display && { display }) })
}

function say(messageId: string, role: 'user' | 'assistant', text: string): void {
  server.write('message', { messageId, role, text })
}

const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, calls: 1, ms: 1 }

function approval(more: Partial<Input> = {}): Input {
  return {
    id: 'i_1',
    inputId: 'i_1',
    kind: 'approval',
    status: 'open',
    callId: 'c_1',
    user: 'ana',
    app: 'orders',
    tool: 'cancel_order',
    title: 'Cancel order “7”',
    titleParts: [
      { text: 'Cancel order ', inserted: false },
      { text: '7', inserted: true },
    ],
    line: { act: 'DELETES', danger: 'cannot be undone', host: 'api.orders.example' },
    verb: 'Cancel the order',
    arguments: [{ title: 'Order', text: '7' }],
    args: { id: '7' },
    preview: { customer: 'Acme' },
    request: { method: 'DELETE', url: 'https://api.orders.example/7', headers: {}, body: null },
    reason: 'it is destructive',
    account: 'ana@orders',
    digest: 'd_1',
    by: 'user',
    createdAt: '2026-01-01T00:00:00Z',
    expiresAt: '2026-01-02T00:00:00Z',
    runId: 'r_1',
    ...more,
  }
}

const ANSWER = '/human-input/i_1'
const answers = () => server.of('POST', ANSWER).map(({ body }) => body)

describe('what was said', () => {
  test('stands in its order: the user as written, the agent as Markdown', async () => {
    say('m_1', 'user', '**Hi** <b>')
    say('m_2', 'assistant', '**Hi**')
    mounted()

    await until(() => expect(page.all('.turn')).toHaveLength(2))
    const [first, second] = page.all('.turn')
    expect(first?.getAttribute('aria-label')).toBe('You')
    expect(first?.textContent).toBe('**Hi** <b>')
    expect(second?.querySelector('strong')?.textContent).toBe('Hi')
    expect(await page.faults()).toEqual([])
  })

  test('grows while it is written, and is read out once it is whole', async () => {
    mounted()
    await until(() => expect(server.readers).toBe(1))
    server.send(delta('m_1', 0, 'Done'))
    await until(() => expect(page.all('.turn')[0]?.textContent).toBe('Done'))
    expect(page.all('[role=status]')[0]?.textContent).toBe('')

    say('m_1', 'assistant', 'Done, all.')

    await until(() => expect(page.all('.turn')[0]?.textContent).toBe('Done, all.'))
    expect(page.all('[role=status]')[0]?.textContent).toBe('Done, all.')
    expect(page.all('.turn')).toHaveLength(1)
  })

  test('says where it was cut off', async () => {
    mounted()
    server.write('message', { messageId: 'm', role: 'assistant', text: 'Do', partial: true })

    await page.shows('Cut off here.')
    expect(await page.faults()).toEqual([])
  })

  test('of very many shows the newest, and the earlier ones when asked', async () => {
    for (let number = 1; number <= 130; number += 1) {
      say(`m_${number}`, 'user', `Number ${number}.`)
    }
    mounted()
    await page.shows('Number 130.')
    expect(page.text).not.toContain('Number 70.')
    expect(page.all('.turn')).toHaveLength(60)

    page.button('Show earlier messages').click()
    expect(page.all('.turn')[0]?.textContent).toBe('Number 11.')
    page.button('Show earlier messages').click()

    expect(page.all('.turn').map(({ textContent }) => textContent)).toEqual(
      Array.from({ length: 130 }, (_, index) => `Number ${index + 1}.`),
    )
    expect(page.all('.earlier')[0]?.hidden).toBe(true)
  })
})

describe('what is done', () => {
  test('is labelled by the title of the tool, else by its name (A-06)', async () => {
    call('c_1', 'Save the order')
    call('c_2', '', 'save_all')
    mounted()

    await until(() => expect(page.all('summary b')).toHaveLength(2))
    expect(page.all('summary b').map(({ textContent }) => textContent)).toEqual([
      'Save the order',
      'save_all',
    ])
    expect(page.text).toContain('at work')
    expect(await page.faults()).toEqual([])
  })

  test('shows how it ended, and what went in and came out when it is opened', async () => {
    call('c_1', 'Save', 'save', { id: 7 })
    result('c_1', 'ok')
    mounted()
    const details = (await page.one('details')) as HTMLDetailsElement

    details.open = true
    details.dispatchEvent(new Event('toggle'))

    expect([...details.querySelectorAll('pre')].map(({ textContent }) => textContent)).toEqual([
      '{\n  "id": 7\n}',
      '{"id":7}',
    ])
    expect(await page.faults()).toEqual([])
  })

  test('has what the host adds to a call that was opened, once it is over', async () => {
    call('c_1', 'Save')
    const callPart = vi.fn((id: string) => document.createTextNode(`record of ${id}`))
    mounted({ callPart })
    const details = (await page.one('details')) as HTMLDetailsElement
    details.open = true
    details.dispatchEvent(new Event('toggle'))
    expect(callPart).not.toHaveBeenCalled()

    result('c_1', 'ok')

    await page.shows('record of c_1')
    expect(callPart).toHaveBeenCalledTimes(1)
  })

  test.each<[Outcome, string]>([
    ['denied', 'not done'],
    ['skipped', 'skipped'],
    ['expired', 'not done'],
    ['cancelled', 'stopped'],
    ['outcome_unknown', 'This may have happened.'],
  ])('shows that it ended %s', async (outcome, words) => {
    call('c_1', 'Save')
    result('c_1', outcome)
    mounted()

    await page.shows(words)
  })

  test('shows what went wrong, and that it may have happened all the same', async () => {
    call('c_1', 'Save')
    const error = { code: 'upstream_timeout', message: 'No answer.', mayHaveHappened: true }
    result('c_1', 'error', { error })
    mounted()

    await page.shows('No answer.')
    expect(page.text).toContain('This may have happened.')
    expect(await page.faults()).toEqual([])
  })

  test('shows how far it is', async () => {
    call('c_1', 'Save')
    server.write('tool_progress', { callId: 'c_1', polls: 3, status: 'half' })
    mounted()

    await page.shows('half')
  })

  test('tells of a run that failed, was stopped or came to a limit, and of apps that lack', async () => {
    const facts = { source: 'stale', ageSeconds: 1, tools: 0 } as const
    const mail = { app: 'mail', ...facts, dropped: [], unavailable: 'It is down.' }
    server.write('catalog', { apps: [mail] })
    const error = { code: 'x', message: 'The model is away.' }
    server.write('run_finished', { runId: 'r_1', reason: 'failed', usage, error })
    server.write('run_finished', { runId: 'r_2', reason: 'cancelled', usage })
    mounted()

    await page.shows('mail cannot be used now: It is down.')
    expect(page.text).toContain('The model is away.')
    expect(page.text).toContain('Stopped.')
    expect(await page.faults()).toEqual([])
  })
})

describe('a result', () => {
  const place = 'https://a.example/x'

  test.each<[string, Display, string, string]>([
    ['a note', { markdown: '**a**' }, 'strong', 'a'],
    ['a link', { renderer: 'link', data: { url: place, label: 'See' } }, 'a[href]', 'See'],
    ['rows', { renderer: 'table', data: { rows: [{ a: 1 }, { a: 2 }] } }, 'table', 'a12'],
    ['a patch', { renderer: 'diff', data: { patch: '-a\n+b' } }, '.added', '+b\n'],
    ['two sides', { renderer: 'diff', data: { before: 'a', after: { b: 1 } } }, 'pre', 'a'],
    [
      'a page',
      { embedUrl: place },
      'figcaption',
      'A page of the app, on a.example · Open it in a tab',
    ],
  ])('is drawn as %s', async (_, display, selector, text) => {
    call('c_1', 'Read')
    result('c_1', 'ok', display)
    mounted()

    expect((await page.one(`.shown ${selector}`)).textContent).toBe(text)
    expect(await page.faults()).toEqual([])
  })

  test('is drawn as a picture that learns nothing of the page, with words for it', async () => {
    call('c_1', 'Read')
    result('c_1', 'ok', { renderer: 'image', data: { url: place, alt: 'A chart' } })
    mounted()

    const drawn = await page.one('.shown img')
    expect(drawn.getAttribute('alt')).toBe('A chart')
    expect(drawn.getAttribute('referrerpolicy')).toBe('no-referrer')
    expect(await page.faults()).toEqual([])
  })

  test.each<[string, Display]>([
    ['a link to no absolute address', { renderer: 'link', data: { url: 'javascript:alert(1)' } }],
    ['a picture of none', { renderer: 'image', data: { url: 'data:image/svg+xml,x' } }],
    ['no rows', { renderer: 'table', data: { rows: [] } }],
    ['JSON', { renderer: 'json', data: { a: 1 } }],
  ])('is folded where it is %s', async (_, display) => {
    call('c_1', 'Read')
    result('c_1', 'ok', display)
    mounted()

    await page.one('.call')
    expect(page.all('.shown, a, img')).toEqual([])
  })
})

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

  test('that is for somebody else is answered by who may stand in', async () => {
    server.write('human_input_needed', approval({ by: 'other' }))
    mounted({ standsIn: true })
    await page.one('article.card')
    expect(await page.faults()).toEqual([])
    const other = page.all('article.card input')[0] as HTMLInputElement
    other.value = 'ben'

    page.button('Cancel the order').click()

    await until(() =>
      expect(answers()).toEqual([{ decision: 'approve', digest: 'd_1', user: 'ben' }]),
    )
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

describe('where one writes', () => {
  test('sends with Enter, and shows what is on its way', async () => {
    mounted()
    await page.shows('Say what you want done.')
    expect(await page.faults()).toEqual([])

    page.say('  Hello ')

    await until(() => expect(page.all('.turn.user')[0]?.textContent).toBe('Hello'))
    expect(page.words.value).toBe('')
    await until(() => expect(page.all('.outgoing')).toEqual([]))
    expect(server.of('POST', '/messages')).toHaveLength(1)
  })

  test('sends nothing of nothing, and no half word of a keyboard that composes', async () => {
    mounted()
    page.say('   ')
    page.words.value = 'に'
    page.words.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }),
    )
    await new Promise((done) => setTimeout(done, 50))

    expect(server.of('POST', '/messages')).toEqual([])
  })

  test('keeps what was not sent, says why, and sends it when asked', async () => {
    mounted()
    server.once('POST', '/messages', problem(409, 'running'))
    page.say('Hello')
    await page.shows('Not sent. Refused: running.')
    expect(await page.faults()).toEqual([])

    page.button('Try again').click()

    await until(() => expect(page.all('.outgoing')).toEqual([]))
    expect(page.all('.turn.user').map(({ textContent }) => textContent)).toEqual(['Hello'])
  })

  test('drops what was not sent when asked', async () => {
    mounted()
    server.once('POST', '/messages', problem(409, 'running'))
    page.say('Hello')
    await page.shows('Not sent.')

    page.button('Discard').click()

    await until(() => expect(page.all('.turn')).toEqual([]))
  })

  test('stops a run by its button or Escape, and says what a message would do', async () => {
    server.write('status', { status: 'running' })
    mounted()
    await until(() => expect(page.words.placeholder).toBe('Say what comes next'))

    page.button('Stop').click()
    press(page.words, 'Escape')

    await until(() => expect(server.of('POST', '/cancel')).toHaveLength(2))
    server.write('status', { status: 'waiting_human' })
    await until(() => expect(page.words.placeholder).toContain('takes the request back'))
    server.write('status', { status: 'idle' })
    await until(() => expect(page.button('Stop').hidden).toBe(true))
  })

  test('is closed with its session', async () => {
    mounted()
    await until(() => expect(server.readers).toBe(1))

    server.end('session_closed')

    await page.shows('The conversation is closed.')
    expect(page.words.disabled).toBe(true)
    expect(await page.faults()).toEqual([])
  })

  test('says that the connection is lost', async () => {
    server.answer(({ path }) => (path === '/events' ? { status: 503 } : undefined))
    mounted()

    await page.shows('The connection is lost. Trying again.')
  })
})

describe('what apps ask of the page', () => {
  test('is a click of the user away', async () => {
    const args = { url: 'https://a.example/x' }
    server.args.set('c_1', args)
    server.write('client_tool_call', {
      ...{ callId: 'c_1', tool: 'show', args, runId: 'r_1', app: 'orders', handler: 'open_url' },
    })
    mounted()
    const link = await page.one('.prompts a')

    expect(link.textContent).toBe('Open a.example')
    expect(link.getAttribute('rel')).toBe('noopener noreferrer')
    expect(await page.faults()).toEqual([])
    link.addEventListener('click', (event) => event.preventDefault())
    link.click()
    await until(() => expect(server.results).toMatchObject([{ result: { opened: args.url } }]))
    await until(() => expect(page.all('.prompts a')).toEqual([]))
  })
})

describe('a chat in Spanish', () => {
  test('has all of its own words in it, and says so', async () => {
    server.write('human_input_needed', approval())
    mounted({ locale: 'es-MX', texts: { send: 'Enviar ya' } })
    await page.one('article.card')

    expect(page.all('section')[0]?.lang).toBe('es-MX')
    expect(page.text).toContain('BORRA · no se puede deshacer')
    expect(page.text).toContain('Enviar ya')
    expect(page.text).not.toMatch(/Not now|Waits for|Send|Stop/)
    expect(await page.faults()).toEqual([])
  })
})
