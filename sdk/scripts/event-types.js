/**
 * Writes the types of a session's events, from the schema that `remit schema event` prints on
 * stdin. With `--check` nothing is written: the exit code says whether they are as they would be.
 */

import { readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { compile } from 'json-schema-to-typescript'

const PLACE = resolve(dirname(fileURLToPath(import.meta.url)), '../src/wire/events.ts')
const BANNER = `/**
 * What an event of a session tells, by its type.
 *
 * Made by \`npm run events\` from \`remit schema event\`; changes belong there.
 */
`
/** On the stream alone: these have no number and no object around them. */
const UNWRAPPED = ['text_delta', 'reset', 'end']

/**
 * One type for each event, by the event's name.
 *
 * @param {any} schema
 */
async function types(schema) {
  const defs = openObjects(schema.$defs)
  const logged = Object.fromEntries(
    schema.oneOf.map((/** @type {{ $ref: string }} */ { $ref }) => {
      const name = /** @type {string} */ ($ref.split('/').at(-1))
      const data = defs[name].properties.data
      delete defs[name]
      return [name, data]
    }),
  )
  const properties = {
    ...logged,
    ...Object.fromEntries(UNWRAPPED.map((name) => [name, { $ref: `#/$defs/${name}` }])),
  }
  return compile(
    { title: 'Events', type: 'object', properties, required: Object.keys(properties), $defs: defs },
    'Events',
    {
      additionalProperties: false,
      bannerComment: BANNER,
      style: { semi: false, singleQuote: true, printWidth: 100 },
      unknownAny: true,
    },
  )
}

/**
 * An object of which nothing is said is a record.
 *
 * @param {any} schema
 * @returns {any}
 */
function openObjects(schema) {
  if (schema === null || typeof schema !== 'object') {
    return schema
  }
  if (Array.isArray(schema)) {
    return schema.map(openObjects)
  }
  /** @type {any} */
  const made = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, openObjects(part)]),
  )
  const { type, properties, additionalProperties } = made
  const isOpen = type === 'object' && !properties && !additionalProperties
  return isOpen ? { ...made, tsType: 'Record<string, unknown>' } : made
}

const wanted = await types(JSON.parse(await text(process.stdin)))
if (!process.argv.includes('--check')) {
  await writeFile(PLACE, wanted)
} else if ((await readFile(PLACE, 'utf8')) !== wanted) {
  console.error('src/wire/events.ts is not what the schema gives. Run `npm run events`.')
  process.exitCode = 1
}
