import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { BUNDLES, bundled } from '../scripts/bundles.js'

test.each(BUNDLES)(
  '$source in the Python package is what these sources give: run `npm run build`',
  async ({ place, source }) => {
    const text = await bundled(source)

    expect(await readFile(place, 'utf8')).toBe(text)
    expect(text).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(/m)
  },
)
