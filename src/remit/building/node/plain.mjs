// What a tool declares besides its input, as values that JSON carries; and what a fault is.

const MAX_DEPTH = 64

/** A fault of one tool: `field` is a JSON Pointer below it. */
export class Fault extends Error {
  constructor(rule, field, message, mend) {
    super(message)
    this.rule = rule
    this.field = field
    this.mend = mend
  }

  asJson() {
    return { rule: this.rule, field: this.field, message: this.message, mend: this.mend }
  }
}

const escaped = (key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1')

/** Why a value that holds no others is none of JSON; null where it is one. */
function faultOf(value) {
  if (value === null || typeof value === 'boolean') return null
  if (typeof value === 'string') {
    return value.isWellFormed() ? null : 'a text with half a character (a lone surrogate)'
  }
  if (typeof value === 'number') return Number.isFinite(value) ? null : String(value)
  return typeof value
}

/** The value with nothing in it that JSON would drop or bend silently. */
export function plain(value, at, depth = 0) {
  const refuse = (what) =>
    new Fault(
      'bad-tool',
      at,
      `a value here is ${what}, which JSON does not have`,
      'write text, numbers, true, false, null, lists and objects',
    )
  if (value === null || typeof value !== 'object') {
    const fault = faultOf(value)
    if (fault === null) return value
    throw refuse(fault)
  }
  if (depth > MAX_DEPTH) throw refuse(`more than ${MAX_DEPTH} deep, or inside itself`)
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => plain(item, `${at}/${index}`, depth + 1))
  }
  const parent = Object.getPrototypeOf(value)
  // An object of another realm has another Object.prototype, whose own parent is null.
  if (parent !== null && Object.getPrototypeOf(parent) !== null) {
    throw refuse(`a ${parent.constructor?.name ?? 'class'}`)
  }
  const made = {}
  for (const [key, member] of Object.entries(value)) {
    // A member that is undefined is one that is not there, as everywhere in JavaScript.
    if (member !== undefined) {
      Object.defineProperty(made, key, {
        value: plain(member, `${at}/${escaped(key)}`, depth + 1),
        enumerable: true,
      })
    }
  }
  return made
}
