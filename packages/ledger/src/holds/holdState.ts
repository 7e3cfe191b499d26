import { bpsDown, type HoldRequest, maxBigint } from '@causeway/core'
import { checkPolicy, usersOf } from '../policies/checkPolicy.ts'
import { type RuleCheck, withinLimit } from '../policies/ruleCheck.ts'
import type { HoldCaps } from './holdCaps.ts'
import { type HoldFacts, openKey, type RequotableHold, usageKey } from './holdFacts.ts'

/** Members of a hold that change the sums which rules check. */
type Weight = Omit<RequotableHold, 'id' | 'requoteKey'> & Pick<HoldRequest, 'destinationChainId'>

/**
 * The sums of one sponsor while a batch of requests is decided, and the rules over them. `decideHolds` adds each
 * approved hold, so that it counts for the next request.
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
   * Checks every rule about one request, given all that was added so far. The order decides which refusal is reported:
   * halt, frozen sponsor, policy, balance, caps.
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
    const amountMicroUsd = BigInt(sign) * weight.amountMicroUsd
    this.#heldMicroUsd += amountMicroUsd
    if (weight.isUnsettled) this.#unsettledMicroUsd += amountMicroUsd
    count(this.#openByKey, openKey(weight.apiKeyId, weight), sign)
    for (const user of usersOf(weight)) count(this.#openByUser, openKey(user, weight), sign)
    if (!weight.isCounted) return
    const windows = weight.isToday ? (['lifetime', '24h'] as const) : (['lifetime'] as const)
    for (const window of windows) {
      for (const subject of ['', ...usersOf(weight)]) {
        const key = usageKey(weight.apiKeyId, window, subject)
        const { usedMicroUsd, count } = this.#usage.get(key) ?? noUsage
        this.#usage.set(key, { usedMicroUsd: usedMicroUsd + amountMicroUsd, count: count + BigInt(sign) })
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
    const open = usersOf(request).map((user) => this.#openByUser.get(openKey(user, request)) ?? 0)
    return [
      withinLimit('cap', 'HOLDS_PER_USER', {
        limit: BigInt(this.#caps.holdsPerUser),
        used: BigInt(Math.max(...open)),
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

  /** If no such hold is open, the request passes whatever its share, so that a small balance can be used too. */
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

const noUsage = { usedMicroUsd: 0n, count: 0n }

function count(counts: Map<string, number>, key: string, change: 1 | -1): void {
  counts.set(key, (counts.get(key) ?? 0) + change)
}
