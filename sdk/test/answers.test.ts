import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  AnswerError,
  actionRequired,
  type Card,
  componentUrl,
  domainError,
  isThreadToolInvocation,
  result,
  ToolContextError,
  toolContext,
} from '../src/kit/index.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('toolContext', () => {
  const read = (headers: Record<string, string>) => toolContext({ headers: new Headers(headers) })

  test.each(['Remit-Tool-Context', 'kazzle-tool-context', 'ACME-CO-TOOL-CONTEXT'])(
    'reads %s',
    (name) => {
      const thread = read({ [name]: '{"source":"thread","threadId":"s_1","newer":1}' })
      const api = read({ [name]: '{"source":"api"}' })

      expect(thread).toEqual({ source: 'thread', threadId: 's_1' })
      expect(api).toEqual({ source: 'api' })
      expect(isThreadToolInvocation(thread)).toBe(true)
      expect(isThreadToolInvocation(api)).toBe(false)
    },
  )

  test('reads an id beyond ASCII as UTF-8', () => {
    const text = Buffer.from('{"source":"thread","threadId":"é☕"}').toString('latin1')

    expect(read({ 'Remit-Tool-Context': text })).toEqual({ source: 'thread', threadId: 'é☕' })
  })

  test.each([
    ['no header', {}],
    ['a header of no brand', { '-Tool-Context': '{"source":"api"}' }],
    ['two brands', { 'A-Tool-Context': '{"source":"api"}', 'B-Tool-Context': '{"source":"api"}' }],
    ['no JSON', { 'Remit-Tool-Context': 'thread' }],
    ['a name twice', { 'Remit-Tool-Context': '{"source":"api","source":"thread"}' }],
    ['null', { 'Remit-Tool-Context': 'null' }],
    ['another source', { 'Remit-Tool-Context': '{"source":"mail"}' }],
    ['a thread without its id', { 'Remit-Tool-Context': '{"source":"thread"}' }],
    ['an id that is no text', { 'Remit-Tool-Context': '{"source":"thread","threadId":1}' }],
    ['far too much', { 'Remit-Tool-Context': `{"source":"api","x":"${'x'.repeat(5000)}"}` }],
  ])('refuses %s', (_, headers) => {
    expect(() => read(headers as Record<string, string>)).toThrow(ToolContextError)
  })
})

describe('componentUrl', () => {
  test('makes absolute addresses, under any brand', () => {
    vi.stubEnv('KAZZLE_APP_COMPONENT_URL', 'https://api.acme.example/v1/')

    expect(componentUrl()).toBe('https://api.acme.example/v1')
    expect(componentUrl('/connect?token=a')).toBe('https://api.acme.example/v1/connect?token=a')
  })

  test.each(['connect', '//evil.example', 'https://evil.example'])('refuses %s', (path) => {
    vi.stubEnv('REMIT_APP_COMPONENT_URL', 'https://api.acme.example')

    expect(() => componentUrl(path)).toThrow(TypeError)
  })
})

describe('result', () => {
  test('has up to three channels', async () => {
    const embedUrl = 'https://api.acme.example/chart'
    const response = result({ content: 'Saved.', markdown: '**Saved.**', embedUrl })

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({ content: 'Saved.', markdown: '**Saved.**', embedUrl })
    expect(await result('Saved.').json()).toEqual({ content: 'Saved.' })
  })

  test.each(['', ' \n'])('needs a content: %o', (content) => {
    expect(() => result(content)).toThrow(AnswerError)
  })

  test.each([
    'http://127.0.0.1:9/a',
    'http://localhost/',
    'http://[::1]:8080/',
    'HTTPS://a.example',
  ])('may frame %s', (embedUrl) => {
    expect(() => result({ content: 'x', embedUrl })).not.toThrow()
  })

  test.each([
    '/chart',
    '',
    'javascript:alert(1)',
    'http://a.example/',
    'http://localhost.evil.example/',
    'https://ana@a.example/',
    'https://a.example/ b',
    'https://',
  ])('may not frame %o', (embedUrl) => {
    expect(() => result({ content: 'x', embedUrl })).toThrow(AnswerError)
  })
})

