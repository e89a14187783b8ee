// Looks at the Node that runs it before anything that an old one cannot read.

import { writeSync } from 'node:fs'

const OLDEST = 20

if (Number(process.versions.node.split('.')[0]) < OLDEST) {
  const fault = {
    rule: 'no-node',
    message: `Node ${process.versions.node} is here, and Node ${OLDEST} or newer runs a tools.ts`,
    mend: `install Node ${OLDEST} or newer, or declare the tools in tools.py`,
  }
  writeSync(Number(process.argv[2]), JSON.stringify({ tools: [], faults: [fault] }))
} else {
  await import('./tools.mjs')
}
