/** What stands below the transcript: messages on their way, and what wants a click of the user. */

import type { Connection } from '../connection.js'
import type { Prompt } from '../handlers.js'
import type { Outgoing } from '../snapshot.js'
import { button, el, link } from './dom.js'
import { faultText, type Texts } from './texts.js'

/** A message that has not come back as an event; with what can be done where it was not sent. */
export function outgoing(
  { id, text, fault }: Outgoing,
  connection: Connection,
  edit: (text: string) => void,
  texts: Texts,
): HTMLElement {
  const takenBack = () => {
    connection.discard(id)
    edit(text)
  }
  return el(
    'div',
    { class: 'turn user outgoing' },
    el('p', { class: 'said', text }),
    fault === null
      ? null
      : el(
          'div',
          { class: 'buttons' },
          el('p', {
            class: 'small bad',
            role: 'alert',
            text: texts.notSent(faultText(fault, texts)),
          }),
          button(texts.again, () => connection.retry(id), 'quiet'),
          button(texts.edit, takenBack, 'quiet'),
          button(texts.discard, () => connection.discard(id), 'quiet'),
        ),
  )
}

/** A page to open, or a text to copy. */
export function prompted(prompt: Prompt, texts: Texts): HTMLElement {
  const isLink = prompt.kind === 'open_url'
  return el(
    'article',
    { class: 'card' },
    el('p', { text: isLink ? texts.wantsOpen : texts.wantsCopy }),
    el('pre', { text: prompt.value }),
    el(
      'div',
      { class: 'buttons' },
      isLink ? opener(prompt, texts) : copier(prompt, texts),
      button(texts.notNow, prompt.refuse),
    ),
  )
}

function opener({ value, done }: Prompt, texts: Texts): HTMLElement {
  const url = new URL(value)
  const made = link(url, texts.openLink(url.host))
  made.className = 'button primary'
  made.addEventListener('click', done)
  return made
}

function copier({ value, done, refuse }: Prompt, texts: Texts): HTMLElement {
  const copy = () => navigator.clipboard.writeText(value).then(done, refuse)
  return button(texts.copy, copy, 'primary')
}
