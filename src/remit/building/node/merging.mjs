// Two sides of a schema as one, and a change to every schema inside a schema. JSON Schema 2020-12.

const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  'id',
  '$id',
])
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

/** Whether a schema takes anything: it has nothing but annotations. */
export function isOpen(schema) {
  return (
    schema === true ||
    (isObject(schema) && Object.keys(schema).every((key) => ANNOTATIONS.has(key)))
  )
}

const refers = (schema) => JSON.stringify(schema)?.includes('"$ref"') ?? false

/** The input side, with the output side's say where it is open. */
export function merge(input, output) {
  if (isOpen(input) && isObject(output) && !isOpen(output) && !refers(output)) {
    return { ...output, ...(isObject(input) ? input : {}) }
  }
  return isObject(input) && isObject(output) ? mergedParts(input, output) : input
}

function mergedParts(input, output) {
  const made = { ...input }
  if (isClosedBy(input, output)) made.additionalProperties = false
  for (const key of KEYED) {
    if (isObject(input[key]) && isObject(output[key])) made[key] = byName(input[key], output[key])
  }
  for (const key of LISTED) {
    const [ours, theirs] = [input[key], output[key]]
    if (Array.isArray(ours) && ours.length === theirs?.length) {
      made[key] = ours.map((part, index) => merge(part, theirs[index]))
    }
  }
  for (const key of ['items', 'additionalProperties']) {
    if (key in input && key in output) made[key] = merge(input[key], output[key])
  }
  return made
}

/** Whether the library takes out what it does not know: only the output side says so. */
function isClosedBy(input, output) {
  const silent = 'properties' in input && !('additionalProperties' in input)
  return silent && output.additionalProperties === false
}

function byName(ours, theirs) {
  const merged = ([name, part]) => [
    name,
    Object.hasOwn(theirs, name) ? merge(part, theirs[name]) : part,
  ]
  return Object.fromEntries(Object.entries(ours).map(merged))
}

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
