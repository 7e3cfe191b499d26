import { bpsDown, type HoldRequest, maxBigint } from '@causeway/core'
import { checkPolicy, usersOf } from '../policies/checkPolicy.ts'
import { type RuleCheck, withinLimit } from '../policies/ruleCheck.ts'
import type { HoldCaps } from './holdCaps.ts'
import { type HoldFacts, type Load, type OpenHold, usageKey } from './holdFacts.ts'

/** What a hold adds to the sums that rules look at. */
type Weight = Omit<OpenHold, 'id' | 'requoteKey'>

/** The sums of one sponsor while a batch is decided: each approved hold counts for the next. */
export interface HoldState {
  /** Every rule about one request, given all that was added so far. */
  checks(request: HoldRequest, options: { isPinned: boolean }): readonly RuleCheck[]
  add(weight: Weight): void
  remove(weight: Weight): void
}

/** @source design.md 6.3 to 6.6; ledger-and-safety.md 1.8 */
export function createHoldState(facts: HoldFacts, caps: HoldCaps): HoldState {
  const { account, policies } = facts
  const at = new Date(facts.at)
  const keys = new Map(facts.keys)
  const users = new Map(facts.users)
  const usage = new Map(facts.usage)
  let { unsettledMicroUsd } = facts
  let heldMicroUsd = account?.heldMicroUsd ?? 0n
  const postedMicroUsd = account?.postedMicroUsd ?? 0n

  function shift(weight: Weight, sign: 1 | -1): void {
    const amountMicroUsd = BigInt(sign) * weight.amountMicroUsd
    const change = { holds: sign, amountMicroUsd }
    heldMicroUsd += amountMicroUsd
    if (weight.isUnsettled) unsettledMicroUsd += amountMicroUsd
    keys.set(weight.apiKeyId, plus(keys.get(weight.apiKeyId), change))
    for (const user of usersOf(weight)) users.set(user, plus(users.get(user), change))
    if (!weight.isCounted) return
    const windows = weight.isToday ? (['lifetime', '24h'] as const) : (['lifetime'] as const)
    for (const window of windows) {
      for (const subject of ['', ...usersOf(weight)]) {
        const key = usageKey(weight.apiKeyId, window, subject)
        const { usedMicroUsd, count } = usage.get(key) ?? noUsage
        usage.set(key, { usedMicroUsd: usedMicroUsd + amountMicroUsd, count: count + BigInt(sign) })
      }
    }
  }

  function policyChecks(request: HoldRequest): readonly RuleCheck[] {
    const policy = policies.get(request.apiKeyId)
    if (policy === undefined) return []
    return checkPolicy(policy.rules, request, {
      at,
      usageOf: (subject, window) => usage.get(usageKey(request.apiKeyId, window, subject)) ?? noUsage,
    })
  }

  function capChecks(request: HoldRequest): readonly RuleCheck[] {
    const loads = usersOf(request).map((user) => users.get(user) ?? noLoad)
    const cap = (rule: string, sums: { limit: bigint; used: bigint; requested: bigint }) =>
      withinLimit('cap', rule, sums)
    return [
      cap('HOLDS_PER_USER', {
        limit: BigInt(caps.holdsPerUser),
        used: BigInt(Math.max(...loads.map(({ holds }) => holds))),
        requested: 1n,
      }),
      cap('HOLDS_PER_KEY', {
        limit: BigInt(caps.holdsPerKey),
        used: BigInt((keys.get(request.apiKeyId) ?? noLoad).holds),
        requested: 1n,
      }),
      ...(facts.settledUsers.has(request.user) ? [] : [unsettledCheck(request)]),
    ]
  }

  /** A lone request always passes: a small balance is there to be used. */
  function unsettledCheck({ apiKeyId, amountMicroUsd: requested }: HoldRequest): RuleCheck {
    const shareBps = policies.get(apiKeyId)?.rules.unsettledShareBps
    const share = bpsDown(postedMicroUsd, shareBps === undefined ? caps.unsettledShareBps : BigInt(shareBps))
    const limit = unsettledMicroUsd === 0n ? maxBigint(share, requested) : share
    return withinLimit('cap', 'UNSETTLED_SHARE', { limit, used: unsettledMicroUsd, requested })
  }

  return {
    checks: (request, { isPinned }) => [
      { kind: 'policy', rule: 'LEDGER_HALTED', passed: !facts.isHalted },
      { kind: 'sponsor', rule: 'NOT_FROZEN', passed: account?.isFrozen !== true },
      ...policyChecks(request),
      withinLimit('balance', 'AVAILABLE', {
        limit: postedMicroUsd,
        used: heldMicroUsd,
        requested: request.amountMicroUsd,
      }),
      ...(isPinned ? [] : capChecks(request)),
    ],
    add: (weight) => shift(weight, 1),
    remove: (weight) => shift(weight, -1),
  }
}

const noLoad: Load = { holds: 0, amountMicroUsd: 0n }
const noUsage = { usedMicroUsd: 0n, count: 0n }

function plus(load: Load = noLoad, change: Load): Load {
  return {
    holds: load.holds + change.holds,
    amountMicroUsd: load.amountMicroUsd + change.amountMicroUsd,
  }
}
