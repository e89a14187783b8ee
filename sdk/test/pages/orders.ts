/** A page of an app with orders, for tests in a real browser: the chat is mounted without React. */

import { defineTool, defineWidget, type Mounted, mount } from '../../src/client/index.js'

interface Order {
  readonly id: string
  note: string
}

declare global {
  interface Window {
    mounted: Mounted
    orders: Map<string, Order>
    /** Lets `slow_save` end. */
    finish: () => void
  }
}

const text = (path: string, body?: unknown) =>
  fetch(path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }).then(
    (got) => got.text(),
  )

/** Told to the page's own server, which counts it over all tabs. */
const did = (what: string) => text('/did', { what })

const byId = {
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id'],
  additionalProperties: false,
} as const

window.orders = new Map([['ord_1', { id: 'ord_1', note: 'as new' }]])

const tools = {
  open_order: defineTool({
    metadata: { title: 'Open an order' },
    description: 'Opens the page of an order.',
    parameters: byId,
    category: 'read',
    dangerLevel: 'safe',
    execute: async ({ id }) => {
      await did(`opened ${id}`)
      return { opened: String(id) }
    },
  }),
  slow_save: defineTool({
    description: 'Saves an order, slowly.',
    parameters: byId,
    execute: async ({ id }) => {
      await did(`saving ${id}`)
      await new Promise<void>((done) => {
        window.finish = done
      })
      await did(`saved ${id}`)
      return { saved: String(id) }
    },
  }),
  set_note: defineTool({
    description: 'Writes the note of an order.',
    parameters: { ...byId, properties: { ...byId.properties, note: { type: 'string' } } },
    execute: ({ id, note }) => {
      const order = window.orders.get(String(id))
      if (!order) {
        throw new Error(`There is no order ${id}.`)
      }
      order.note = String(note)
      return { ...order }
    },
  }),
  read_note: defineTool({
    description: 'Reads the note of an order.',
    parameters: byId,
    category: 'read',
    dangerLevel: 'safe',
    execute: ({ id }) => ({ ...window.orders.get(String(id)) }),
  }),
  circle: defineTool({
    description: 'Gives back what cannot be sent.',
    parameters: { type: 'object', properties: {} },
    execute: async () => {
      await did('circled')
      const found: Record<string, unknown> = {}
      found['self'] = found
      return found
    },
  }),
  remove_order: defineTool({
    description: 'Removes an order for good.',
    parameters: byId,
    category: 'write',
    dangerLevel: 'destructive',
    execute: async ({ id }) => {
      await did(`removed ${id}`)
      return { removed: String(id) }
    },
  }),
}

const widgets = {
  orderCard: defineWidget({
    description: 'Shows an order.',
    parameters: byId,
    render: ({ id }, container) => {
      const draw = () => {
        container.textContent = `Order ${id}: ${window.orders.get(String(id))?.note}`
      }
      draw()
      const timer = setInterval(draw, 20)
      return () => {
        clearInterval(timer)
        did(`dropped ${id}`)
      }
    },
  }),
}

const { server, session, locale } = JSON.parse(await text('/settings'))
const place = document.getElementById('chat')
if (place) {
  window.mounted = mount(place, {
    server,
    session,
    getToken: () => text('/token'),
    tools,
    widgets,
    context: { page: location.pathname },
    ...(locale && { locale }),
  })
}
