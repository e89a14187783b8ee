import { vi } from 'vitest'

/** Wait for an outcome, and long: a machine that has much to do is no fault. */
export function until<Value>(check: () => Value | Promise<Value>): Promise<Value> {
  return vi.waitFor(check, { timeout: 10_000, interval: 20 })
}
