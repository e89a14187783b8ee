// Verifies one token a line, with the TypeScript kit as the Python package carries it.
import { createInterface } from 'node:readline'
import { verify } from '../../src/remit/building/node/kit.mjs'

for await (const line of createInterface({ input: process.stdin })) {
  const { token, jwks, options } = JSON.parse(line)
  process.stdout.write(`${JSON.stringify(await verify(token, jwks, options))}\n`)
}
