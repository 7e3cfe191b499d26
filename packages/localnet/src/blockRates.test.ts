import { expect, test } from 'vitest'
import { findExcess } from './blockRates.ts'

const counted = (calls: number) => ({ requests: calls, batches: 0, calls, callsByMethod: {} })

test('F-106: exactly 1.2 times the calls of the slower chain are no excess, and one more is', () => {
  expect(findExcess({ fast: counted(12), slow: counted(10) }, 9)).toEqual([])
  expect(findExcess({ fast: counted(13), slow: counted(10) }, 9)).toEqual([
    '13 requests of the faster chain, 10 of the slower one',
    '13 calls of the faster chain, 10 of the slower one',
  ])
})
