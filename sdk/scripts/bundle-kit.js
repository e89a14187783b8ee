/**
 * Writes the kit as one file without imports, for the build of app folders: a project without
 * this package gets the kit from there.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const SDK = resolve(dirname(fileURLToPath(import.meta.url)), '..')

export const PLACE = resolve(SDK, '../src/remit/building/node/kit.mjs')

/** The text that the sources give. */
export async function bundled() {
  const { outputFiles } = await build({
    absWorkingDir: SDK,
    entryPoints: ['src/kit/index.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    charset: 'utf8',
    banner: { js: '// Made by `npm run build` in sdk/ from sdk/src/kit; changes belong there.' },
  })
  return outputFiles.map(({ text }) => text).join('')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await mkdir(dirname(PLACE), { recursive: true })
  await writeFile(PLACE, await bundled())
}
