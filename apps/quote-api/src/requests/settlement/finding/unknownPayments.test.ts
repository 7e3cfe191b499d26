import { expect, test } from 'vitest'
import { findUnknownPayments } from './unknownPayments.ts'

test('L-30: a payment whose transaction no endpoint shows any more is told with the id that its contract recorded', async () => {
  const payment = { id: `0x${'1d'.repeat(32)}`, transactionId: `0x${'f1'.repeat(32)}` } as const
  const chain = {
    chain: { key: 'base', config: { blockTimeMs: 2_000 } },
    finalHeight: async () => 5n,
    steps: { rangeBlocks: 10n },
    paidIds: async () => [payment],
    transaction: async () => undefined,
    // CAST: nothing else of a chain is read.
  } as unknown as Parameters<typeof findUnknownPayments>[1]
  const signal = new AbortController().signal
  const database = { query: async () => [] }
  expect(await findUnknownPayments(database, chain, { seconds: 20, signal })).toEqual([
    { chain: 'base', ...payment, orderId: payment.id },
  ])
})
