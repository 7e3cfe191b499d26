// Goal: no quote is sold that cannot be signed once it is paid. Attackers: a key management service that takes the key
// away at noon, a caller who hangs up while his quote is signed.
import type { Signer } from '@causeway/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createOrderKey } from './orderKey.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function setUp() {
  const holder = { isThere: true, asked: 0 }
  const told: string[] = []
  const signer: Signer = {
    address: `0x${'e1'.repeat(20)}`,
    async sign(_request, { signal } = {}) {
      holder.asked += 1
      signal?.throwIfAborted()
      if (!holder.isThere) throw new Error('access denied')
      return `0x${'11'.repeat(65)}`
    },
  }
  const key = createOrderKey(
    signer,
    (failure) => void told.push(failure === undefined ? 'works' : String(failure)),
  )
  return { holder, told, key }
}

const order = { purpose: 'order', orderId: `0x${'01'.repeat(32)}` } as const

test('nothing is sold before the key has signed for the first time', async () => {
  const { key } = setUp()
  expect(() => key.assertWorks()).toThrow(expect.objectContaining({ code: 'SIGNER_FAILED' }))
  key.start()
  await vi.advanceTimersByTimeAsync(0)
  key.assertWorks()
  key.close()
})

test('Q-184: a key that is taken away is noticed within a minute, and again when it is back', async () => {
  const { holder, told, key } = setUp()
  key.start()
  await vi.advanceTimersByTimeAsync(0)
  holder.isThere = false
  await vi.advanceTimersByTimeAsync(60_001)
  expect(() => key.assertWorks()).toThrow(expect.objectContaining({ code: 'SIGNER_FAILED' }))
  holder.isThere = true
  await vi.advanceTimersByTimeAsync(2_000)
  key.assertWorks()
  expect(told).toEqual(['works', 'Error: access denied', 'works'])
  key.close()
  const { asked } = holder
  await vi.advanceTimersByTimeAsync(120_000)
  expect(holder.asked).toBe(asked)
})

test('a quote that cannot be signed has the key asked again, and then stops those that would be signed later', async () => {
  const { holder, told, key } = setUp()
  key.start()
  await vi.advanceTimersByTimeAsync(1_000)
  holder.isThere = false
  await expect(key.sign(order)).rejects.toThrow('access denied')
  key.assertWorks()
  await vi.advanceTimersByTimeAsync(1)
  expect(() => key.assertWorks()).toThrow(expect.objectContaining({ code: 'SIGNER_FAILED' }))
  expect(told).toEqual(['works', 'Error: access denied'])
})

test('one signature that fails stops nobody', async () => {
  const { holder, told, key } = setUp()
  key.start()
  await vi.advanceTimersByTimeAsync(1_000)
  holder.isThere = false
  await expect(key.sign(order)).rejects.toThrow('access denied')
  holder.isThere = true
  await vi.advanceTimersByTimeAsync(120_000)
  key.assertWorks()
  expect(told).toEqual(['works'])
})

test('while it fails it is asked every two seconds, whoever else asks', async () => {
  const { holder, key } = setUp()
  key.start()
  await vi.advanceTimersByTimeAsync(1_000)
  holder.isThere = false
  await expect(key.sign(order)).rejects.toThrow('access denied')
  const before = holder.asked
  await vi.advanceTimersByTimeAsync(20_000)
  expect(holder.asked - before).toBeLessThanOrEqual(11)
  expect(holder.asked - before).toBeGreaterThanOrEqual(9)
  key.close()
})

test('a caller who hangs up says nothing of the key', async () => {
  const { told, key } = setUp()
  await key.sign(order)
  await expect(key.sign(order, { signal: AbortSignal.abort() })).rejects.toThrow()
  key.assertWorks()
  expect(told).toEqual(['works'])
})
