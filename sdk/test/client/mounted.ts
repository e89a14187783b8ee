/** A chat in a document, as its user and a screen reader find it. */

import axe from 'axe-core'
import { expect } from 'vitest'
import { type Mounted, type MountOptions, mount } from '../../src/client/index.js'
import type { Input } from '../../src/wire/event.js'
import { SESSION, type SessionServer, TOKEN } from '../session-server.js'
import { until } from '../until.js'

export class Page {
  readonly host: HTMLElement
  readonly chat: Mounted

  constructor(server: SessionServer, options: Partial<MountOptions> = {}) {
    this.host = document.createElement('div')
    document.body.append(this.host)
    this.chat = mount(this.host, {
      server: server.url,
      session: SESSION,
      getToken: () => TOKEN,
      locale: 'en',
      ...options,
    })
  }

  leave(): void {
    this.chat.unmount()
    this.host.remove()
  }

  get root(): ShadowRoot {
    const root = this.host.shadowRoot
    if (!root) {
      throw new Error('The host has no shadow root.')
    }
    return root
  }

  get text(): string {
    return this.root.querySelector('section')?.textContent ?? ''
  }

  all(selector: string): HTMLElement[] {
    return [...this.root.querySelectorAll<HTMLElement>(selector)]
  }

  /** The one that there is, once there is one. */
  async one(selector: string): Promise<HTMLElement> {
    return until(() => {
      const found = this.root.querySelector<HTMLElement>(selector)
      if (!found) {
        throw new Error(`There is no ${selector} in: ${this.text}`)
      }
      return found
    })
  }

  async shows(words: string): Promise<void> {
    await until(() => expect(this.text).toContain(words))
  }

  button(label: string): HTMLButtonElement {
    const found = this.all('button').find((one) => one.textContent === label)
    if (!found) {
      throw new Error(`There is no button ${label} in: ${this.text}`)
    }
    return found as HTMLButtonElement
  }

  /** Write something and press Enter. */
  say(text: string): void {
    const words = this.words
    words.value = text
    words.dispatchEvent(new Event('input', { bubbles: true }))
    press(words, 'Enter')
  }

  get words(): HTMLTextAreaElement {
    return this.root.querySelector('textarea') as HTMLTextAreaElement
  }

  /** What axe finds to be wrong. Contrast is measured in a browser that paints. */
  async faults(): Promise<string[]> {
    const found = await axe.run(this.host, {
      iframes: false,
      rules: { 'color-contrast': { enabled: false } },
    })
    return found.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
    )
  }
}

export function press(element: Element, key: string): void {
  element.dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true }),
  )
}

export const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, calls: 1, ms: 1 }

/** An approval that waits. */
export function approval(more: Partial<Input> = {}): Input {
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

export const RUN = { runId: 'r_1', model: null, instructionsDigest: '', catalogDigests: {} }
