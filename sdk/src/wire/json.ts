/**
 * Strict JSON. `JSON.parse` takes the last of two equal names, and reads `1e999` as infinity: what
 * one reader checked could then differ from what another one uses. Here both are refused.
 */

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue }

/** Deeper texts are refused. */
const MAX_DEPTH = 500
/** Longer whole numbers are refused, as Python does. */
const MAX_INTEGER_DIGITS = 4300

// A string, a number, or one character of the structure.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(\.\d+)?([eE][+-]?\d+)?|[[\]{}:,]/g

/**
 * Reads a JSON text, or bytes in UTF-8.
 *
 * @throws SyntaxError where it is no JSON, a name stands twice in one object, a number is beyond
 * all bounds, or the text is too deep.
 */
export function parseStrictJson(text: string | Uint8Array): unknown {
  const read = typeof text === 'string' ? text : utf8(text)
  const value: unknown = JSON.parse(read)
  check(read)
  return value
}

/** An object that is neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value under a name of the object itself, never of what it inherits. */
export function own(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as Record<string, unknown>)[name] : undefined
}

function utf8(bytes: Uint8Array): string {
  try {
    // With ignoreBOM a byte order mark stays in the text, where it is no JSON.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new SyntaxError('The text is no UTF-8.')
  }
}

/** `JSON.parse` has read the text before: here its tokens are only looked at. */
function check(text: string): void {
  // The names so far of each open object; null for an open list.
  const open: (Set<string> | null)[] = []
  let last = ''
  for (const [token, fraction, exponent] of text.matchAll(TOKEN)) {
    switch (token[0]) {
      case '{':
      case '[':
        checkDepth(open.push(token === '{' ? new Set() : null))
        break
      case '}':
      case ']':
        open.pop()
        break
      case ':':
        takeName(open.at(-1), last)
        break
      case ',':
      case '"':
        break
      default:
        checkNumber(token, fraction !== undefined || exponent !== undefined)
    }
    last = token
  }
}

function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) {
    throw new SyntaxError(`The text is deeper than ${MAX_DEPTH} levels.`)
  }
}

function takeName(names: Set<string> | null | undefined, token: string): void {
  const name = JSON.parse(token) as string
  if (names?.has(name)) {
    throw new SyntaxError('A name stands twice in one object.')
  }
  names?.add(name)
}

function checkNumber(token: string, isReal: boolean): void {
  if (isReal && !Number.isFinite(Number(token))) {
    throw new SyntaxError('A number is beyond all bounds.')
  }
  if (!isReal && token.replace('-', '').length > MAX_INTEGER_DIGITS) {
    throw new SyntaxError('A number has too many digits.')
  }
}
