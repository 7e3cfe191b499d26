import { type HoldRequest, maxBigint } from '@causeway/core'
import type { PolicyRules } from './policySchema.ts'
import { type RuleCheck, withinLimit } from './ruleCheck.ts'

export type Usage = { readonly usedMicroUsd: bigint; readonly count: bigint }

/** Looks up usage of an API key by all users (subject `''`) or one user; ever, or on the present UTC day. */
export type UsageOf = (subject: string, window: 'lifetime' | '24h') => Usage

/** Checks every rule that the policy states, in a fixed order; the hold is allowed if all pass. */
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
    ...checkTerm('INACTIVE', rules.active),
    ...checkTerm('STARTS_AT', startsAt === undefined ? undefined : at >= new Date(startsAt)),
    ...checkTerm('ENDS_AT', endsAt === undefined ? undefined : at < new Date(endsAt)),
    ...checkTerm('ORIGIN_CHAINS', originChains?.includes(request.originChainId)),
    ...checkTerm('DESTINATION_CHAINS', destinationChains?.includes(request.destinationChainId)),
    ...checkTerm('COMPONENTS', components && request.components.every((name) => components.includes(name))),
    ...checkTerm('USER_BLOCKLIST', userBlocklist && !users.some((user) => userBlocklist.includes(user))),
    ...checkTerm('USER_ALLOWLIST', userAllowlist && users.every((user) => userAllowlist.includes(user))),
  ]
}

/** The check of one rule; none where `passed` is undefined, because the policy does not state the rule. */
function checkTerm(rule: string, passed: boolean | undefined): readonly RuleCheck[] {
  return passed === undefined ? [] : [{ kind: 'policy', rule, passed }]
}

function checkSums(rules: PolicyRules, request: HoldRequest, usageOf: UsageOf): readonly RuleCheck[] {
  const everybody = ['']
  const users = usersOf(request)
  // Earlier requests do not count toward the limit of a single one.
  const nothingUsed = [0n]
  return [
    ...checkLimit('MAX_PER_REQUEST', rules.maxPerRequest, nothingUsed, request.amountMicroUsd),
    ...checkAmount('MAX_TOTAL', rules.maxTotal, everybody, 'lifetime'),
    ...checkAmount('MAX_TOTAL_24H', rules.maxTotal24h, everybody, '24h'),
    ...checkAmount('MAX_PER_USER', rules.maxPerUser, users, 'lifetime'),
    ...checkAmount('MAX_PER_USER_24H', rules.maxPerUser24h, users, '24h'),
    ...checkCount('MAX_COUNT', rules.maxCount, everybody, 'lifetime'),
    ...checkCount('MAX_COUNT_24H', rules.maxCount24h, everybody, '24h'),
    ...checkCount('MAX_COUNT_PER_USER', rules.maxCountPerUser, users, 'lifetime'),
    ...checkCount('MAX_COUNT_PER_USER_24H', rules.maxCountPerUser24h, users, '24h'),
  ]

  function checkAmount(rule: string, max: bigint | undefined, subjects: readonly string[], window: Window) {
    const used = subjects.map((subject) => usageOf(subject, window).usedMicroUsd)
    return checkLimit(rule, max, used, request.amountMicroUsd)
  }

  function checkCount(rule: string, max: number | undefined, subjects: readonly string[], window: Window) {
    const used = subjects.map((subject) => usageOf(subject, window).count)
    return checkLimit(rule, max === undefined ? undefined : BigInt(max), used, 1n)
  }
}

type Window = Parameters<UsageOf>[1]

/** Checks the largest usage of all subjects against the limit. */
function checkLimit(
  rule: string,
  max: bigint | undefined,
  used: readonly bigint[],
  requested: bigint,
): readonly RuleCheck[] {
  if (max === undefined) return []
  const largestUsed = used.reduce(maxBigint, 0n)
  return [withinLimit('policy', rule, { limit: max, used: largestUsed, requested })]
}

/** The users that a hold counts for, each once. @source rule L-1 */
export function usersOf(request: { readonly user: string; readonly recipient: string }): readonly string[] {
  return request.user === request.recipient ? [request.user] : [request.user, request.recipient]
}
