// @vitest-environment jsdom
/** The session in a provider, a chat that comes and goes, and widgets in the host's own tree. */

import { act, cleanup, fireEvent, render } from '@testing-library/react'
import {
  createContext,
  createElement as h,
  type ReactNode,
  StrictMode,
  useContext,
  useState,
  version,
} from 'react'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  Chat,
  defineTool,
  defineWidget,
  type ReactWidgets,
  Remit,
  type RemitHandle,
  type RemitProps,
  useRemit,
} from '../../src/react/index.js'
import type { Input } from '../../src/wire/event.js'
import { AT, problem, SESSION, SessionServer, TOKEN } from '../session-server.js'

const ANY = { type: 'object', properties: {} } as const
const byId = z.object({ id: z.string() })

let server: SessionServer

beforeEach(async () => {
  server = await new SessionServer().start()
})

afterEach(async () => {
  cleanup()
  await server.stop()
})

test('React is the one of this project', ({ task }) => {
  const wanted = task.file.projectName === 'react 18' ? /^18\./ : /^19\./

  expect(version).toMatch(wanted)
})

const announced = () => server.of('PUT', /^\/clients\//)
const soon = (ms = 100) => act(() => new Promise<void>((done) => setTimeout(done, ms)))

/** Wait with React's own work done in between. */
async function until(check: () => void): Promise<void> {
  for (let left = 60; ; left -= 1) {
    await soon(50)
    try {
      check()
      return
    } catch (error) {
      if (left === 0) {
        throw error
      }
    }
  }
}

function provider(props: Partial<RemitProps>, ...children: ReactNode[]): ReactNode {
  const given = { server: server.url, session: SESSION, getToken: () => TOKEN, locale: 'en' }
  return h(Remit, { ...given, ...props, children: h('div', {}, ...children) })
}

/** The words of the chat. */
function transcript(): string {
  return shadow()?.textContent ?? ''
}

function shadow(): Element | null | undefined {
  const hosts = [...document.querySelectorAll('div')].filter((one) => one.shadowRoot)
  return hosts.at(-1)?.shadowRoot?.querySelector('section')
}

function use(callId: string, props: Record<string, unknown>, widget = 'card'): void {
  server.write('widget', { callId, widget, props, runId: 'r_1' })
}

function Send(): ReactNode {
  const { send } = useRemit()
  return h('button', { type: 'button', onClick: () => send('hello') }, 'send')
}

function said(text: string): void {
  server.write('message', { messageId: `m_${text}`, role: 'user', text })
}

function card(draw: (input: { id: string }) => ReactNode): ReactWidgets {
  return { card: defineWidget({ description: 'A card.', parameters: byId, render: draw }) }
}

describe('the provider', () => {
  test('keeps the session while the chat comes and goes (A-36)', async () => {
    const view = render(provider({}, h(Chat)))
    said('before')
    await until(() => expect(transcript()).toContain('before'))
    const words = shadow()?.querySelector('textarea') as HTMLTextAreaElement
    fireEvent.input(words, { target: { value: 'a draft' } })

    view.rerender(provider({}, h('p', {}, 'another page')))
    expect(shadow()).toBeUndefined()
    said('meanwhile')
    await soon()
    view.rerender(provider({}, h(Chat)))

    await until(() => expect(transcript()).toContain('meanwhile'))
    expect(transcript()).toContain('before')
    expect(shadow()?.querySelector('textarea')?.value).toBe('a draft')
    expect(server.of('GET', '/events')).toHaveLength(1)
    expect(server.of('DELETE', /./)).toEqual([])
  })

  test('executes the calls of the agent while there is no chat (A-36)', async () => {
    const tools = { read: defineTool({ description: 'R', parameters: ANY, execute: () => 'here' }) }
    render(provider({ tools }))
    server.offer('c_1', 'read', {})

    await until(() => expect(server.results).toMatchObject([{ result: 'here' }]))
  })

  test('leaves the session with its own end', async () => {
    const view = render(provider({}, h(Chat)))
    await until(() => expect(announced().length).toBeGreaterThan(0))
    await soon()

    view.unmount()

    await until(() => expect(server.of('DELETE', /^\/clients\//)).toHaveLength(1))
    await until(() => expect(server.readers).toBe(0))
  })

  test('is one page to the server in strict mode, where effects run twice', async () => {
    render(h(StrictMode, {}, provider({}, h(Chat))))
    said('once')
    await until(() => expect(transcript()).toContain('once'))
    await soon(200)

    expect(new Set(announced().map(({ path }) => path)).size).toBe(1)
    expect(server.readers).toBe(1)
    expect([...document.querySelectorAll('div')].filter((one) => one.shadowRoot)).toHaveLength(1)
    expect(transcript().match(/once/g)).toHaveLength(1)
  })

  test('announces nothing when definitions are built anew on each render (A-24)', async () => {
    const page = (count: number) =>
      provider(
        {
          tools: {
            read: defineTool({ description: 'R', parameters: byId, execute: () => count }),
          },
          widgets: card(() => count),
          context: { count },
        },
        h(Chat),
      )
    const view = render(page(0))
    await until(() => expect(announced().length).toBeGreaterThan(0))
    await soon(200)
    const before = announced().length

    for (let count = 1; count <= 20; count += 1) {
      view.rerender(page(count))
    }
    await soon(200)

    expect(announced()).toHaveLength(before)
    server.offer('c_1', 'read', { id: '7' })
    await until(() => expect(server.results).toMatchObject([{ result: 20 }]))
  })

  test('announces once what it begins with (A-24)', async () => {
    render(provider({ widgets: card(() => null) }, h(Chat)))
    await until(() => expect(announced().length).toBeGreaterThan(0))
    await soon(200)

    expect(announced()).toHaveLength(1)
  })

  test('follows what is lent from a render on (A-07, A-23)', async () => {
    const view = render(provider({}))
    await until(() => expect(announced().length).toBeGreaterThan(0))

    const tools = { read: defineTool({ description: 'R', parameters: ANY, execute: () => 1 }) }
    view.rerender(provider({ tools }))

    await until(() => expect(announced().at(-1)?.body).toMatchObject({ tools: [{ name: 'read' }] }))
  })

  test('waits for a session that is still being made, and takes another one when it comes', async () => {
    const view = render(provider({ session: null }, h(Chat), h(Status)))
    await soon()
    expect(server.asked).toEqual([])
    expect(document.body.textContent).toContain('idle none')

    view.rerender(provider({}, h(Chat), h(Status)))
    said('hello')

    await until(() => expect(transcript()).toContain('hello'))
    expect(document.body.textContent).toContain('idle open')
  })

  test('makes its session once, whatever function makes it and where its id comes back', async () => {
    let made = 0
    const maker = () => async () => {
      made += 1
      return SESSION
    }
    const view = render(provider({ session: maker() }, h(Chat), h(Send)))
    await soon()
    expect(made).toBe(0)

    await act(async () => fireEvent.click(view.getByText('send')))
    said('after')
    await until(() => expect(transcript()).toContain('after'))
    for (const session of [maker(), SESSION, SESSION]) {
      view.rerender(provider({ session }, h(Chat), h(Send)))
      await soon()
      expect(transcript()).toContain('after')
    }

    expect(made).toBe(1)
    expect(server.of('GET', '/events')).toHaveLength(1)
  })

  test('hands the options of chats on to them', async () => {
    render(provider({ locale: 'es', texts: { empty: '¿Qué hacemos?' } }, h(Chat)))

    await until(() => expect(transcript()).toContain('¿Qué hacemos?'))
    expect(transcript()).toContain('Enviar')
  })

  test('asks the newest getToken of its host', async () => {
    const view = render(provider({}))
    await until(() => expect(server.readers).toBe(1))
    view.rerender(provider({ getToken: () => 'token_new' }))

    server.end('token_expired')

    await until(() =>
      expect(server.of('GET', '/events').at(-1)?.headers.authorization).toBe('Bearer token_new'),
    )
  })
})

function button(text: string, onClick = () => {}): ReactNode {
  return h('button', { type: 'button', onClick }, text)
}

const Theme = createContext('light')

/** A part of the host's UI with state and a handler. */
function Order({ id, onOpen }: { id: string; onOpen: (id: string) => void }): ReactNode {
  const [count, setCount] = useState(0)
  const theme = useContext(Theme)
  const press = () => {
    setCount(count + 1)
    onOpen(id)
  }
  return button(`Order ${id}, ${theme}, ${count}`, press)
}

describe('a widget', () => {
  const order = () => document.querySelector('button')

  test("has the host's context, its own state, and handlers of the host (A-09, A-10, A-11)", async () => {
    const opened: string[] = []
    const widgets = card(({ id }) => h(Order, { id, onOpen: (one) => opened.push(one) }))
    const page = (theme: string) =>
      h(Theme.Provider, { value: theme }, provider({ widgets }, h(Chat)))
    const view = render(page('dark'))
    use('c_1', { id: '7' })
    await until(() => expect(order()?.textContent).toBe('Order 7, dark, 0'))
    const before = server.asked.length

    fireEvent.click(order() as Element)
    expect(order()?.textContent).toBe('Order 7, dark, 1')
    view.rerender(page('light'))

    expect(order()?.textContent).toBe('Order 7, light, 1')
    expect(opened).toEqual(['7'])
    expect(order()?.getRootNode()).toBe(document)
    expect(server.asked).toHaveLength(before)
  })

  test('may use hooks in its render, however many there are (A-10)', async () => {
    const widgets = card(({ id }) => {
      const [count, setCount] = useState(0)
      return button(`${id} ${count}`, () => setCount(count + 1))
    })
    render(provider({ widgets }, h(Chat)))
    use('c_1', { id: 'a' })
    await until(() => expect(order()?.textContent).toBe('a 0'))
    fireEvent.click(order() as Element)
    use('c_2', { id: 'b' })

    await until(() => expect(document.querySelectorAll('button')).toHaveLength(2))
    expect([...document.querySelectorAll('button')].map((one) => one.textContent)).toEqual([
      'a 1',
      'b 0',
    ])
  })

  test("follows the newest definition and the host's state, and keeps its own (A-25)", async () => {
    const page = (note: string) =>
      provider(
        {
          widgets: card(({ id }) =>
            h('div', {}, h('i', {}, note), h(Order, { id, onOpen: () => {} })),
          ),
        },
        h(Chat),
      )
    const view = render(page('as new'))
    use('c_1', { id: '7' })
    await until(() => expect(document.querySelector('i')?.textContent).toBe('as new'))
    fireEvent.click(order() as Element)

    view.rerender(page('sent back'))

    expect(document.querySelector('i')?.textContent).toBe('sent back')
    expect(order()?.textContent).toBe('Order 7, light, 1')
  })

  test('is unmounted where its definition is dropped, and drawn where it comes back (A-13)', async () => {
    const widgets = card(({ id }) => button(id))
    const view = render(provider({ widgets }, h(Chat)))
    use('c_1', { id: '7' })
    await until(() => expect(order()?.textContent).toBe('7'))

    view.rerender(provider({}, h(Chat)))
    expect(order()).toBeNull()
    await until(() => expect(transcript()).toContain('card is not on this page.'))
    view.rerender(provider({ widgets }, h(Chat)))

    await until(() => expect(order()?.textContent).toBe('7'))
  })

  test('is drawn once in strict mode, and once more where the chat comes back', async () => {
    const widgets = card(({ id }) => button(id))
    const page = (isHere: boolean) =>
      h(StrictMode, {}, provider({ widgets }, isHere ? h(Chat) : null))
    const view = render(page(true))
    use('c_1', { id: '7' })
    await until(() => expect(document.querySelectorAll('button')).toHaveLength(1))

    view.rerender(page(false))
    await soon()
    expect(document.querySelectorAll('button')).toHaveLength(0)
    view.rerender(page(true))
    await until(() => expect(document.querySelectorAll('button').length).toBeGreaterThan(0))
    await soon()

    expect(document.querySelectorAll('button')).toHaveLength(1)
  })

  test('whose input its schema refuses is not drawn, and says why (A-15)', async () => {
    const draw = vi.fn(() => null)
    render(provider({ widgets: card(draw) }, h(Chat)))
    use('c_1', { id: 7 })

    await until(() => expect(transcript()).toContain('card cannot be drawn: id: '))
    expect(draw).not.toHaveBeenCalled()
  })

  test('that throws says so in its place, takes nothing else away, and is tried again', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const page = (isBroken: boolean) => {
      const widgets = card(({ id }) => {
        if (isBroken && id === '1') {
          throw new Error('no such order')
        }
        return button(id)
      })
      return provider({ widgets }, h('h1', {}, 'The host'), h(Chat))
    }
    const view = render(page(true))
    use('c_1', { id: '1' })
    use('c_2', { id: '2' })

    await until(() =>
      expect(document.body.textContent).toContain('card cannot be drawn: no such order'),
    )
    expect(document.querySelector('h1')?.textContent).toBe('The host')
    expect(order()?.textContent).toBe('2')
    view.rerender(page(false))
    await until(() => expect(document.querySelectorAll('button')).toHaveLength(2))
    logged.mockRestore()
  })

  test('folds its oldest renders beyond eight (A-12)', async () => {
    render(provider({ widgets: card(({ id }) => button(id)) }, h(Chat)))
    for (let id = 1; id <= 9; id += 1) {
      use(`c_${id}`, { id: String(id) })
    }

    await until(() =>
      expect([...document.querySelectorAll('button')].map((one) => one.textContent)).toEqual([
        '2',
        '3',
        '4',
        '5',
        '6',
        '7',
        '8',
        '9',
      ]),
    )
    expect(transcript()).toContain('card, folded')
  })
})

function Status(): ReactNode {
  const { status, snapshot } = useRemit()
  return h('output', {}, `${status} ${snapshot?.link ?? 'none'}`)
}

describe('useRemit', () => {
  let handle: RemitHandle
  function Taken(): ReactNode {
    handle = useRemit()
    return h('output', {}, handle.status)
  }

  test('gives the state of the session, and follows it', async () => {
    render(provider({}, h(Taken)))
    server.write('status', { status: 'running' })

    await until(() => expect(document.querySelector('output')?.textContent).toBe('running'))
    expect(handle.snapshot?.state.headSeq).toBe(1)
  })

  test('sends, answers and stops', async () => {
    const input: Input = {
      ...{ id: 'i_1', inputId: 'i_1', kind: 'approval', status: 'open', callId: 'c_1' },
      ...{ user: 'ana', app: 'orders', tool: 'cancel', title: 'Cancel', args: {}, digest: 'd' },
      ...{ by: 'user', createdAt: AT, expiresAt: AT, runId: 'r_1' },
    }
    render(provider({}, h(Taken)))
    await until(() => expect(handle.snapshot?.link).toBe('open'))

    await act(() => handle.send('Hello'))
    const stale = problem(409, 'stale_digest', { input: { ...input, digest: 'e' } })
    server.once('POST', '/human-input/i_1', stale)
    const stands = await handle.answer(input, { decision: 'approve', digest: 'd' })
    await handle.cancel()

    await until(() => expect(handle.snapshot?.state.entries).toMatchObject([{ text: 'Hello' }]))
    expect(stands?.digest).toBe('e')
    expect(server.of('POST', '/cancel')).toHaveLength(1)
  })

  test('does nothing while there is no session', async () => {
    render(provider({ session: null }, h(Taken)))

    await handle.send('Hello')
    await handle.cancel()

    expect(handle.snapshot).toBeNull()
    expect(server.asked).toEqual([])
  })
})

describe('outside of a provider', () => {
  test.each([
    ['the chat', Chat],
    ['the hook', Status],
  ])('%s says where it has to stand', (_, Part) => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(() => render(h(Part))).toThrow(/inside of <Remit>/)
    logged.mockRestore()
  })
})

describe('on a server', () => {
  test('is rendered to a container, without a session', () => {
    const widgets = card(({ id }) => id)

    const html = renderToString(provider({ widgets }, h(Chat, { className: 'chat' }), h(Status)))

    expect(html).toContain(
      '<div class="chat" style="height:100%"><p role="status">The conversation is being opened.</p></div>',
    )
    expect(html).toContain('idle none')
    expect(server.asked).toEqual([])
  })
})
