/** Plain JSON: what a tool may give back. */

import { isRecord } from '../wire/json.js'

const MAX_DEPTH = 200

/** A value that JSON has not; the message says where it stands and what to give in its place. */
export class NotPlainError extends Error {
  override readonly name = 'NotPlainError'
}

/**
 * The JSON text of a value; of `undefined` it is `null`.
 *
 * `JSON.stringify` leaves fields out, writes NaN as null and calls `toJSON`: what is sent would not
 * be what was given back. Here all of that is refused.
 *
 * @throws NotPlainError
 */
export function plainJson(value: unknown): string {
  if (value === undefined) {
    return 'null'
  }
  check(value, '', [])
  return JSON.stringify(value)
}

function check(value: unknown, place: string, around: readonly object[]): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return
    case 'number':
      if (!Number.isFinite(value)) {
        throw fault(place, `is ${value}`, 'give a number, or null')
      }
      return
    case 'object':
      if (value !== null) {
        checkParts(value, place, around)
      }
      return
    case 'undefined':
      throw fault(place, 'is undefined', 'leave the field out, or give null')
    default:
      throw fault(place, `is a ${typeof value}`, 'give text or a number')
  }
}

function checkParts(value: object, place: string, around: readonly object[]): void {
  if (around.includes(value)) {
    throw fault(place, 'leads back to what holds it', 'give an id in its place')
  }
  if (around.length >= MAX_DEPTH) {
    throw fault(place, `lies deeper than ${MAX_DEPTH} levels`, 'give less')
  }
  const isPlain = Array.isArray(value) ? isPlainList(value) : isPlainObject(value)
  if (!isPlain) {
    const kind = value.constructor?.name || 'object with a prototype of its own'
    throw fault(place, `is a ${kind}`, 'give plain fields, a date as text')
  }
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw fault(place, 'has a field that is named by a symbol', 'name it by text')
  }
  if (Array.isArray(value) && Object.keys(value).length > value.length) {
    throw fault(place, 'is a list with fields beside its items', 'give an object')
  }
  const inside = [...around, value]
  const names = Array.isArray(value) ? Array.from(value.keys(), String) : Object.keys(value)
  for (const name of names) {
    check((value as Record<string, unknown>)[name], place ? `${place}.${name}` : name, inside)
  }
}

/** Of any realm, as below: the prototype of lists is a list itself, that of a class of lists is not. */
function isPlainList(value: readonly unknown[]): boolean {
  return Array.isArray(Object.getPrototypeOf(value))
}

/** Of any realm: an object of a frame has that frame's prototype. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return (
    prototype === null ||
    (isRecord(prototype) &&
      Object.getPrototypeOf(prototype) === null &&
      Object.hasOwn(prototype, 'isPrototypeOf'))
  )
}

function fault(place: string, what: string, mend: string): NotPlainError {
  return new NotPlainError(`${place ? `its field ${place}` : 'it'} ${what}: ${mend}`)
}

/** What was thrown, as it is read: a handler may throw anything. */
export function wordsOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)) || 'It failed without a message.'
}
