import type { HoldOutcome, HoldRequest, SqlTx } from '@causeway/core'
import type { RuleCheck } from '../policies/ruleCheck.ts'
import { refusalOf } from './decideHolds.ts'
import { defaultHoldCaps, type HoldCaps } from './holdCaps.ts'
import { HoldState } from './holdState.ts'
import { readHoldFacts } from './readHoldFacts.ts'

export type PolicyExplanation = {
  /** Outcome that this request would have now. */
  readonly outcome: HoldOutcome['status']
  /** The rule that refuses, where one does. */
  readonly refusedBy: RuleCheck | undefined
  readonly policyVersion: number | undefined
  /** Every rule in the order in which it decides, passed or not. */
  readonly checks: readonly RuleCheck[]
}

/** Dry run of a reservation, rule by rule, for an operator's question. Locks and writes nothing. */
export async function explainPolicy(
  tx: SqlTx,
  request: HoldRequest,
  { caps = defaultHoldCaps }: { caps?: HoldCaps } = {},
): Promise<PolicyExplanation> {
  const facts = (await readHoldFacts(tx, new Map([[request.sponsor, [request]]]), 'none')).get(
    request.sponsor,
  )
  if (facts === undefined) throw new Error('no facts about a sponsor')
  const sums = new HoldState(facts, caps)
  // The request would replace these holds, as in `decideHolds`. All have its re-quote key, since the facts
  // are about this request alone.
  for (const hold of facts.open.filter(({ apiKeyId }) => apiKeyId === request.apiKeyId))
    sums.remove({ ...hold, destinationChainId: request.destinationChainId })
  const checks = sums.checks(request, { isPinned: false })
  return {
    outcome: refusalOf(checks)?.status ?? 'reserved',
    refusedBy: checks.find(({ passed }) => !passed),
    policyVersion: facts.policies.get(request.apiKeyId)?.version,
    checks,
  }
}
