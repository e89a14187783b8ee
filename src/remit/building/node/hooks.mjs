// How modules are found and read while a tools file runs: TypeScript, and the kit by its names.
//
// They run in the same thread where Node can (registerHooks), else in a thread of their own.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { strip } from './stripping.mjs'

const TYPESCRIPT = /\.[m]?ts$/
const ENDINGS = ['.ts', '.mts', '/index.ts', '.js', '.mjs', '/index.js']
/** Names a module that the project itself would find. */
export const PROJECT = 'remit-project:'

const missing = (error) =>
  [
    'ERR_MODULE_NOT_FOUND',
    'ERR_PACKAGE_PATH_NOT_EXPORTED',
    'MODULE_NOT_FOUND',
    'ERR_UNSUPPORTED_DIR_IMPORT',
  ].includes(error?.code)

let given = null

/** Called by Node in the thread of the hooks. */
export function initialize(data) {
  given = data
}

/** The hooks for this thread. */
export function prepare(data) {
  initialize(data)
  return { resolve: resolveHere, load: loadHere }
}

/** The file that a relative name without its ending, or with that of its JavaScript, means. */
function typescriptFile(specifier, parentURL) {
  if (!/^(\.{1,2}\/|\/|file:)/.test(specifier) || !parentURL?.startsWith('file:')) return null
  const url = new URL(specifier, parentURL)
  const names = [
    url.href.replace(/\.(m?)js$/, '.$1ts'),
    ...ENDINGS.map((ending) => url.href + ending),
  ]
  return (
    names.find((name) => {
      const path = fileURLToPath(name)
      return existsSync(path) && statSync(path).isFile()
    }) ?? null
  )
}

function isKit(specifier) {
  return (
    ['@remit/sdk/kit', '@remit/sdk/tools'].includes(specifier) ||
    [`@${given.scope}/app`, `@${given.scope}/app/tools`].includes(specifier)
  )
}

/** What to try, in order, for a specifier: pairs of a specifier and who asks. */
function attempts(specifier, parentURL) {
  if (specifier.startsWith(PROJECT)) return [[specifier.slice(PROJECT.length), given.toolsUrl]]
  if (isKit(specifier))
    return [
      [specifier, parentURL],
      ['@remit/sdk/kit', given.toolsUrl],
      [given.kit, parentURL],
    ]
  const file = typescriptFile(specifier, parentURL)
  return file
    ? [
        [specifier, parentURL],
        [file, parentURL],
      ]
    : [[specifier, parentURL]]
}

export async function resolve(specifier, context, next) {
  let first
  for (const [name, parentURL] of attempts(specifier, context.parentURL)) {
    try {
      return await next(name, { ...context, parentURL })
    } catch (error) {
      if (!missing(error)) throw error
      first ??= error
    }
  }
  throw first
}

function resolveHere(specifier, context, next) {
  let first
  for (const [name, parentURL] of attempts(specifier, context.parentURL)) {
    try {
      return next(name, { ...context, parentURL })
    } catch (error) {
      if (!missing(error)) throw error
      first ??= error
    }
  }
  throw first
}

function loadHere(url, context, next) {
  const path = url.split('?')[0]
  if (path.startsWith('file:') && TYPESCRIPT.test(path)) {
    return {
      format: 'module',
      source: strip(path, given.stripper, given.scratch),
      shortCircuit: true,
    }
  }
  if (path === given.kit) {
    return {
      format: 'module',
      source: readFileSync(fileURLToPath(path), 'utf8'),
      shortCircuit: true,
    }
  }
  return next(url, context)
}

export async function load(url, context, next) {
  return loadHere(url, context, next)
}
