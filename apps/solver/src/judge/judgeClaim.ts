import { lossOf, refuse, type Valuer, type Verdict, wait } from './verdict.ts'

/**
 * Verdict on a claim of app fees. A claim names no deposit that could be read, because only quote-api's books tell who is
 * owed app fees. So claims have a budget of their own, and one claim takes at most all of it.
 */
export function judgeClaim(facts: {
  readonly claim: {
    readonly chainId: number
    readonly payments: readonly { readonly currency: string; readonly amount: bigint }[]
  }
  readonly claimsPerHourMicroUsd: bigint
  readonly value: Valuer
}): Verdict {
  const [payment, ...others] = facts.claim.payments
  if (payment === undefined || others.length > 0) return refuse('a claim is one payment')
  const worth = facts.value(facts.claim.chainId, payment.currency, payment.amount)
  if (worth === undefined) return wait('no price is known')
  // Nothing that the solver can read came in for it, so all of it counts as a loss.
  const valueMicroUsd = lossOf(worth, 0n)
  if (valueMicroUsd > facts.claimsPerHourMicroUsd) return refuse('the claim is above what claims may take')
  return { kind: 'pay', lossMicroUsd: valueMicroUsd }
}
