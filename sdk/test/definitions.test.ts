import { expect, test } from 'vitest'
import { z } from 'zod'
import * as client from '../src/client/index.js'
import * as core from '../src/core/index.js'
import * as react from '../src/react/index.js'

const facts = { description: 'It.', parameters: z.object({}) }

test.each([
  ['core', core.defineTool],
  ['client', client.defineTool],
  ['react', react.defineTool],
])('defineTool of %s gives back its argument (A-02, A-20)', (_, define) => {
  const tool = { ...facts, metadata: { title: 'T' }, execute: () => 1 }

  expect(define(tool)).toBe(tool)
})

test('defineWidget of client and of react give back their argument (A-08, A-20)', () => {
  const drawing = { ...facts, render: () => {} }
  const giving = { ...facts, render: () => null }

  expect(client.defineWidget(drawing)).toBe(drawing)
  expect(react.defineWidget(giving)).toBe(giving)
})
