// @vitest-environment jsdom
/** The chat as its user meets it: entries, cards, and where one writes. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { MountOptions } from '../../src/client/index.js'
import type { Display, Outcome } from '../../src/wire/event.js'
import { delta, SessionServer } from '../session-server.js'
import { until } from '../until.js'
import { approval, Page, usage } from './mounted.js'

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

    say('m_1', 'assistant', 'Done, **all**.\n\n- one')

    await until(() => expect(page.all('.turn')[0]?.textContent).toBe('Done, all.one'))
    expect(page.all('[role=status]')[0]?.textContent).toBe('Done, all. one')
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

  test('here is at work, and waits for a page elsewhere', async () => {
    const execute = () => new Promise(() => {})
    const tool = {
      description: 'Saves.',
      parameters: { type: 'object', properties: {} },
      execute,
    } as const
    mounted({ tools: { here: tool } })
    server.write('status', { status: 'waiting_client' })
    server.offer('c_1', 'elsewhere', {})
    await page.shows('elsewhere · Waits for a page of the app ·')
    expect(page.all('.line')[0]?.textContent).toBe('Waits for a page of the app.')

    server.offer('c_2', 'here', {})

    await until(() => expect(page.text).toContain('here · at work ·'))
    expect(page.all('.line')[0]?.textContent).toBe('')
  })

  test('and nobody knows whether it happened says why', async () => {
    call('c_1', 'Save')
    const message =
      'save took longer than 50 ms. The action may have happened: read the current state before you repeat it.'
    const error = { code: 'outcome_unknown', message, mayHaveHappened: true }
    result('c_1', 'outcome_unknown', { error })
    mounted()

    await page.shows('save took longer than 50 ms.')
    expect(page.text).toContain('This may have happened. Check before trying again.')
    expect(page.text).not.toContain('before you repeat it')
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

  test('keeps what is wrong with the model for those who can mend it', async () => {
    const message = "The model's server does not accept the key. Check REMIT_MODEL_API_KEY."
    const error = { code: 'model_unavailable', message }
    server.write('run_finished', { runId: 'r_1', reason: 'failed', usage, error })
    mounted()

    await page.shows('The agent cannot answer now.')
    const folded = page.all('.transcript details')[0] as HTMLDetailsElement
    expect([folded.open, folded.textContent]).toEqual([false, `Why${message}`])
    page.leave()
    mounted({ standsIn: true })
    await page.shows(message)
    expect(page.all('.transcript details')).toEqual([])
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
