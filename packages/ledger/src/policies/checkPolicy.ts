import { type HoldRequest, maxBigint } from '@causeway/core'
import type { PolicyRules } from './policySchema.ts'
import { type RuleCheck, withinLimit } from './ruleCheck.ts'

export type Usage = { readonly usedMicroUsd: bigint; readonly count: bigint }

/** Usage of a key: in total for `''`, else by one user; for all time, or on the day of the decision. */
export type UsageOf = (subject: string, window: 'lifetime' | '24h') => Usage

/** Every rule that the policy states, in a fixed order; the hold is allowed when all pass. */
export function checkPolicy(
  rules: PolicyRules,
  request: HoldRequest,
  now: { at: Date; usageOf: UsageOf },
): readonly RuleCheck[] {
  return [...checkTerms(rules, request, now.at), ...checkSums(rules, request, now.usageOf)]
}

function checkTerms(rules: PolicyRules, request: HoldRequest, at: Date): readonly RuleCheck[] {
  const { startsAt, endsAt, userAllowlist, userBlocklist, originChains, destinationChains } = rules
  const { components } = rules
  const users = usersOf(request)
  return [
    ...term('INACTIVE', rules.active),
    ...term('STARTS_AT', startsAt === undefined ? undefined : at >= new Date(startsAt)),
    ...term('ENDS_AT', endsAt === undefined ? undefined : at < new Date(endsAt)),
    ...term('ORIGIN_CHAINS', originChains?.includes(request.originChainId)),
    ...term('DESTINATION_CHAINS', destinationChains?.includes(request.destinationChainId)),
    ...term('COMPONENTS', components && request.components.every((part) => components.includes(part))),
    ...term('USER_BLOCKLIST', userBlocklist && !users.some((user) => userBlocklist.includes(user))),
    ...term('USER_ALLOWLIST', userAllowlist && users.every((user) => userAllowlist.includes(user))),
  ]
}

/** A rule that the policy does not state has no answer, and is no check. */
function term(rule: string, passed: boolean | undefined): readonly RuleCheck[] {
  return passed === undefined ? [] : [{ kind: 'policy', rule, passed }]
}

function checkSums(rules: PolicyRules, request: HoldRequest, usageOf: UsageOf): readonly RuleCheck[] {
  const everybody = ['']
  const users = usersOf(request)
  return [
    ...limit('MAX_PER_REQUEST', rules.maxPerRequest, [0n], request.amountMicroUsd),
    ...spent('MAX_TOTAL', rules.maxTotal, everybody, 'lifetime'),
    ...spent('MAX_TOTAL_24H', rules.maxTotal24h, everybody, '24h'),
    ...spent('MAX_PER_USER', rules.maxPerUser, users, 'lifetime'),
    ...spent('MAX_PER_USER_24H', rules.maxPerUser24h, users, '24h'),
    ...counted('MAX_COUNT', rules.maxCount, everybody, 'lifetime'),
    ...counted('MAX_COUNT_24H', rules.maxCount24h, everybody, '24h'),
    ...counted('MAX_COUNT_PER_USER', rules.maxCountPerUser, users, 'lifetime'),
    ...counted('MAX_COUNT_PER_USER_24H', rules.maxCountPerUser24h, users, '24h'),
  ]

  function spent(rule: string, most: bigint | undefined, subjects: readonly string[], window: Window) {
    const used = subjects.map((subject) => usageOf(subject, window).usedMicroUsd)
    return limit(rule, most, used, request.amountMicroUsd)
  }

  function counted(rule: string, most: number | undefined, subjects: readonly string[], window: Window) {
    const used = subjects.map((subject) => usageOf(subject, window).count)
    return limit(rule, most === undefined ? undefined : BigInt(most), used, 1n)
  }
}

type Window = Parameters<UsageOf>[1]

/** The subject that used most decides. */
function limit(
  rule: string,
  most: bigint | undefined,
  used: readonly bigint[],
  requested: bigint,
): readonly RuleCheck[] {
  if (most === undefined) return []
  const largest = used.reduce(maxBigint, 0n)
  return [withinLimit('policy', rule, { limit: most, used: largest, requested })]
}

/** The users that a hold counts for, each once. @source rule L-1 */
export function usersOf(request: { readonly user: string; readonly recipient: string }): readonly string[] {
  return request.user === request.recipient ? [request.user] : [request.user, request.recipient]
}
