// Goal: budgets hold what a record may cost, and no more. Who gains by breaking it: whoever causes records whose
// cancellations are not mined for long, and so uses up what others' payments need.
import type { ContractPayingChain } from '@causeway/families'
import { EthereumFees, type GasShape, gasShapes } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { NonceStrategy } from './nonceStrategy.ts'
import type { SignedRecord } from './signedRecord.ts'

const address = `0x${'aa'.repeat(20)}` as const
const signedAt = (maxFeePerGasWei: bigint) => {
  const hash = `0x${maxFeePerGasWei.toString(16).padStart(64, '0')}` as const
  return { raw: '0x02', hash, maxFeePerGasWei, maxPriorityFeePerGasWei: 1n, signedAtMs: 0 } as const
}
const notAsked = () => {
  throw new Error('nothing is asked of the chain')
}
const paying: ContractPayingChain = {
  chainId: 10,
  address,
  fillContracts: notAsked,
  counts: notAsked,
  minedOf: notAsked,
  readFinal: notAsked,
  readFinalOf: notAsked,
  hasCode: notAsked,
  tryOut: notAsked,
  broadcast: notAsked,
  balanceOf: notAsked,
  allowanceFor: notAsked,
  sign: async (_transaction, { maxFeePerGasWei }) => signedAt(maxFeePerGasWei),
  signCancellation: async (_nonce, { maxFeePerGasWei }) => ({
    signed: signedAt(maxFeePerGasWei),
    gas: 21_000n,
  }),
}
const nothing = Object.fromEntries(gasShapes.map((shape) => [shape, 0n]))
// CAST: filled from the closed list of shapes.
const none = nothing as Record<GasShape, bigint>
const gasPrice = { expectedWei: 5n, maxFeePerGasWei: 10n, maxPriorityFeePerGasWei: 1n }
const strategy = new NonceStrategy({
  paying,
  fillContract: address,
  records: { active: notAsked },
  marketFees: () => new EthereumFees({ gasPrice, gasUnits: none, l1DataFeeWei: none }),
  rules: { bumpAfterMs: 1_000, maxFeePerGasWei: 1_000n, transactionGasMax: 10n ** 7n },
  nowMs: () => 0,
})

test.each([
  ['transaction that is raised', 'transaction', 1_000_000n, [], 13_000_000n],
  ['first cancellation', 'cancellation', 1_000_000n, [], 0n],
  ['cancellation that costs less than the transaction', 'cancellation', 1_000_000n, [112n], 0n],
  ['cancellation that comes to cost more', 'cancellation', 25_200n, [112n], 126_000n],
  ['cancellation that has cost more before', 'cancellation', 21_000n, [112n], 294_000n],
] as const)(
  'P-53: a %s reserves what it may cost above the rest of its record',
  async (_what, kind, gas, cancellationBids, extraCost) => {
    const record: SignedRecord = {
      id: 'item',
      attempt: 0,
      kind: 'fill',
      chainId: 10,
      nonce: 5,
      wallet: address,
      plan: { to: address, data: '0x', valueWei: 0n, gas },
      transactions: [signedAt(100n)],
      cancellations: cancellationBids.map(signedAt),
      payments: [],
      deposits: [],
      release: 'given',
      outcome: 'open',
      failureReported: false,
    }
    expect((await strategy.signAgain(record, kind)).signed?.extraCost).toBe(extraCost)
  },
)
