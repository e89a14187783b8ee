// A change to every schema inside a schema. JSON Schema 2020-12.

const KEYED = ['properties', 'patternProperties', '$defs']
const LISTED = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const SINGLE = [
  'items',
  'additionalProperties',
  'not',
  'contains',
  'propertyNames',
  'if',
  'then',
  'else',
]

export const isObject = (value) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Every schema inside a schema, changed from the outside in. */
export function everywhere(schema, change) {
  if (!isObject(schema)) return schema
  const made = { ...change(schema) }
  for (const key of KEYED) {
    if (isObject(made[key])) {
      made[key] = Object.fromEntries(
        Object.entries(made[key]).map(([name, part]) => [name, everywhere(part, change)]),
      )
    }
  }
  for (const key of LISTED) {
    if (Array.isArray(made[key])) made[key] = made[key].map((part) => everywhere(part, change))
  }
  for (const key of SINGLE) {
    if (isObject(made[key])) made[key] = everywhere(made[key], change)
  }
  return made
}
