/**
 * Writes what the Python package has of these sources, each as one file without imports: the kit
 * and the schemas' merging for the build of app folders (a project without this package gets them
 * from there), and the chat for the page of `remit dev`.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const SDK = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const REMIT = resolve(SDK, '../src/remit')

/** Each with where it is written, and what it is made of. */
export const BUNDLES = [
  { place: resolve(REMIT, 'building/node/kit.mjs'), source: 'src/kit/index.ts' },
  { place: resolve(REMIT, 'building/node/merging.mjs'), source: 'src/core/merging.ts' },
  { place: resolve(REMIT, 'web/pages/sdk.js'), source: 'src/dev/index.ts' },
]

/**
 * The text that the sources give.
 *
 * @param {string} source
 */
export async function bundled(source) {
  const folder = dirname(source)
  const { outputFiles } = await build({
    absWorkingDir: SDK,
    entryPoints: [source],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    charset: 'utf8',
    banner: {
      js: `// Made by \`npm run build\` in sdk/ from sdk/${folder}; changes belong there.`,
    },
  })
  return outputFiles.map(({ text }) => text).join('')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { place, source } of BUNDLES) {
    await mkdir(dirname(place), { recursive: true })
    await writeFile(place, await bundled(source))
  }
}
