/** A conversation of 5,000 entries, for the benchmark: what it costs to show, to grow and to scroll. */

import { Chat } from '../../src/client/chat/chat.js'
import type { Connection } from '../../src/client/connection.js'
import { CONNECTING, type Snapshot } from '../../src/client/snapshot.js'
import { reduceAll, type SessionState, START } from '../../src/core/state.js'
import type { SessionEvent, TextDelta } from '../../src/wire/event.js'

const ENTRIES = 5000
const PIECES = 120
const at = '2026-11-30T12:00:00Z'

declare global {
  interface Window {
    measured: () => Promise<Record<string, number>>
  }
}

/** Messages of both sides, and calls with their results. */
function log(): SessionEvent[] {
  const events: SessionEvent[] = []
  const add = (type: SessionEvent['type'], data: unknown) =>
    events.push({ seq: events.length + 1, type, at, data } as SessionEvent)
  for (let index = 0; index < ENTRIES; index += 1) {
    const id = `e${index}`
    if (index % 3 === 0) {
      add('message', { messageId: id, role: 'user', text: `Open the order ${index}.` })
    } else if (index % 3 === 1) {
      const call = { callId: id, app: 'shop', tool: 'get_order', offeredAs: 'get_order' }
      add('tool_call', { ...call, title: 'Get an order', args: { id } })
      add('tool_result', { callId: id, outcome: 'ok', content: '{"total":40}' })
    } else {
      const text = `The **order** ${index} is [here](https://shop.example/${index}):\n\n- one\n- two`
      add('message', { messageId: id, role: 'assistant', text })
    }
  }
  return events
}

const painted = () =>
  new Promise<void>((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done()))
  })

window.measured = async () => {
  const events = log()
  const host = document.getElementById('chat') as HTMLElement
  const listeners = new Set<() => void>()
  let state: SessionState = START
  // The part of a connection that a chat looks at.
  const connection = {
    snapshot: (): Snapshot => ({ ...CONNECTING, state, link: 'open', isCaughtUp: true }),
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    draft: '',
  } as unknown as Connection

  const begun = performance.now()
  state = reduceAll(START, events)
  const folded = performance.now()
  new Chat(host, connection, { locale: 'en' })
  await painted()
  const shown = performance.now()

  const transcript = host.shadowRoot?.querySelector('.transcript') as HTMLElement
  const touched = new Set<Node>()
  const entryOf = (node: Node): Node | null => {
    let found: Node | null = node
    while (found && found.parentNode !== transcript) {
      found = found.parentNode
    }
    return found
  }
  const watch = new MutationObserver((changes) => {
    for (const { target } of changes) {
      const entry = target === transcript ? null : entryOf(target)
      if (entry) {
        touched.add(entry)
      }
    }
  })
  watch.observe(transcript, { subtree: true, childList: true, characterData: true })
  let busy = 0
  for (let index = 0; index < PIECES; index += 1) {
    const piece: TextDelta = {
      type: 'text_delta',
      data: { runId: 'r', messageId: 'new', offset: index * 6, text: 'words ' },
    }
    const before = performance.now()
    state = reduceAll(state, [piece])
    for (const listener of listeners) {
      listener()
    }
    busy += performance.now() - before
    await new Promise<void>((done) => requestAnimationFrame(() => done()))
  }
  watch.disconnect()

  const scroller = host.shadowRoot?.querySelector('.scroll') as HTMLElement
  const frames: number[] = []
  let last = performance.now()
  for (let index = 0; index < PIECES; index += 1) {
    scroller.scrollTop -= 400
    await new Promise<void>((done) => requestAnimationFrame(() => done()))
    frames.push(performance.now() - last)
    last = performance.now()
  }
  frames.sort((one, other) => one - other)
  return {
    foldMs: folded - begun,
    firstPaintMs: shown - begun,
    entriesTouched: touched.size,
    pieceMs: busy / PIECES,
    frameP95Ms: frames[Math.floor(frames.length * 0.95)] ?? 0,
    drawn: transcript.childElementCount,
  }
}
