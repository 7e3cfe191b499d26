import { bpsDown, type HoldRequest, maxBigint } from '@causeway/core'
import { checkPolicy, usersOf } from '../policies/checkPolicy.ts'
import { type RuleCheck, withinLimit } from '../policies/ruleCheck.ts'
import type { HoldCaps } from './holdCaps.ts'
import { type HoldFacts, type OpenHold, openKey, usageKey } from './holdFacts.ts'

/** What a hold adds to the sums that rules look at. */
type Weight = Omit<OpenHold, 'id' | 'requoteKey'> & Pick<HoldRequest, 'destinationChainId'>

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
  const openByKey = new Map(facts.openByKey)
  const openByUser = new Map(facts.openByUser)
  const usage = new Map(facts.usage)
  let { unsettledMicroUsd } = facts
  let heldMicroUsd = account?.heldMicroUsd ?? 0n
  const postedMicroUsd = account?.postedMicroUsd ?? 0n

  function shift(weight: Weight, sign: 1 | -1): void {
    const amountMicroUsd = BigInt(sign) * weight.amountMicroUsd
    heldMicroUsd += amountMicroUsd
    if (weight.isUnsettled) unsettledMicroUsd += amountMicroUsd
    count(openByKey, openKey(weight.apiKeyId, weight), sign)
    for (const user of usersOf(weight)) count(openByUser, openKey(user, weight), sign)
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
    const open = usersOf(request).map((user) => openByUser.get(openKey(user, request)) ?? 0)
    const cap = (rule: string, sums: { limit: bigint; used: bigint; requested: bigint }) =>
      withinLimit('cap', rule, sums)
    return [
      cap('HOLDS_PER_USER', {
        limit: BigInt(caps.holdsPerUser),
        used: BigInt(Math.max(...open)),
        requested: 1n,
      }),
      cap('HOLDS_PER_KEY', {
        limit: BigInt(caps.holdsPerKey),
        used: BigInt(openByKey.get(openKey(request.apiKeyId, request)) ?? 0),
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

const noUsage = { usedMicroUsd: 0n, count: 0n }

function count(counts: Map<string, number>, key: string, change: 1 | -1): void {
  counts.set(key, (counts.get(key) ?? 0) + change)
}
