// @vitest-environment jsdom
/** The host app's own UI in the transcript, without React. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { defineWidget, type Widgets } from '../../src/client/index.js'
import { SESSION, SessionServer } from '../session-server.js'
import { until } from '../until.js'
import { Page } from './mounted.js'

const byId = z.object({ id: z.coerce.number() })

let server: SessionServer
let page: Page | null = null

beforeEach(async () => {
  server = await new SessionServer().start()
})

afterEach(async () => {
  page?.leave()
  page = null
  await server.stop()
})

function mounted(widgets: Widgets, maxLiveWidgets?: number): Page {
  page = new Page(server, { widgets, ...(maxLiveWidgets && { maxLiveWidgets }) })
  return page
}

/** The agent uses a widget. */
function use(callId: string, props: Record<string, unknown>, widget = 'card'): void {
  const second = String(server.log.length + 1).padStart(3, '0')
  server.write('widget', { callId, widget, props, runId: 'r_1' }, `2026-01-01T00:00:00.${second}Z`)
}

/** What each live render shows, in the order of the transcript. */
function live(): (string | null)[] {
  const places = page?.all('.widget slot') ?? []
  return places.map(
    (slot) =>
      page?.host.querySelector(`[slot="${slot.getAttribute('name')}"]`)?.textContent ?? null,
  )
}

function card(text = 'Order', ended: string[] = []) {
  return defineWidget({
    description: 'Shows an order.',
    parameters: byId,
    render: ({ id }, container) => {
      container.textContent = `${text} ${id}`
      return () => {
        ended.push(`${text} ${id}`)
      }
    },
  })
}

const soon = () => new Promise((done) => setTimeout(done, 50))

describe('a widget', () => {
  test("is drawn into a container among the host's own elements, in its place of the transcript (A-01, A-09)", async () => {
    mounted({ card: card() })
    server.write('message', { messageId: 'm_1', role: 'user', text: 'Show order 7.' })
    use('c_1', { id: '7' })

    await until(() => expect(live()).toEqual(['Order 7']))
    const container = page?.host.querySelector('div')
    expect(container?.getRootNode()).toBe(document)
    expect(page?.all('.transcript .turn, .transcript .widget')[1]?.className).toBe('widget')
    expect(await page?.faults()).toEqual([])
  })

  test('that is used sends no message and no result (A-11)', async () => {
    let count = 0
    mounted({
      card: defineWidget({
        description: 'Counts.',
        parameters: byId,
        render: (_props, container) => {
          const button = document.createElement('button')
          button.addEventListener('click', () => {
            count += 1
            button.textContent = String(count)
          })
          container.append(button)
        },
      }),
    })
    use('c_1', { id: 7 })
    await until(() => expect(live()).toHaveLength(1))
    // The page has asked for all that it asks for by itself.
    await until(() => expect(server.of('GET', '')).toHaveLength(1))
    await until(() => expect(server.of('PUT', /./)).toHaveLength(1))
    const before = server.asked.length

    page?.host.querySelector('button')?.click()
    await soon()

    expect(live()).toEqual(['1'])
    expect(server.asked).toHaveLength(before)
    expect(server.of('POST', /./)).toEqual([])
  })

  test('whose input its schema refuses is not drawn, and says why (A-15)', async () => {
    const render = vi.fn()
    mounted({ card: defineWidget({ description: 'A card.', parameters: byId, render }) })
    use('c_1', { id: 'x' })

    await page?.shows('card cannot be drawn: id: ')
    expect(render).not.toHaveBeenCalled()
    expect(page?.host.children).toHaveLength(0)
    expect(await page?.faults()).toEqual([])
  })

  test('with plain JSON Schema is drawn with what comes (A-16)', async () => {
    const parameters = { type: 'object', properties: { id: { type: 'string' } } } as const
    const render = (input: unknown, container: HTMLElement) => {
      container.textContent = JSON.stringify(input)
    }
    mounted({ card: defineWidget({ description: 'A card.', parameters, render }) })
    use('c_1', { id: 7 })

    await until(() => expect(live()).toEqual(['{"id":7}']))
  })

  test('whose render throws says so, and the next is drawn', async () => {
    mounted({
      card: defineWidget({
        description: 'A card.',
        parameters: byId,
        render: ({ id }, container) => {
          if (id === 1) {
            throw new Error('no such order')
          }
          container.textContent = `Order ${id}`
        },
      }),
    })
    use('c_1', { id: 1 })
    use('c_2', { id: 2 })

    await page?.shows('card cannot be drawn: no such order')
    await until(() => expect(live()).toEqual(['Order 2']))
    expect(page?.host.children).toHaveLength(1)
  })

  test('that the page does not have is named', async () => {
    mounted({ card: card() })
    use('c_1', {}, 'toString')

    await page?.shows('toString is not on this page.')
  })
})

