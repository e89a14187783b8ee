import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { NotPlainError, plainJson } from '../../src/core/plain.js'

class Order {
  readonly id = '7'
}

class Orders extends Array<string> {}

const circle: Record<string, unknown> = {}
circle['self'] = [circle]

const shared = { id: '7' }

describe('plain JSON', () => {
  test.each([
    ['null', null, 'null'],
    ['nothing as a whole, as null', undefined, 'null'],
    ['a text', 'a"\u2028😀', '"a\\"\u2028😀"'],
    ['numbers', [0, -1.5, 1e300], '[0,-1.5,1e+300]'],
    ['a boolean', true, 'true'],
    ['objects and lists in each other', { a: [{ b: [] }] }, '{"a":[{"b":[]}]}'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['an object that stands twice', [shared, shared], '[{"id":"7"},{"id":"7"}]'],
    ['what another frame made', runInNewContext('({ a: [1, { b: 2 }] })'), '{"a":[1,{"b":2}]}'],
    ['a field named __proto__', JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
  ])('takes %s', (_, value, text) => {
    expect(plainJson(value)).toBe(text)
  })

  test.each([
    ['an undefined field', { a: undefined, b: 1 }, 'its field a is undefined'],
    ['an undefined item', [1, undefined], 'its field 1 is undefined'],
    ['a hole', new Array(1), 'its field 0 is undefined'],
    ['a date', new Date(0), 'it is a Date'],
    ['a date inside', { at: [{ on: new Date(0) }] }, 'its field at.0.on is a Date'],
    ['a map', new Map([['a', 1]]), 'it is a Map'],
    ['a set', new Set([1]), 'it is a Set'],
    ['an error', new TypeError('x'), 'it is a TypeError'],
    ['bytes', new Uint8Array(2), 'it is a Uint8Array'],
    ['an object of a class', new Order(), 'it is a Order'],
    ['a list of a class', Orders.from(['a']), 'it is a Orders'],
    ['an object with another for its prototype', Object.create({ a: 1 }), 'it is a Object'],
    ['a boxed number', Object(1), 'it is a Number'],
    ['a function', () => 1, 'it is a function'],
    ['a way to write itself', { toJSON: () => 1 }, 'its field toJSON is a function'],
    ['a list that writes itself', Object.assign([1], { toJSON: () => 2 }), 'beside its items'],
    ['a list with fields', /a/.exec('a'), 'it is a list with fields beside its items'],
    ['a symbol', Symbol('a'), 'it is a symbol'],
    ['a field named by a symbol', { [Symbol('a')]: 1 }, 'named by a symbol'],
    ['a BigInt', 10n, 'it is a bigint'],
    ['NaN', { n: Number.NaN }, 'its field n is NaN'],
    ['infinity', [Number.NEGATIVE_INFINITY], 'its field 0 is -Infinity'],
    ['a promise inside', { a: Promise.resolve(1) }, 'its field a is a Promise'],
    ['a cycle', circle, 'its field self.0 leads back to what holds it'],
  ])('refuses %s, says where it stands and what to give instead', (_, value, words) => {
    expect(() => plainJson(value)).toThrow(NotPlainError)
    expect(() => plainJson(value)).toThrow(words)
    expect(() => plainJson(value)).toThrow(/: (give|leave|name) /)
  })

  test('refuses what is nested beyond reason before the stack ends', () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level += 1) {
      deep = [deep]
    }

    expect(() => plainJson(deep)).toThrow('deeper than 200 levels')
  })
})
