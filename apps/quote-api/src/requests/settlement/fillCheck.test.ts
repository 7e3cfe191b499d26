// Goal: a refund in coin to a contract that nobody traced is not paid a second time.
import { codecOf, mainNetwork, type PaymentFacts, type TransferFact } from '@causeway/core'
import { expect, test } from 'vitest'
import { needsTrace, paysInFull } from './fillCheck.ts'

const codec = codecOf(mainNetwork('ethereum-vm'))
const recipient = `0x${'22'.repeat(20)}`
const currency = `0x${'00'.repeat(20)}`
const owed = { recipient, currency, amount: '100' }

function factsOf(transfer: Partial<TransferFact>, own: Partial<PaymentFacts> = {}): PaymentFacts {
  return {
    kind: 'payment',
    transactionId: `0x${'cc'.repeat(32)}`,
    blockTimestampSeconds: 1n,
    referencesOrder: true,
    transfers: [{ recipient, currency, amount: 100n, ...transfer }],
    evidence: { chainId: 'base', finalityRule: '', agreeingEndpoints: [] },
    ...own,
  }
}

test.each<[string, PaymentFacts, boolean, boolean]>([
  ['what was paid', factsOf({}), true, false],
  ['what a contract got, untraced', factsOf({ amount: 0n, needsTrace: true }), false, true],
  ['too little', factsOf({ amount: 99n }), false, false],
  [
    'what a contract got for another order',
    factsOf({ amount: 0n, needsTrace: true }, { referencesOrder: false }),
    false,
    false,
  ],
])('%s', (_what, facts, isPaid, isUntraced) => {
  expect([paysInFull(owed, facts, codec), needsTrace(owed, facts, codec)]).toEqual([isPaid, isUntraced])
})
