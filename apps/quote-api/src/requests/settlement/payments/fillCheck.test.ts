// Goal: a refund or a claim is paid by its own transaction alone. Method: facts by hand.
import type { Hex, PaymentFacts, TransferFact } from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { expect, test } from 'vitest'
import { type FillProblem, paymentProblem } from './fillCheck.ts'

const codec = codecOf(mainNetwork('ethereum-vm'))
const recipient = `0x${'22'.repeat(20)}`
const currency = `0x${'00'.repeat(20)}`
const recordId: Hex = `0x${'0d'.repeat(32)}`
const another: Hex = `0x${'0e'.repeat(32)}`
const owed = { recipient, currency, recordId, amount: '100' }

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
  ['what was paid under its own id', factsOf({}, { recordId }), undefined],
  ['what was paid under the id of another', factsOf({}, { recordId: another }), 'not_recorded'],
  ['a record that proves nothing', factsOf({}, { recordProblem: 'other_payments' }), 'not_recorded'],
  ['too little', factsOf({ amount: 99n }), 'short'],
  ['what was paid for another order', factsOf({}, { referencesOrder: false }), 'other_order'],
])('P-41: %s', (_what, facts, problem) => {
  expect(paymentProblem(owed, facts, codec)).toBe(problem)
})
