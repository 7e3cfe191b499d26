/** One rule and what it said about one hold. `used` is before the hold, `requested` what it adds. */
export type RuleCheck = {
  /** Which refusal a failed check leads to. */
  readonly kind: 'sponsor' | 'policy' | 'balance' | 'cap'
  readonly rule: string
  readonly passed: boolean
  readonly limit?: bigint
  readonly used?: bigint
  readonly requested?: bigint
}

/** A check of the form "what is used and what is asked stay within the limit". */
export function withinLimit(
  kind: RuleCheck['kind'],
  rule: string,
  sums: { limit: bigint; used: bigint; requested: bigint },
): RuleCheck {
  return { kind, rule, passed: sums.used + sums.requested <= sums.limit, ...sums }
}
