import type { SqlWriteTx } from '@causeway/core'
import type { HoldDecision } from './decideHolds.ts'

const apply = 'select ledger_hold_apply($1, $2, $3, $4)'

/**
 * Writes what was decided on facts that this transaction read under the sponsor's lock. `until` makes the
 * holds pinned ones that end then, instead of after their lifetime.
 */
export function writeHolds(
  tx: SqlWriteTx,
  decision: HoldDecision,
  { sponsorAccount, at, until }: { sponsorAccount: bigint; at: string; until?: Date },
): void {
  const { approved, superseded } = decision
  if (approved.length === 0) return
  const rows = approved.map(({ id, request, attempt, bodyHash, policyVersion }, n) => ({
    n,
    id,
    request: request.requestId.slice(2),
    attempt,
    key: request.apiKeyId,
    user: request.user,
    recipient: request.recipient,
    origin: request.originChainId,
    destination: request.destinationChainId,
    components: request.components,
    requote: request.requoteKey,
    amount: request.amountMicroUsd.toString(),
    seconds: request.lifetimeSeconds,
    until: until?.toISOString(),
    policy: policyVersion,
    hash: bodyHash,
  }))
  tx.send(apply, [sponsorAccount, superseded, at, JSON.stringify(rows)])
}
