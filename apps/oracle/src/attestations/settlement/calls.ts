import { firstMissingCall, type Hex, type PaymentFacts } from '@causeway/core'
import type { AttestedChain } from '../context.ts'
import { AttestationError } from '../errors.ts'

/**
 * Every call of the order must have been executed, in the order's sequence; others may stand between.
 * Calls are compared in their one ABI encoding.
 * @throws AttestationError
 * @source oracle-protocol.md 4, rule 6; 5.1, "Calls"
 */
export function checkCalls(calls: readonly Hex[], facts: PaymentFacts, chain: AttestedChain): void {
  if (calls.length === 0) return
  if (facts.calls === undefined) {
    throw new AttestationError('CALLS_NOT_SUPPORTED', `Calls are not supported on ${chain.vmType}.`)
  }
  const missing = firstMissingCall(calls, facts.calls)
  if (missing === undefined) return
  throw new AttestationError('MISSING_CALLS', `Call ${missing} of the order was not executed in its turn.`, {
    data: { callIndex: missing },
  })
}
