// Runs one tools.ts and says what it declares: {tools, faults} as JSON, on a pipe of its own.
//
// argv: the pipe's descriptor, the tools file, the npm scope of the brand, the kit's copy, and a
// folder for what is written meanwhile.

import { writeSync } from 'node:fs'
import nodeModule from 'node:module'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

import { prepare } from './hooks.mjs'
import { Fault, plain } from './plain.mjs'
import { parametersOf } from './schemas.mjs'
import { findStripper } from './stripping.mjs'

const [descriptor, toolsFile, scope, kit, scratch] = process.argv.slice(2)
const PACKAGE = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/
const toolsUrl = pathToFileURL(toolsFile).href

function end(reply) {
  const bytes = Buffer.from(JSON.stringify(reply))
  for (let at = 0; at < bytes.length; ) at += writeSync(Number(descriptor), bytes, at)
  process.exit(0)
}

/** Line and column of the deepest frame of the error that lies in the tools file. */
function placeOf(error) {
  if (error?.place?.file === toolsFile)
    return { line: error.place.line, column: error.place.column }
  const stack = typeof error?.stack === 'string' ? error.stack : ''
  for (const file of [toolsUrl, toolsFile]) {
    const at = stack.indexOf(`${file}:`)
    const found = at < 0 ? null : /^(\d+)(?::(\d+))?/.exec(stack.slice(at + file.length + 1))
    if (found) return { line: Number(found[1]), column: Number(found[2] ?? 1) }
  }
  return {}
}

/** The fault of a module that could not be run. */
function loadFault(error) {
  const missing = /Cannot find (?:package|module) '([^']+)' imported from (.+)/.exec(
    error?.message ?? '',
  )
  if (error?.code === 'ERR_MODULE_NOT_FOUND' && missing) {
    const name = missing[1].startsWith('/') ? missing[1].split('/').at(-1) : missing[1]
    const what = error.message.startsWith('Cannot find package') ? 'package' : 'module'
    const [first, second] = name.split('/')
    const packageName = first.startsWith('@') ? `${first}/${second}` : first
    let mend = `install it for the app: npm install ${packageName}`
    if (what === 'module') mend = 'name a file that is there'
    else if (!PACKAGE.test(packageName))
      mend = 'name the file, as in ./shared.js; the paths of a tsconfig.json are not read'
    return { rule: 'tools-failed', message: `the ${what} "${name}" cannot be found`, mend }
  }
  const said = error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)
  return {
    rule: 'tools-failed',
    message: `it cannot be run: ${said.split('\n')[0].slice(0, 500)}`,
    mend: 'mend that place; a tools file only declares, and needs nothing that runs',
    ...placeOf(error),
  }
}

const named = (entry) =>
  entry !== null && typeof entry === 'object' && typeof entry.name === 'string' ? entry.name : null

async function record(entry) {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) {
    throw new Fault(
      'bad-tool',
      '',
      `it is ${inspect(entry).slice(0, 60)}, and no tool`,
      'write {name, description, input, target}',
    )
  }
  if (!('input' in entry)) {
    throw new Fault(
      'bad-tool',
      '/input',
      'the tool has no input',
      'write a schema of Zod, Valibot or ArkType; one without properties where it takes nothing',
    )
  }
  if ('parameters' in entry) {
    throw new Fault(
      'bad-tool',
      '/parameters',
      'the tool has parameters',
      'leave them out; they are made from input',
    )
  }
  const made = {}
  for (const key of Object.keys(entry)) {
    if (key === 'input') made.parameters = await parametersOf(entry.input)
    else if (entry[key] !== undefined) made[key] = plain(entry[key], `/${key}`)
  }
  return made
}

async function declared(tools) {
  const reply = { tools: [], faults: [] }
  for (const [index, entry] of tools.entries()) {
    try {
      reply.tools.push({ index, record: await record(entry) })
    } catch (error) {
      const fault =
        error instanceof Fault
          ? error
          : new Fault(
              'bad-tool',
              '',
              `it cannot be read: ${String(error?.message ?? error).split('\n')[0]}`,
              'write plain values and a schema',
            )
      reply.faults.push({ ...fault.asJson(), index, tool: named(entry) })
    }
  }
  return reply
}

async function main() {
  const failed = (fault) => end({ tools: [], faults: [fault] })
  const stripper = await findStripper(toolsFile)
  if (stripper === null) {
    failed({
      rule: 'no-type-stripper',
      message: `nothing is there that takes the types off for Node ${process.versions.node}`,
      mend: 'install one for the app, npm install --save-dev esbuild, or use Node 24 or newer',
    })
  }
  const data = { toolsUrl, scope, kit: pathToFileURL(kit).href, stripper, scratch }
  if (nodeModule.registerHooks) nodeModule.registerHooks(prepare(data))
  else nodeModule.register('./hooks.mjs', import.meta.url, { data })
  process.setSourceMapsEnabled(true)
  let module
  try {
    module = await import(toolsUrl)
  } catch (error) {
    failed(loadFault(error))
  }
  const tools = module.tools
  if (!Array.isArray(tools)) {
    failed({
      rule: 'no-tools-list',
      message:
        tools === undefined
          ? 'it exports no tools'
          : `the tools that it exports are ${typeof tools}, and no list`,
      mend: 'write: export const tools = [ … ]',
    })
  }
  end(await declared(tools))
}

process.on('uncaughtException', (error) => end({ tools: [], faults: [loadFault(error)] }))
await main()
