/** Two sides of a schema as one. JSON Schema 2020-12. */

import { isRecord } from '../wire/json.js'

type Keywords = Record<string, unknown>

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

/** Whether a schema takes anything: it has nothing but annotations. */
export function isOpen(schema: unknown): boolean {
  return (
    schema === true ||
    (isRecord(schema) && Object.keys(schema).every((key) => ANNOTATIONS.has(key)))
  )
}

function refers(schema: unknown): boolean {
  return JSON.stringify(schema)?.includes('"$ref"') ?? false
}

/** The input side, with the output side's say where it is open. */
export function merge(input: unknown, output: unknown): unknown {
  if (isOpen(input) && isRecord(output) && !isOpen(output) && !refers(output)) {
    return { ...output, ...(isRecord(input) ? input : {}) }
  }
  return isRecord(input) && isRecord(output) ? mergedParts(input, output) : input
}

function mergedParts(input: Keywords, output: Keywords): Keywords {
  const made = { ...input }
  if (isClosedBy(input, output)) {
    made['additionalProperties'] = false
  }
  for (const key of KEYED) {
    const [ours, theirs] = [input[key], output[key]]
    if (isRecord(ours) && isRecord(theirs)) {
      made[key] = byName(ours, theirs)
    }
  }
  for (const key of LISTED) {
    const [ours, theirs] = [input[key], output[key]]
    if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
      made[key] = ours.map((part, index) => merge(part, theirs[index]))
    }
  }
  for (const key of ['items', 'additionalProperties']) {
    if (key in input && key in output) {
      made[key] = merge(input[key], output[key])
    }
  }
  return made
}

/** Whether the library takes out what it does not know: only the output side says so. */
function isClosedBy(input: Keywords, output: Keywords): boolean {
  const isSilent = 'properties' in input && !('additionalProperties' in input)
  return isSilent && output['additionalProperties'] === false
}

function byName(ours: Keywords, theirs: Keywords): Keywords {
  return Object.fromEntries(
    Object.entries(ours).map(([name, part]) => [
      name,
      Object.hasOwn(theirs, name) ? merge(part, theirs[name]) : part,
    ]),
  )
}
