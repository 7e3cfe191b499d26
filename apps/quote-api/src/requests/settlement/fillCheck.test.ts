// Goal: a refund in coin to a contract that nobody traced is not paid a second time.
import { codecOf, mainNetwork, type PaymentFacts, type TransferFact } from '@causeway/core'
import { expect, test } from 'vitest'
import { type FillProblem, paymentProblem } from './fillCheck.ts'

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

test.each<[string, PaymentFacts, FillProblem | undefined]>([
  ['what was paid', factsOf({}), undefined],
  ['what a contract got, untraced', factsOf({ amount: 0n, needsTrace: true }), 'trace_needed'],
  ['too little', factsOf({ amount: 99n }), 'short'],
  [
    'what a contract got for another order',
    factsOf({ amount: 0n, needsTrace: true }, { referencesOrder: false }),
    'other_order',
  ],
])('%s', (_what, facts, problem) => {
  expect(paymentProblem(owed, facts, codec)).toBe(problem)
})