describe('actionRequired', () => {
  test('writes the card as it stands on the wire', async () => {
    const target = { type: 'app', component: 'api', path: '/oauth/start', method: 'POST' } as const
    const response = actionRequired({
      title: 'Connect the mail',
      description: 'Its folders are read.',
      assignee: 'dev_1',
      buttons: [
        { id: 'connect', label: 'Connect', variant: 'primary', input: { scope: 'read' }, target },
        { id: 'later', label: 'Later' },
      ],
    })

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      type: 'action_required',
      title: 'Connect the mail',
      description: 'Its folders are read.',
      assignee: { computerId: 'dev_1' },
      elements: [
        {
          type: 'button',
          id: 'connect',
          label: 'Connect',
          variant: 'primary',
          input: { scope: 'read' },
          target,
        },
        { type: 'button', id: 'later', label: 'Later', variant: 'secondary', input: {} },
      ],
    })
  })

  const a = { id: 'a', label: 'A' }
  test.each([
    ['no title', { title: '', buttons: [a] }],
    ['no button', { title: 'T', buttons: [] }],
    ['two buttons of one id', { title: 'T', buttons: [a, a] }],
    ['an empty id', { title: 'T', buttons: [{ ...a, id: '' }] }],
    ['an id that is not seen', { title: 'T', buttons: [{ ...a, id: 'a\u200b' }] }],
    ['an id that is too long', { title: 'T', buttons: [{ ...a, id: 'a'.repeat(65) }] }],
    ['a label of blanks', { title: 'T', buttons: [{ ...a, label: ' ' }] }],
    ['a label that is too long', { title: 'T', buttons: [{ ...a, label: 'a'.repeat(81) }] }],
    ['a title that is too long', { title: '☕'.repeat(201), buttons: [a] }],
    ['a long description', { title: 'T', description: 'a'.repeat(2001), buttons: [a] }],
    ['an empty assignee', { title: 'T', assignee: '', buttons: [a] }],
    ['eleven buttons', { title: 'T', buttons: [...'abcdefghijk'].map((id) => ({ ...a, id })) }],
    ['much input', { title: 'T', buttons: [{ ...a, input: '☕'.repeat(5500) }] }],
    ['an input that is no JSON', { title: 'T', buttons: [{ ...a, input: 1n }] }],
    [
      'a text as the input of a target',
      { title: 'T', buttons: [{ ...a, input: 'x', target: { type: 'client', name: 'a' } }] },
    ],
  ] as [string, Card][])('refuses %s', (_, card) => {
    expect(() => actionRequired(card)).toThrow(AnswerError)
  })

  test('takes what is just within the bounds', () => {
    const buttons = [...'abcdefghij'].map((id) => ({
      id: id.repeat(64),
      label: '𝄞'.repeat(80),
      input: 'x'.repeat(16_382),
    }))
    const card = { title: '𝄞'.repeat(200), description: 'a'.repeat(2000), buttons }
    expect(() => actionRequired({ ...card, assignee: 'my phone' })).not.toThrow()
  })
})

describe('domainError', () => {
  test('keeps status, code and message', async () => {
    const response = domainError('connect_required', 'Connect first.')

    expect(response.status).toBe(409)
    expect(await response.json()).toEqual({ code: 'connect_required', error: 'Connect first.' })
    expect(domainError('gone', 'It is gone.', { status: 410 }).status).toBe(410)
  })

  test.each([
    ['', 'x', 409],
    ['x', '', 409],
    ['x', 'x', 200],
    ['x', 'x', 600],
    ['x', 'x', Number.NaN],
  ])('refuses %o %o %o', (code, message, status) => {
    expect(() => domainError(code, message, { status })).toThrow(AnswerError)
  })
})