describe('many renders of a widget', () => {
  test('are live at once up to eight; the oldest are folded, and shown again by a click (A-12)', async () => {
    const ended: string[] = []
    mounted({ card: card('Order', ended) })
    for (let id = 1; id <= 10; id += 1) {
      use(`c_${id}`, { id })
    }

    const newest = [3, 4, 5, 6, 7, 8, 9, 10].map((id) => `Order ${id}`)
    await until(() => expect(live()).toEqual(newest))
    expect(page?.text.match(/card, folded/g)).toHaveLength(2)
    expect(page?.host.children).toHaveLength(8)
    expect(await page?.faults()).toEqual([])

    page?.button('Show').click()

    const shown = ['Order 1', ...newest.slice(1)]
    await until(() => expect(live()).toEqual(shown))
    expect(page?.text.match(/card, folded/g)).toHaveLength(2)
    expect(page?.host.children).toHaveLength(8)
    expect(ended).toContain('Order 3')
  })

  test('are as many as the host wants, each widget for itself (A-12)', async () => {
    mounted({ card: card(), other: card('Other') }, 1)
    use('c_1', { id: 1 })
    use('c_2', { id: 2 }, 'other')
    use('c_3', { id: 3 })

    await until(() => expect(live()).toEqual(['Other 2', 'Order 3']))
  })
})

describe('the definitions', () => {
  test('that drop a widget end its renders, and let the others be (A-13)', async () => {
    const ended: string[] = []
    const other = card('Other', ended)
    mounted({ card: card('Order', ended), other })
    use('c_1', { id: 1 })
    use('c_2', { id: 2 }, 'other')
    use('c_3', { id: 3 })
    await until(() => expect(live()).toHaveLength(3))

    page?.chat.update({ widgets: { other } })

    await until(() => expect(live()).toEqual(['Other 2']))
    expect(ended).toEqual(['Order 1', 'Order 3'])
    expect(page?.text.match(/card is not on this page\./g)).toHaveLength(2)
    expect(page?.host.children).toHaveLength(1)
  })

  test('that bring a widget back draw it again (A-13)', async () => {
    const widgets = { card: card() }
    mounted(widgets)
    use('c_1', { id: 1 })
    await until(() => expect(live()).toHaveLength(1))
    page?.chat.update({})
    await until(() => expect(live()).toEqual([]))

    page?.chat.update({ widgets })

    await until(() => expect(live()).toEqual(['Order 1']))
  })

  test('with another render draw anew, with the same one not (A-25)', async () => {
    const ended: string[] = []
    const first = card('Order', ended)
    mounted({ card: first })
    use('c_1', { id: 1 })
    await until(() => expect(live()).toEqual(['Order 1']))

    page?.chat.update({ widgets: { card: { ...first, parameters: z.object(byId.shape) } } })
    await soon()
    expect(ended).toEqual([])

    page?.chat.update({ widgets: { card: card('Bestellung') } })
    await until(() => expect(live()).toEqual(['Bestellung 1']))
    expect(ended).toEqual(['Order 1'])
  })

  test('whose clean-up fails hold up no other (A-13)', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const ended: number[] = []
    mounted({
      card: defineWidget({
        description: 'A card.',
        parameters: byId,
        render:
          ({ id }) =>
          () => {
            ended.push(id)
            throw new Error('a fault of the host')
          },
      }),
    })
    use('c_1', { id: 1 })
    use('c_2', { id: 2 })
    await until(() => expect(live()).toHaveLength(2))

    page?.chat.update({})

    await until(() => expect(ended).toEqual([1, 2]))
    expect(page?.host.children).toHaveLength(0)
    expect(logged).toHaveBeenCalledTimes(2)
    logged.mockRestore()
  })
})

describe('a chat that is left', () => {
  test('ends its renders (A-13)', async () => {
    const ended: string[] = []
    mounted({ card: card('Order', ended) })
    use('c_1', { id: 1 })
    await until(() => expect(live()).toHaveLength(1))

    page?.chat.unmount()

    expect(ended).toEqual(['Order 1'])
    expect(page?.host.children).toHaveLength(0)
  })

  test('draws nothing later, though an input was being checked (A-13)', async () => {
    let checked = () => {}
    const render = vi.fn()
    const parameters = z.object({}).refine(async () => {
      await new Promise<void>((done) => {
        checked = done
      })
      return true
    })
    mounted({ card: defineWidget({ description: 'A card.', parameters, render }) })
    use('c_1', {})
    await page?.one('.widget')
    await soon()

    page?.chat.unmount()
    checked()
    await soon()

    expect(render).not.toHaveBeenCalled()
    expect(page?.host.children).toHaveLength(0)
  })

  test('begins with empty places where the server has another log', async () => {
    const ended: string[] = []
    mounted({ card: card('Order', ended) })
    use('c_1', { id: 1 })
    use('c_2', { id: 2 })
    await until(() => expect(live()).toHaveLength(2))

    server.log.length = 0
    server.drop()
    use('c_9', { id: 9 })

    await until(() => expect(live()).toEqual(['Order 9']))
    expect(ended).toEqual(['Order 1', 'Order 2'])
    expect(page?.chat.connection.session).toBe(SESSION)
  })
})
