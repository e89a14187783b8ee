import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const react18 = fileURLToPath(new URL('test/react-18/node_modules/', import.meta.url))

export default defineConfig({
  test: {
    // Tests that wait for a server or a drawn page see to it that they end.
    testTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'sdk',
          include: ['test/**/*.test.ts'],
          typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: 'tsconfig.json' },
        },
      },
      {
        extends: true,
        resolve: {
          alias: [
            {
              find: /^(@testing-library\/react|react(?:-dom)?)(?=\/|$)/,
              replacement: `${react18}$1`,
            },
          ],
        },
        test: { name: 'react 18', include: ['test/react/**/*.test.ts'] },
      },
    ],
  },
})
