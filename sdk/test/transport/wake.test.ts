// @vitest-environment jsdom
/** A page that sleeps and wakes up, or is offline for a while. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Http } from '../../src/transport/http.js'
import { follow } from '../../src/transport/stream.js'
import { SESSION, SessionServer, TOKEN } from '../session-server.js'
import { until } from '../until.js'

let server: SessionServer
let left: AbortController
let told: string[]

beforeEach(async () => {
  server = await new SessionServer().start()
  left = new AbortController()
  told = []
  const reader = {
    headSeq: () => 0,
    events: () => {},
    reset: () => {},
    open: () => told.push('open'),
    lost: (isOffline: boolean) => told.push(isOffline ? 'offline' : 'lost'),
    over: () => told.push('over'),
  }
  follow(new Http({ server: server.url, getToken: () => TOKEN }), SESSION, reader, left.signal)
  await until(() => expect(server.readers).toBe(1))
})

afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  left.abort()
  await server.stop()
})

test.each([
  ['is online again', () => dispatchEvent(new Event('online'))],
  ['is seen again', () => document.dispatchEvent(new Event('visibilitychange'))],
])('a page that %s tries at once, however long its pause was', async (_, wake) => {
  // A pause that ends with the day, if nothing ends it before.
  vi.spyOn(Math, 'random').mockReturnValue(1e6)
  server.answer(({ path }) => (path === '/events' ? { status: 404 } : undefined))
  server.drop()
  await until(() => expect(told.at(-1)).toBe('lost'))

  await until(() => {
    wake()
    expect(told.at(-1)).toBe('over')
  })
})

test('a page that has no network says that it is offline', async () => {
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)

  server.drop()

  await until(() => expect(told).toEqual(['open', 'offline', 'open']))
})

test('a page that slept for long does not trust its connection, one that was seen a moment ago does', async () => {
  document.dispatchEvent(new Event('visibilitychange'))
  await new Promise((done) => setTimeout(done, 50))
  expect(told).toEqual(['open'])

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 })
  document.dispatchEvent(new Event('visibilitychange'))

  await vi.waitUntil(() => told.length === 3, { timeout: 3000 })
  expect(told).toEqual(['open', 'lost', 'open'])
})

test('a page that is left hears nothing more', async () => {
  left.abort()
  await until(() => expect(server.readers).toBe(0))

  dispatchEvent(new Event('online'))
  await new Promise((done) => setTimeout(done, 50))

  expect(told).toEqual(['open'])
  expect(server.of('GET', '/events')).toHaveLength(1)
})
