/** What a card must be for Remit to show it; the Python kit and the server hold the same bounds. */

import type { ActionRequired } from '../wire/answers.js'

const MAX_TITLE = 200
const MAX_DESCRIPTION = 2_000
const MAX_LABEL = 80
const MAX_ID = 64
const MAX_COMPUTER_ID = 200
const MAX_BUTTONS = 10
const MAX_INPUT_BYTES = 16 * 1024
const VARIANTS = ['primary', 'secondary', 'danger']
// Controls, formats and blanks other than the space are not seen.
const VISIBLE = /^(?: |[^\p{C}\p{Z}])+$/u

type Button = ActionRequired['elements'][number]

/** Every fault of a card; each a sentence. */
export function cardFaults({ title, description, assignee, elements }: ActionRequired): string[] {
  const faults = words('title', title, MAX_TITLE)
  if (description !== undefined && length(description) > MAX_DESCRIPTION) {
    faults.push(`description has more than ${MAX_DESCRIPTION} characters.`)
  }
  if (assignee !== undefined) {
    faults.push(...id('assignee', assignee.computerId, MAX_COMPUTER_ID))
  }
  if (elements.length < 1 || elements.length > MAX_BUTTONS) {
    faults.push(`The card has ${elements.length} buttons; 1 to ${MAX_BUTTONS} are allowed.`)
  }
  elements.forEach((button, at) => {
    faults.push(...buttonFaults(button).map((fault) => `buttons/${at}: ${fault}`))
  })
  if (new Set(elements.map((button) => button.id)).size !== elements.length) {
    faults.push('Two buttons of the card have one id.')
  }
  return faults
}

function buttonFaults({ id: name, label, variant = 'secondary', input, target }: Button): string[] {
  const faults = [...id('id', name, MAX_ID), ...words('label', label, MAX_LABEL)]
  if (!VARIANTS.includes(variant)) {
    faults.push(`variant is none of ${VARIANTS.join(', ')}.`)
  }
  const text = written(input)
  if (text === undefined) {
    faults.push('input is no JSON.')
  } else if (new TextEncoder().encode(text).length > MAX_INPUT_BYTES) {
    faults.push(`input is larger than ${MAX_INPUT_BYTES} bytes. Send an id instead.`)
  } else if (target !== undefined && !text.startsWith('{')) {
    faults.push('input is no object, as that of a target must be.')
  }
  return faults
}

function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function words(key: string, text: unknown, most: number): string[] {
  if (typeof text !== 'string' || text.trim() === '') {
    return [`${key} is missing, empty or no text.`]
  }
  return length(text) > most ? [`${key} has more than ${most} characters.`] : []
}

function id(key: string, text: unknown, most: number): string[] {
  return typeof text === 'string' && VISIBLE.test(text) && length(text) <= most
    ? []
    : [`${key} must be a text of 1 to ${most} visible characters.`]
}

/** In characters, as people count them and other languages do. */
function length(text: string): number {
  return [...text].length
}
