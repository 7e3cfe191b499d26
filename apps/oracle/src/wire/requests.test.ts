import { decodeEvmWithdrawal, evmWithdrawalId } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import {
  depositsExample,
  fillsExample,
  noFillOrRefundExample,
  nonceMappingExample,
  recoveryExample,
  refundsExample,
  withdrawalFlowExample,
  withdrawalsExample,
} from './requestExamples.ts'
import {
  depositsRequestSchema,
  fillsRequestSchema,
  noFillOrRefundRequestSchema,
  nonceMappingRequestSchema,
  recoveryRequestSchema,
  refundsRequestSchema,
  withdrawalFlowRequestSchema,
  withdrawalsRequestSchema,
} from './requests.ts'

test.each([
  ['deposits', depositsRequestSchema, depositsExample],
  ['withdrawals', withdrawalsRequestSchema, withdrawalsExample],
  ['fills', fillsRequestSchema, fillsExample],
  ['refunds', refundsRequestSchema, refundsExample],
  ['a recovery', recoveryRequestSchema, recoveryExample],
  ['a promise', noFillOrRefundRequestSchema, noFillOrRefundExample],
  ['a mapping', nonceMappingRequestSchema, nonceMappingExample],
  ['the withdrawal flow', withdrawalFlowRequestSchema, withdrawalFlowExample],
])('the documented example of %s is a request', (_what, schema, example) => {
  expect(schema.parse(example)).toEqual(example)
})

test('the documented withdrawal is the published one', () => {
  const { withdrawal } = withdrawalsRequestSchema.parse(withdrawalsExample)
  expect(evmWithdrawalId(decodeEvmWithdrawal(withdrawal))).toBe(
    '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc',
  )
})

test.each([
  ['half a byte', '0xabc'],
  ['other characters', '0xzz'],
  ['base58', '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb'],
  ['a prefix in the middle', 'ab0xab'],
  ['two prefixes', '0x0xab'],
  ['more bytes than any signature has', 'ab'.repeat(4_097)],
])('an owner signature of %s is refused', (_what, ownerSignature) => {
  const parsed = withdrawalFlowRequestSchema.safeParse({ ...withdrawalFlowExample, ownerSignature })
  expect(parsed.error?.issues[0]?.path).toEqual(['ownerSignature'])
})
