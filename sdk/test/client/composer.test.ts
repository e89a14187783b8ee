// @vitest-environment jsdom
/** Where one writes: what is sent, what is stopped, and what is said of the connection. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MountOptions } from '../../src/client/index.js'
import { problem, SessionServer } from '../session-server.js'
import { until } from '../until.js'
import { approval, Page, press, RUN, usage } from './mounted.js'

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

    press(page.words, 'Escape')

    await until(() => expect(server.of('POST', '/cancel')).toHaveLength(1))
    server.write('status', { status: 'idle' })
    await until(() => expect(page.button('Stop').hidden).toBe(true))
    server.write('status', { status: 'running' })
    await until(() => expect(page.button('Stop').hidden).toBe(false))
    page.button('Stop').click()
    await until(() => expect(server.of('POST', '/cancel')).toHaveLength(2))
    server.write('status', { status: 'waiting_human' })
    await until(() => expect(page.words.placeholder).toContain('takes the request back'))
    server.write('status', { status: 'idle' })
    await until(() => expect(page.button('Stop').hidden).toBe(true))
  })

  test('says at once that a run is being stopped, and stops it once', async () => {
    server.write('run_started', RUN)
    server.write('status', { status: 'running' })
    mounted()
    await until(() => expect(page.button('Stop').hidden).toBe(false))

    page.button('Stop').click()
    await page.shows('Stopping …')
    page.button('Stop').click()
    press(page.words, 'Escape')

    expect(page.button('Stop').getAttribute('aria-disabled')).toBe('true')
    server.write('run_finished', { runId: 'r_1', reason: 'cancelled', usage })
    server.write('status', { status: 'idle' })
    await until(() => expect(page.text).not.toContain('Stopping …'))
    expect(server.of('POST', '/cancel')).toHaveLength(1)
  })

  test('says why a run could not be stopped, and can be asked again', async () => {
    server.write('status', { status: 'running' })
    mounted()
    await until(() => expect(page.button('Stop').hidden).toBe(false))
    server.once('POST', '/cancel', problem(403, 'forbidden'))

    page.button('Stop').click()

    await until(() => expect(page.all('[role=status]')[0]?.textContent).toBe('Refused: forbidden.'))
    await until(() => expect(page.button('Stop').getAttribute('aria-disabled')).toBe('false'))
  })

  test('leaves Escape to who has a use of his own for it', async () => {
    const input = approval({ rememberable: true })
    server.write('human_input_needed', input)
    server.write('status', { status: 'waiting_human' })
    mounted()
    const note = await page.one('.card input[type=text]')
    const widget = document.createElement('input')
    page.host.append(widget)
    const composing = { key: 'Escape', isComposing: true, bubbles: true, composed: true }

    press(note, 'Escape')
    press(widget, 'Escape')
    page.words.dispatchEvent(new KeyboardEvent('keydown', composing))
    await new Promise((done) => setTimeout(done, 50))
    expect(server.of('POST', '/cancel')).toEqual([])

    press(page.button('Not now'), 'Escape')
    await until(() => expect(server.of('POST', '/cancel')).toHaveLength(1))
  })

  test('marks what is said in the middle as what comes next, and what was stopped before its turn', async () => {
    server.write('run_started', RUN)
    server.write('status', { status: 'running' })
    for (const run of ['r_2', 'r_3']) {
      server.write('message', { messageId: run, role: 'user', text: run, runId: run })
    }
    mounted()
    await until(() => expect(page.all('.turn')).toHaveLength(2))
    const turns = () => page.all('.turn').map(({ textContent }) => textContent)
    expect(turns()).toEqual(['r_2Comes next.', 'r_3Comes next.'])

    server.write('run_finished', { runId: 'r_1', reason: 'done', usage })
    server.write('run_started', { ...RUN, runId: 'r_2' })
    await until(() => expect(turns()[0]).toBe('r_2'))
    server.write('run_finished', { runId: 'r_2', reason: 'cancelled', usage })
    server.write('run_finished', { runId: 'r_3', reason: 'cancelled', usage })

    await until(() => expect(turns()[1]).toBe('r_3Stopped before its turn.'))
    expect(page.text.match(/Stopped\.(?! )/g)).toHaveLength(1)
  })

  test('gives back what could not be sent, before what was written since', async () => {
    mounted()
    server.once('POST', '/messages', problem(413, 'too_large'))
    page.say('long')
    await page.shows('Not sent.')
    page.words.value = 'and more'

    page.button('Edit').click()

    expect(page.words.value).toBe('long\nand more')
    expect(page.root.activeElement).toBe(page.words)
    await until(() => expect(page.all('.outgoing')).toEqual([]))
  })

  test('is there for who is signed out, and what he says goes on once he is in', async () => {
    let isSignedIn = false
    server.answer(() => (isSignedIn ? undefined : problem(401, 'unauthorized')))
    mounted()
    await page.shows('You are not signed in here any more.')
    expect(page.words.disabled).toBe(false)
    isSignedIn = true

    page.say('Hello')

    await until(() => expect(page.all('.turn.user')[0]?.textContent).toBe('Hello'))
    await until(() => expect(page.text).not.toContain('You are not signed in'))
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
    expect(page.text).toContain('The conversation is being opened.')
  })

  test('says to who does not look that the connection is lost, and that it is back', async () => {
    mounted()
    await until(() => expect(server.readers).toBe(1))
    let isAway = true
    server.answer(({ path }) => (isAway && path === '/events' ? { status: 503 } : undefined))
    const spoken = () => page.all('[role=status]')[0]?.textContent

    server.drop()
    await until(() => expect(spoken()).toBe('The connection is lost. Trying again.'))
    isAway = false

    await until(() => expect(spoken()).toBe('Connected again.'))
  })
})
