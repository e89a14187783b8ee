/** Prints what a page downloads of the package: minified and compressed, as JSON in bytes. */

import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const SDK = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** @param {string} entry */
async function size(entry) {
  const { outputFiles } = await build({
    absWorkingDir: SDK,
    stdin: { contents: entry, resolveDir: SDK },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    external: ['react', 'react-dom'],
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
}

console.log(
  JSON.stringify({
    'core and client, with the chat': await size(
      "export * from './src/core/index.ts'; export * from './src/client/index.ts'",
    ),
    'connect alone': await size("export { connect } from './src/client/index.ts'"),
    'react, with chat and Markdown': await size("export * from './src/react/index.ts'"),
  }),
)
