// Goal: no endpoint of a Bitcoin chain changes a fact: it is outvoted, or the reading is refused by type. Method: the contract
// of all families over stand-ins of bitcoind and Esplora (`provenance: constructed`). CAUSEWAY_FAULTS=1 runs the long form.
// @source rules P-107, F-132
import { expect } from 'vitest'
import { describeLies } from '../readerSupport/describeLies.ts'
import { startBitcoinFacts } from './bitcoinSupport/facts.ts'

/** Facts without what only says who agreed, and where. */
const told = (facts: object) => ({ ...facts, evidence: undefined })

for (const api of ['node', 'esplora'] as const)
  describeLies(`F-132: bitcoin-vm by ${api}`, () => startBitcoinFacts(api), {
    answeredByNothing: ['withdrawal'],
    // The outcome of a withdrawal is taken from one endpoint; its owner and amount never are.
    mayBeTold(facts, truth, question) {
      const { status, executingTransactionId } = Object(facts)
      const outcome = question === 'withdrawal' ? { status, executingTransactionId } : {}
      expect(told(facts)).toEqual({ ...told(truth), ...outcome })
    },
  })
