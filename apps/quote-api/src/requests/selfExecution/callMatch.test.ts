// Goal: a transaction executes a quoted call only when it is that call, whole and by its user.
import type { Hex } from '@causeway/core'
import type { MinedTransaction } from '@causeway/families'
import { describe, expect, test } from 'vitest'
import { callMatch, type SelfExecution } from './callMatch.ts'

const user: Hex = `0x${'11'.repeat(20)}`
const router: Hex = `0x${'22'.repeat(20)}`
const execution: SelfExecution = {
  user,
  calls: [
    { to: router, data: '0xaabb', value: 0n },
    { to: router, data: '0xccdd', value: 5n },
  ],
  afterBlock: 100n,
}
const mined: MinedTransaction = {
  hash: `0x${'ab'.repeat(32)}`,
  blockNumber: 101n,
  succeeded: true,
  from: user,
  to: router,
  input: '0xaabb',
  valueWei: 0n,
  paidSwaps: [],
}
const nothingDone = new Set<number>()

describe('a transaction', () => {
  test('is the quoted call that it equals, appended bytes aside', () => {
    expect(callMatch(execution, mined, nothingDone)).toBe(0)
    expect(callMatch(execution, { ...mined, input: '0xaabb99' }, nothingDone)).toBe(0)
    expect(callMatch(execution, { ...mined, input: '0xccdd', valueWei: 5n }, nothingDone)).toBe(1)
  })

  test.each<[string, Partial<MinedTransaction>]>([
    ['of somebody else', { from: router }],
    ['to another contract', { to: user }],
    ['that creates a contract', { to: undefined }],
    ['with other calldata', { input: '0xaabc' }],
    ['with shorter calldata', { input: '0xaa' }],
    ['with another value', { valueWei: 1n }],
    ['that was mined before the quote', { blockNumber: 100n }],
  ])('Q-200: %s is none of them', (_what, change) => {
    expect(callMatch(execution, { ...mined, ...change }, nothingDone)).toBeUndefined()
  })

  test('is not a call that another one is already, unless the same was quoted twice', () => {
    expect(callMatch(execution, mined, new Set([0]))).toBeUndefined()
    const [first] = execution.calls
    const twice = { ...execution, calls: [first, first].flatMap((call) => (call ? [call] : [])) }
    expect(callMatch(twice, mined, new Set([0]))).toBe(1)
  })
})
