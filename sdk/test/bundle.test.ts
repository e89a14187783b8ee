import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { bundled, PLACE } from '../scripts/bundle-kit.js'

test('the kit in the Python package is what these sources give: run `npm run build`', async () => {
  const text = await bundled()

  expect(await readFile(PLACE, 'utf8')).toBe(text)
  expect(text).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(/m)
})
