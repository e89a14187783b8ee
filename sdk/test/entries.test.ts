/** The package as it is published, in Node without a DOM. */

import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const run = promisify(execFile)
const sdk = fileURLToPath(new URL('..', import.meta.url))
const modules = join(sdk, 'node_modules')

let place: string

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'remit-sdk-'))
  await cp(join(sdk, 'package.json'), join(place, 'package.json'))
  const compiler = join(modules, 'typescript', 'bin', 'tsc')
  const build = ['-p', 'tsconfig.build.json', '--outDir', join(place, 'dist')]
  await run(process.execPath, [compiler, ...build], { cwd: sdk })
}, 120_000)

afterAll(async () => {
  await rm(place, { recursive: true, force: true })
})

/** What an entry gives, imported by the package's name. */
async function names(entry: string): Promise<string[]> {
  const program = `
    if (typeof document !== 'undefined') throw new Error('There is a DOM.')
    console.log(JSON.stringify(Object.keys(await import('@remit/sdk/${entry}')).sort()))`
  const found = await run(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: place,
  })
  return JSON.parse(found.stdout) as string[]
}

test.each([
  ['core', ['START', 'defineTool', 'reduce']],
  ['testing', ['announced', 'callTool', 'widgetInput']],
  ['client', ['Connection', 'RemitError', 'connect', 'defineTool', 'defineWidget', 'mount']],
])('%s needs no other package and no DOM to be imported (A-21)', async (entry, expected) => {
  expect(await names(entry)).toEqual(expected)
})

test('kit needs no other package and no DOM, and is tools by another name', async () => {
  const found = await names('kit')

  expect(found).toContain('handler')
  expect(await names('tools')).toEqual(found)
})

test('react needs React and no DOM to be imported (A-21)', async () => {
  await symlink(modules, join(place, 'node_modules'))

  expect(await names('react')).toEqual(['Chat', 'Remit', 'defineTool', 'defineWidget', 'useRemit'])
})
