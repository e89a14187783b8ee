/** What a handler answers, as Web `Response`s. */

import type { ActionRequired, Card, Channels } from '../wire/answers.js'
import { isRecord } from '../wire/json.js'
import { cardFaults } from './card-rules.js'

const MAX_MARKDOWN = 16 * 1024

/** An answer that Remit would refuse, found where it is made: a fault of the handler. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

export interface CardOptions {
  /** What to answer where no thread calls; by default 409 `action_unavailable`. */
  readonly otherwise?: Response | undefined
}

export interface DomainErrorOptions {
  /** 400 to 599; 409 by default. */
  readonly status?: number | undefined
  /** More for programs. */
  readonly details?: unknown
}

// What to answer where no thread calls, for each card whose author said it.
const stands = new WeakMap<Response, Response>()

/**
 * A result: its content, or up to three channels.
 *
 * @throws AnswerError where `content` is empty, or `embedUrl` is no address that can be framed.
 */
export function result(channels: string | Channels): Response {
  const given = typeof channels === 'string' ? { content: channels } : channels
  const { content, markdown, embedUrl } = given
  if (typeof content !== 'string' || content.trim() === '') {
    throw new AnswerError('The content of a result is empty. Say what the model is to read.')
  }
  if (markdown !== undefined && markdown.length > MAX_MARKDOWN) {
    throw new AnswerError(`The markdown of a result has more than ${MAX_MARKDOWN} characters.`)
  }
  const fault = embedUrl === undefined ? null : embedFault(embedUrl)
  if (fault !== null) {
    throw new AnswerError(`embedUrl ${fault}.`)
  }
  return Response.json({ content, markdown, embedUrl })
}

/**
 * A card that stops the thread until a person presses one of its buttons.
 *
 * `handler` and `route` refuse it where no thread calls; a handler of your own asks
 * `isThreadToolInvocation` first.
 *
 * @throws AnswerError where Remit would not show it: title or buttons are missing, two buttons have
 * one id, or something is too long.
 */
export function actionRequired<Brand extends string = never>(
  card: Card<Brand>,
  { otherwise }: CardOptions = {},
): Response {
  const { title, description, assignee, buttons } = card
  const body: ActionRequired = {
    type: 'action_required',
    title,
    description,
    assignee: assignee === undefined ? undefined : { computerId: assignee },
    elements: buttons.map(({ id, label, variant = 'secondary', input = {}, target }) => ({
      type: 'button',
      id,
      label,
      variant,
      input,
      target,
    })),
  }
  const [fault] = cardFaults(body)
  if (fault !== undefined) {
    throw new AnswerError(fault)
  }
  const response = Response.json(body)
  if (otherwise !== undefined) {
    stands.set(response, otherwise)
  }
  return response
}

/**
 * The handler's own no, whose status, code and message reach agent and caller as they are; return
 * it or throw it.
 *
 * @throws AnswerError where code or message are empty, or the status is none of an error.
 */
export function domainError(
  code: string,
  message: string,
  { status = 409, details }: DomainErrorOptions = {},
): Response {
  if (code === '' || message === '') {
    throw new AnswerError('A domain error needs a code and a message.')
  }
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new AnswerError(`A domain error has a status from 400 to 599, not ${status}.`)
  }
  return Response.json({ code, error: message, details }, { status })
}

/** Plain text, which is the content. */
export function plainText(content: string): Response {
  if (content.trim() === '') {
    throw new AnswerError('The handler returned an empty text. Say what the model is to read.')
  }
  return new Response(content, { headers: { 'content-type': 'text/plain; charset=utf-8' } })
}

/** The answer where no thread calls: a card is refused there, by whatever means it was made. */
export async function withoutCard(response: Response): Promise<Response> {
  const card = await cardOf(response)
  if (card === null) {
    return response
  }
  const title = String(card.title ?? 'the card').replace(/\.$/, '')
  return (
    stands.get(response) ??
    domainError(
      'action_unavailable',
      `A person has to act first: ${title}. That can be asked only in a conversation.`,
    )
  )
}

async function cardOf(response: Response): Promise<{ title?: unknown } | null> {
  const type = response.headers.get('content-type') ?? ''
  if (!response.ok || !/^application\/([^;]*\+)?json\b/i.test(type)) {
    return null
  }
  try {
    const body: unknown = await response.clone().json()
    return isRecord(body) && body['type'] === 'action_required' ? body : null
  } catch {
    return null
  }
}

/** Why a page cannot be framed, as the rest of a sentence, or null. */
function embedFault(address: string): string | null {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    return 'is not absolute: build it with componentUrl()'
  }
  if (/[\s\p{Cc}]/u.test(address)) {
    return 'holds blanks or control characters'
  }
  const { protocol, hostname, username, password } = new URL(address)
  if (username !== '' || password !== '') {
    return 'carries a user name'
  }
  return protocol === 'http:' && !isLoopback(hostname)
    ? 'is http, which is framed on loopback alone'
    : null
}

function isLoopback(host: string): boolean {
  return host === '[::1]' || /^127(\.\d+){3}$/.test(host) || /^(.*\.)?localhost$/.test(host)
}
