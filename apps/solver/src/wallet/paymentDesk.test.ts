// Goal: of two items that cancel one record side by side, the second changes nothing. Who gains by breaking it: nobody, but a
// cancellation that no record has is taken for a stranger's transaction with the wallet's nonce.
import type { ContractPayingChain } from '@causeway/families'
import { EthereumFees, type GasShape, gasShapes } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { NonceStrategy } from './nonceStrategy.ts'
import { PaymentDesk } from './paymentDesk.ts'
import type { Records } from './records.ts'
import type { KeptRecord } from './signedRecord.ts'

const address = `0x${'aa'.repeat(20)}` as const
const notAsked = () => {
  throw new Error('it is not asked for this')
}
const offerOf = (number: number) => {
  const hash = `0x${number.toString(16).padStart(64, '0')}` as const
  return { raw: '0x02', hash, maxFeePerGasWei: 10n, maxPriorityFeePerGasWei: 1n, signedAtMs: 0 } as const
}
const open: KeptRecord = {
  id: 'item',
  attempt: 0,
  kind: 'fill',
  chainId: 10,
  nonce: 5,
  wallet: address,
  plan: { to: address, data: '0x', valueWei: 0n, gas: 30_000n },
  transactions: [offerOf(0)],
  cancellations: [],
  payments: [],
  deposits: [],
  release: 'given',
  outcome: 'open',
  failureReported: false,
}

/** A desk with one record. @param outcome that it has by now */
function aDesk(outcome: KeptRecord['outcome'] = 'open') {
  let kept: KeptRecord = { ...open, outcome }
  const sent: string[] = []
  let signed = 0
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
    balanceOf: notAsked,
    allowanceFor: notAsked,
    sign: notAsked,
    async signCancellation() {
      signed += 1
      return { signed: offerOf(signed), gas: 21_000n }
    },
    broadcast: async ({ raw: _raw, ...offer }) => void sent.push('hash' in offer ? String(offer.hash) : ''),
  }
  const records: Records = {
    active: notAsked,
    latest: async () => kept,
    ofPayment: notAsked,
    appFeesOf: notAsked,
    untold: notAsked,
    nextNonce: notAsked,
    begin: notAsked,
    async save(record) {
      kept = record
    },
    openCount: notAsked,
    closeOrder: notAsked,
    isClosed: notAsked,
    settlementKeys: notAsked,
  }
  const none = Object.fromEntries(gasShapes.map((shape) => [shape, 0n]))
  const gasPrice = { expectedWei: 5n, maxFeePerGasWei: 10n, maxPriorityFeePerGasWei: 1n }
  const strategy = new NonceStrategy({
    paying,
    fillContract: address,
    records,
    // CAST: filled from the closed list of shapes.
    marketFees: () =>
      new EthereumFees({ gasPrice, gasUnits: none as GasUnits, l1DataFeeWei: none as GasUnits }),
    rules: { bumpAfterMs: 1_000, maxFeePerGasWei: 1_000n, transactionGasMax: 10n ** 7n },
    nowMs: () => 0,
  })
  const rules = { gasPerHourWei: 10n ** 9n, refundGasPerHourWei: 10n ** 9n, relayGasPerHourWei: 0n }
  const leadership = () => ({ epoch: 1n, fence: async () => {} })
  const desk = new PaymentDesk(strategy, { records, leadership, rules, log: () => {} })
  return { desk, sent, signed: () => signed, kept: () => kept }
}
type GasUnits = Record<GasShape, bigint>

test('P-51: two items that cancel one record sign one cancellation, which the record has', async () => {
  const { desk, sent, signed, kept } = aDesk()
  await Promise.all([desk.cancel(open), desk.cancel(open)])
  expect([signed(), sent]).toEqual([1, [offerOf(1).hash]])
  expect(kept()).toMatchObject({ cancellations: [{ hash: offerOf(1).hash }] })
})

test('P-51: a record that has come to its end is not cancelled', async () => {
  const { desk, signed, kept } = aDesk('done')
  await desk.cancel(open)
  expect([signed(), kept().outcome]).toEqual([0, 'done'])
})
