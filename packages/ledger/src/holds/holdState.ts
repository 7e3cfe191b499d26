import { bpsDown, type HoldRequest, maxBigint } from '@causeway/core'
import { checkPolicy, usersOf } from '../policies/checkPolicy.ts'
import { type RuleCheck, withinLimit } from '../policies/ruleCheck.ts'
import type { HoldCaps } from './holdCaps.ts'
import { type HoldFacts, openKey, type RequotableHold, usageKey } from './holdFacts.ts'

/**
 * Members of a hold by which it counts in the sums. `isUnsettled`: in the sum of users without a settled
 * request. `isCounted`: in the usage of its key's policy, with `isToday` in that of the last day (UTC) too.
 */
type Weight = Omit<RequotableHold, 'id' | 'requoteKey'> & Pick<HoldRequest, 'destinationChainId'>

/**
 * The sums of one sponsor's holds and usage while a batch of requests is decided, and the rules that limit
 * them. They begin as the database has them. `decideHolds` adds each approved hold, so that it counts for the
 * next request.
 * @source rules L-1, L-45, L-47
 */
export class HoldState {
  readonly #facts: HoldFacts
  readonly #caps: HoldCaps
  readonly #openByKey: Map<string, number>
  readonly #openByUser: Map<string, number>
  readonly #usage: Map<string, typeof noUsage>
  #unsettledMicroUsd: bigint
  #heldMicroUsd: bigint

  constructor(facts: HoldFacts, caps: HoldCaps) {
    this.#facts = facts
    this.#caps = caps
    this.#openByKey = new Map(facts.openByKey)
    this.#openByUser = new Map(facts.openByUser)
    this.#usage = new Map(facts.usage)
    this.#unsettledMicroUsd = facts.unsettledMicroUsd
    this.#heldMicroUsd = facts.account?.heldMicroUsd ?? 0n
  }

  /**
   * Checks every rule about one request, which is not added yet. The first check that fails names the
   * refusal, so the order matters: halt, frozen sponsor, policy, balance, caps. A halt is reported as a
   * refusal by policy. Without an account the balance is zero, which refuses every request.
   */
  checks(request: HoldRequest, { isPinned }: { isPinned: boolean }): readonly RuleCheck[] {
    const { isHalted, account } = this.#facts
    return [
      { kind: 'policy', rule: 'LEDGER_HALTED', passed: !isHalted },
      { kind: 'sponsor', rule: 'NOT_FROZEN', passed: account?.isFrozen !== true },
      ...this.#policyChecks(request),
      withinLimit('balance', 'AVAILABLE', {
        limit: account?.postedMicroUsd ?? 0n,
        used: this.#heldMicroUsd,
        requested: request.amountMicroUsd,
      }),
      ...(isPinned ? [] : this.#capChecks(request)),
    ]
  }

  add(weight: Weight): void {
    this.#shift(weight, 1)
  }

  remove(weight: Weight): void {
    this.#shift(weight, -1)
  }

  #shift(weight: Weight, sign: 1 | -1): void {
    const change = BigInt(sign) * weight.amountMicroUsd
    this.#heldMicroUsd += change
    // The three sums that follow are of unpinned holds. In a pinned batch nothing checks them, so adding to
    // them does no harm.
    if (weight.isUnsettled) this.#unsettledMicroUsd += change
    addTo(this.#openByKey, openKey(weight.apiKeyId, weight), sign)
    for (const user of usersOf(weight)) addTo(this.#openByUser, openKey(user, weight), sign)
    // A hold of a key without a policy has no usage.
    if (!weight.isCounted) return
    const windows = weight.isToday ? (['lifetime', '24h'] as const) : (['lifetime'] as const)
    for (const window of windows) {
      for (const subject of [allUsers, ...usersOf(weight)]) {
        const key = usageKey(weight.apiKeyId, window, subject)
        const { usedMicroUsd, count } = this.#usage.get(key) ?? noUsage
        this.#usage.set(key, { usedMicroUsd: usedMicroUsd + change, count: count + BigInt(sign) })
      }
    }
  }

  #policyChecks(request: HoldRequest): readonly RuleCheck[] {
    const policy = this.#facts.policies.get(request.apiKeyId)
    if (policy === undefined) return []
    return checkPolicy(policy.rules, request, {
      at: new Date(this.#facts.at),
      usageOf: (subject, window) => this.#usage.get(usageKey(request.apiKeyId, window, subject)) ?? noUsage,
    })
  }

  #capChecks(request: HoldRequest): readonly RuleCheck[] {
    const openHolds = usersOf(request).map((user) => this.#openByUser.get(openKey(user, request)) ?? 0)
    return [
      withinLimit('cap', 'HOLDS_PER_USER', {
        limit: BigInt(this.#caps.holdsPerUser),
        used: BigInt(Math.max(...openHolds)),
        requested: 1n,
      }),
      withinLimit('cap', 'HOLDS_PER_KEY', {
        limit: BigInt(this.#caps.holdsPerKey),
        used: BigInt(this.#openByKey.get(openKey(request.apiKeyId, request)) ?? 0),
        requested: 1n,
      }),
      ...(this.#facts.settledUsers.has(request.user) ? [] : [this.#unsettledCheck(request)]),
    ]
  }

  /**
   * Limits what unpinned holds of users without a settled request take together: to a share of the posted
   * balance, by the key's policy or else by the caps. The first of them passes whatever its share, so that a
   * small balance can be used too.
   */
  #unsettledCheck({ apiKeyId, amountMicroUsd: requested }: HoldRequest): RuleCheck {
    const { account, policies } = this.#facts
    const shareBps = policies.get(apiKeyId)?.rules.unsettledShareBps
    const capBps = shareBps === undefined ? this.#caps.unsettledShareBps : BigInt(shareBps)
    const share = bpsDown(account?.postedMicroUsd ?? 0n, capBps)
    const used = this.#unsettledMicroUsd
    const limit = used === 0n ? maxBigint(share, requested) : share
    return withinLimit('cap', 'UNSETTLED_SHARE', { limit, used, requested })
  }
}

/** Subject of the usage of all users together. */
const allUsers = ''
const noUsage = { usedMicroUsd: 0n, count: 0n }

function addTo(counts: Map<string, number>, key: string, change: 1 | -1): void {
  counts.set(key, (counts.get(key) ?? 0) + change)
}
