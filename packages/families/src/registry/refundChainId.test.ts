// Goal: a refund's id names its chain by one number, whoever makes it.
import { expect, test } from 'vitest'
import { refundChainId } from './refundChainId.ts'

test('P-57: the hub numbers the chain of a refund where a fill contract records it, and quotes do elsewhere', () => {
  const numbered = { hubChainId: '1414680398' }
  expect(refundChainId({ vmType: 'tron-vm', ...numbered }, 728_126_428)).toBe(1_414_680_398n)
  expect(refundChainId({ vmType: 'ethereum-vm', hubChainId: '8453' }, 8_453)).toBe(8_453n)
  expect(refundChainId({ vmType: 'solana-vm', ...numbered }, 792_703_809)).toBe(792_703_809)
})
