// JSON Schema of an input, as the validator that the project uses gives it.
//
// The input side counts: what a caller sends. What it leaves open (a coercion takes anything) is
// taken from the output side; an object whose unknown keys the library strips is closed.

import { PROJECT } from './hooks.mjs'
import { isOpen, merge } from './merging.mjs'
import { Fault, plain } from './plain.mjs'
import { everywhere, isObject } from './walking.mjs'

const TARGET = 'draft-2020-12'
const LOOKS_AROUND = /\(\?(?:[=!]|<[=!])|\\[1-9]/
/** What Zod has and JSON has not. */
const NOT_JSON = new Set([
  'bigint',
  'symbol',
  'map',
  'set',
  'nan',
  'function',
  'custom',
  'file',
  'promise',
  'void',
  'undefined',
])

/** The JSON Schema of an input; throws a Fault that says what is wrong with it, or missing. */
export async function parametersOf(input) {
  if (input === null || (typeof input !== 'object' && typeof input !== 'function')) {
    throw unknown(`it is ${input === null ? 'null' : typeof input}`)
  }
  const sides = await sidesOf(input)
  const merged = sides.output === null ? sides.input : merge(sides.input, sides.output)
  return plain(tidied(merged), '/input')
}

async function sidesOf(input) {
  const standard = input['~standard']
  const vendor = standard?.vendor
  if (vendor === 'zod' || input._zod || input._def?.typeName) {
    return input._zod ? ofZod4(input, standard) : ofZod3(input)
  }
  if (vendor === 'valibot') return ofValibot(input)
  if (standard?.jsonSchema) return ofStandard(standard)
  if (typeof input.toJsonSchema === 'function')
    return { input: called(() => input.toJsonSchema()), output: null }
  if (vendor) {
    throw new Fault(
      'no-json-schema',
      '/input',
      `"${vendor}" gives no JSON Schema of its schemas`,
      'use a release of it that has Standard JSON Schema, or Zod, Valibot or ArkType',
    )
  }
  throw unknown('it has neither "~standard" nor a JSON Schema')
}

function unknown(why) {
  return new Fault(
    'no-json-schema',
    '/input',
    `the input is no schema: ${why}`,
    'write a schema of Zod, Valibot or ArkType',
  )
}

/** What a library says when it cannot. */
function called(make) {
  try {
    return make()
  } catch (error) {
    throw new Fault(
      'no-json-schema',
      '/input',
      `the library cannot say it in JSON Schema: ${String(error?.message ?? error)
        .split('\n')[0]
        .slice(0, 300)}`,
      'use types that JSON has: text, numbers, booleans, lists and objects',
    )
  }
}

function tolerant(make) {
  try {
    return make()
  } catch {
    return null
  }
}

async function projectModule(names, vendor) {
  for (const name of names) {
    try {
      return await import(PROJECT + name)
    } catch (error) {
      if (
        !['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED', 'MODULE_NOT_FOUND'].includes(
          error?.code,
        )
      )
        throw error
    }
  }
  throw new Fault(
    'no-json-schema',
    '/input',
    `${vendor} needs the package "${names[0]}" to give JSON Schema`,
    `install it for the app: npm install --save-dev ${names[0]}`,
  )
}

function ofStandard(standard) {
  return {
    input: called(() => standard.jsonSchema.input({ target: TARGET })),
    output: tolerant(() => standard.jsonSchema.output({ target: TARGET })),
  }
}

// --- Zod ---------------------------------------------------------------------------------------

async function ofZod4(schema, standard) {
  const refused = []
  const side = (io) => ({
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      const type = zodSchema._zod.def.type
      if (!isOpen(jsonSchema)) return
      // A date of JSON is text; Zod takes it where it coerces.
      if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
      else if (io === 'input' && NOT_JSON.has(type)) refused.push({ type, path: path ?? [] })
    },
  })
  let make
  if (standard?.jsonSchema) {
    make = (io) => standard.jsonSchema[io]({ target: TARGET, libraryOptions: side(io) })
  } else {
    const core = await projectModule(['zod/v4/core', 'zod'], 'Zod')
    const convert = core.toJSONSchema ?? core.z?.toJSONSchema
    make = (io) => convert(schema, { io, target: TARGET, ...side(io) })
  }
  const input = called(() => make('input'))
  if (refused.length > 0) {
    const { type, path } = refused[0]
    const place = path.filter((part) => !['properties', 'items'].includes(part)).join('.')
    throw new Fault(
      'no-json-schema',
      '/input',
      `${place ? `"${place}"` : 'it'} has the type "${type}" of Zod, which JSON does not have`,
      'use a type that JSON has: text, a number, a boolean, a list or an object',
    )
  }
  return { input, output: tolerant(() => make('output')) }
}

async function ofZod3(schema) {
  const library = await projectModule(['zod-to-json-schema'], 'Zod 3')
  const convert = library.zodToJsonSchema ?? library.default
  const options = {
    target: 'jsonSchema7',
    definitionPath: '$defs',
    effectStrategy: 'input',
    pipeStrategy: 'input',
  }
  const input = called(() => convert(schema, options))
  const output = tolerant(() => convert(schema, { ...options, pipeStrategy: 'output' }))
  return { input: renewed(input), output: output && renewed(output) }
}

/** JSON Schema draft 7 as 2020-12: only how tuples are written differs in what Zod has. */
function renewed(schema) {
  return everywhere(schema, (node) => {
    if (!Array.isArray(node.items)) return node
    const { items, additionalItems, ...rest } = node
    return { ...rest, prefixItems: items, items: additionalItems ?? false }
  })
}

// --- Valibot -----------------------------------------------------------------------------------

async function ofValibot(schema) {
  const { toJsonSchema } = await projectModule(['@valibot/to-json-schema'], 'Valibot')
  // An object strips what it does not know; a loose one keeps it, and says so itself.
  const overrideSchema = ({ valibotSchema, jsonSchema }) =>
    valibotSchema.type === 'object' &&
    isObject(jsonSchema) &&
    !('additionalProperties' in jsonSchema)
      ? { ...jsonSchema, additionalProperties: false }
      : undefined
  const make = (typeMode, errorMode) =>
    toJsonSchema(schema, { typeMode, errorMode, target: TARGET, overrideSchema })
  return {
    input: called(() => make('input', 'throw')),
    output: tolerant(() => make('output', 'ignore')),
  }
}

/** Without the dialect's address, and without patterns that only spell out a format. */
function tidied(schema) {
  const { $schema: _, ...rest } = schema
  return everywhere(rest, (node) => {
    if (
      typeof node.format !== 'string' ||
      typeof node.pattern !== 'string' ||
      !LOOKS_AROUND.test(node.pattern)
    )
      return node
    // It cannot be run in linear time; the format says the same.
    const { pattern: __, ...kept } = node
    return kept
  })
}
