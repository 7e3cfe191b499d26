import type { Hex } from '@causeway/core'
import fc from 'fast-check'
import { serializeTransaction } from 'viem'
import { expect, test } from 'vitest'
import { serializeUnsigned } from './unsignedTransaction.ts'

const wei = fc.bigInt({ min: 0n, max: 2n ** 128n })
const hex = (bytes: { readonly minLength: number; readonly maxLength: number }) =>
  fc.uint8Array(bytes).map((value): Hex => `0x${Buffer.from(value).toString('hex')}`)

test('an unsigned transaction has the bytes that viem gives it', () => {
  const transactions = fc.record({
    chainId: fc.integer({ min: 1, max: 2 ** 40 }),
    nonce: fc.nat(),
    maxFeePerGas: wei,
    gas: fc.bigInt({ min: 0n, max: 2n ** 63n }),
    to: hex({ minLength: 20, maxLength: 20 }),
    value: wei,
    // Around the lengths at which the prefix changes, one byte included.
    data: fc.oneof(
      ...[0, 1, 2, 54, 55, 56, 255, 256, 70_000].map((length) =>
        hex({ minLength: length, maxLength: length }),
      ),
    ),
  })
  fc.assert(
    fc.property(transactions, (transaction) => {
      const fees = { maxPriorityFeePerGas: transaction.maxFeePerGas / 2n }
      const expected = serializeTransaction({ type: 'eip1559', ...transaction, ...fees })
      expect(serializeUnsigned({ ...transaction, ...fees })).toBe(expected)
    }),
    { endOnFailure: true, numRuns: 100 },
  )
})
