import { expect, test } from 'vitest'
import { createReadMemory } from './readMemory.ts'

test('a transaction that never answers is given up after its last look, also by members passed on alone', () => {
  let nowMs = 0
  const { isDue, lookLater } = createReadMemory(() => nowMs)
  for (let looks = 0; looks < 14; looks += 1) {
    expect(isDue('0x1', 'live')).toBe(true)
    lookLater('0x1')
    nowMs += 10_000_000
  }
  expect(isDue('0x1', 'live')).toBe(false)
})
