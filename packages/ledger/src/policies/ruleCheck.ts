/**
 * Result of one rule for one hold. Rules with a `limit` compare it with `used`, the sum before the hold, plus
 * `requested`, what the hold adds; in micro-USD or as a count.
 */
export type RuleCheck = {
  /** Kind of the refusal that a failed check leads to. */
  readonly kind: 'sponsor' | 'policy' | 'balance' | 'cap'
  readonly rule: string
  readonly passed: boolean
  readonly limit?: bigint
  readonly used?: bigint
  readonly requested?: bigint
}

/** A check that `used` plus `requested` is at most `limit`. */
export function withinLimit(
  kind: RuleCheck['kind'],
  rule: string,
  sums: { limit: bigint; used: bigint; requested: bigint },
): RuleCheck {
  return { kind, rule, passed: sums.used + sums.requested <= sums.limit, ...sums }
}
