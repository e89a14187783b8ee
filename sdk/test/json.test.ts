import { describe, expect, test } from 'vitest'
import { fromBase64url } from '../src/wire/base64url.js'
import { parseStrictJson } from '../src/wire/json.js'

describe('strict JSON', () => {
  test.each([
    '{}',
    '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
    '{"a":"\\"a\\":","b":":","{":"}"}',
    '[1.5e3,-0,12345678901234567890,"\\ud83d",true,null]',
    '{"__proto__":1,"constructor":2}',
    ' \t\r\n{"é":"\u2028"} ',
  ])('reads %s as JSON.parse does', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text))
  })

  test.each([
    ['a name twice', '{"a":1,"a":2}'],
    ['a name twice, once escaped', '{"a":1,"\\u0061":2}'],
    ['a name twice inside', '[{"b":{"a":1,"c":[],"a":2}}]'],
    ['an own __proto__ twice', '{"__proto__":1,"__proto__":2}'],
    ['infinity', '[1e999]'],
    ['a number of very many digits', `[${'1'.repeat(4301)}]`],
    ['a text that is too deep', '['.repeat(501) + ']'.repeat(501)],
    ['a comma too many', '[1,]'],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(() => parseStrictJson(text)).toThrow(SyntaxError)
  })

  test.each([
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
    ['bytes that are no UTF-8', [0x22, 0xff, 0x22]],
  ])('refuses %s', (_, bytes) => {
    expect(() => parseStrictJson(Uint8Array.from(bytes))).toThrow(SyntaxError)
  })
})

describe('base64url', () => {
  test.each(['', 'AA', 'AAA', 'AAAA', '-_-_', 'eyJh'])('reads %o as Node does', (text) => {
    expect(fromBase64url(text)).toEqual(Uint8Array.from(Buffer.from(text, 'base64url')))
  })

  test.each(['A', 'AB', 'AAB', 'AA==', 'AA\n', '+/+/', 'AAAAA', 'é'])('refuses %o', (text) => {
    expect(fromBase64url(text)).toBeNull()
  })
})
