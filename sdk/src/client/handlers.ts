/** Handlers that every page has, for tools of apps: `open_url`, `copy_text`, `notify`. */

import type { AnyTool, Tools } from '../core/definitions.js'
import { isRecord } from '../wire/json.js'

/** Something that the user has to do with a click: browsers allow it then alone. */
export interface Prompt {
  readonly callId: string
  readonly kind: 'open_url' | 'copy_text'
  /** An absolute http(s) address, or the text to copy. */
  readonly value: string
  /** It was done. */
  readonly done: () => void
  /** The user does not want it. */
  readonly refuse: () => void
}

/** Something to tell the user. */
export interface Notice {
  readonly id: string
  readonly text: string
}

/** Where handlers reach the user. */
export interface Desk {
  /** Shown until it is done or the signal ends it. */
  readonly ask: (prompt: Prompt, signal: AbortSignal) => void
  readonly tell: (notice: Notice) => void
}

const MAX_TEXT = 100_000

/** The handlers; an app's tool names one of them as its target. */
export function ownHandlers(desk: Desk): Tools {
  return {
    open_url: handler('Opens a page in a new tab.', async (input, { callId, signal }) => {
      const url = address(text(input, 'url'))
      await clicked(desk, { callId, kind: 'open_url', value: url }, signal)
      return { opened: url }
    }),
    copy_text: handler('Copies a text.', async (input, { callId, signal }) => {
      const value = text(input, 'text')
      try {
        await navigator.clipboard.writeText(value)
      } catch {
        await clicked(desk, { callId, kind: 'copy_text', value }, signal)
      }
      return { copied: true }
    }),
    notify: handler('Tells the user something.', (input, { callId }) => {
      const words = [input['title'], text(input, 'text')].filter((one) => typeof one === 'string')
      desk.tell({ id: callId, text: words.join(': ') })
      return { shown: true }
    }),
  }
}

function handler(
  description: string,
  execute: (
    input: Readonly<Record<string, unknown>>,
    context: Parameters<AnyTool['execute']>[1],
  ) => unknown,
): AnyTool {
  return {
    description,
    parameters: { type: 'object', properties: {} },
    execute: (input: unknown, context) => execute(isRecord(input) ? input : {}, context),
  }
}

function text(input: Readonly<Record<string, unknown>>, name: string): string {
  const found = input[name]
  if (typeof found !== 'string' || found === '' || found.length > MAX_TEXT) {
    throw new Error(`${name} has to be a text of 1 to ${MAX_TEXT} characters.`)
  }
  return found
}

function address(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new Error('url has to be an absolute http or https address.')
  }
  return url.href
}

function clicked(
  desk: Desk,
  prompt: Pick<Prompt, 'callId' | 'kind' | 'value'>,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((done, fail) => {
    const refuse = () => fail(new Error('The user did not want it.'))
    desk.ask({ ...prompt, done, refuse }, signal)
  })
}
