import { expect, test } from 'vitest'
import { createRandomPool } from './randomPool.ts'

test('hands out every byte once, in order, and refills when it runs out', () => {
  let fills = 0
  const take = createRandomPool((buffer) => {
    for (let index = 0; index < buffer.length; index += 1) buffer[index] = (index + fills) % 251
    fills += 1
  })
  const first = take(32)
  const second = take(32)
  expect([...first]).toEqual(Array.from({ length: 32 }, (_, index) => index))
  expect(second[0]).toBe(32)
  expect(fills).toBe(1)
  for (let count = 0; count < 300; count += 1) take(32)
  expect(fills).toBe(2)
  expect([...first]).toEqual(Array.from({ length: 32 }, (_, index) => index))
  expect(() => take(8_193)).toThrow(RangeError)
})

test('the real pool does not repeat itself', () => {
  const take = createRandomPool()
  const seen = new Set(Array.from({ length: 5_000 }, () => take(16).toString('hex')))
  expect(seen.size).toBe(5_000)
})
