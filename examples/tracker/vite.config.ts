import { defineConfig } from 'vitest/config'

// Where `python server.py` listens: it signs in, keeps estimates and makes sessions of the agent.
const server = 'http://127.0.0.1:8803'

export default defineConfig({
  // The SDK is linked from the same checkout and has a React of its own for its tests.
  resolve: { dedupe: ['react', 'react-dom', 'zod'] },
  esbuild: { jsx: 'automatic' },
  server: {
    fs: { allow: ['.', '../../sdk'] },
    proxy: Object.fromEntries(
      ['/api', '/agent', '/sign-in', '/sign-out'].map((path) => [path, { target: server }]),
    ),
  },
  build: {
    rollupOptions: {
      onwarn(warning, warn) {
        // Of packages, and harmless: marks for servers that draw React, and comments in a place
        // where they say nothing to Rollup.
        if (!['MODULE_LEVEL_DIRECTIVE', 'INVALID_ANNOTATION'].includes(warning.code ?? '')) {
          warn(warning)
        }
      },
    },
  },
  test: { include: ['test/**/*.test.{ts,tsx}'], environment: 'jsdom' },
})
