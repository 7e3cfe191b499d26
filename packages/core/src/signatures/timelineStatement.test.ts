import { hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import { bytesToHex } from '../hashing/hexBytes.ts'
import { timelineDigest, timelineDomain, timelineTypes } from './timelineStatement.ts'

const statement = {
  requestId: `0x${'01'.repeat(32)}`,
  orderId: `0x${'02'.repeat(32)}`,
  status: 'success',
  reason: '',
  asOf: '2026-11-30T12:00:00.000Z',
  steps: [
    {
      step: 'deposit',
      at: '2026-11-30T11:59:00.000Z',
      reason: '',
      text: 'The deposit came.',
      evidence: [{ kind: 'transaction', label: 'deposit', value: '0x03', chainId: 8453n }],
    },
  ],
} as const

test('a statement is signed as its types say', () => {
  const message = {
    ...statement,
    steps: statement.steps.map((step) => ({ ...step, evidence: [...step.evidence] })),
  }
  const digest = hashTypedData({
    domain: timelineDomain,
    types: timelineTypes,
    primaryType: 'Timeline',
    message,
  })
  expect(bytesToHex(timelineDigest(statement))).toBe(digest)
})

test('an id of another length is a bug of the caller, and what is none is told as it is', () => {
  const wrong = { ...statement, requestId: '0x12' as const }
  const refused = expect.objectContaining({
    cause: expect.any(Error),
    message: expect.stringContaining('bytes32'),
  })
  expect(() => timelineDigest(wrong)).toThrow(RangeError)
  expect(() => timelineDigest(wrong)).toThrow(refused)
  const broken: typeof statement.steps = JSON.parse('[{}]')
  expect(() => timelineDigest({ ...statement, steps: broken })).toThrow(TypeError)
})
