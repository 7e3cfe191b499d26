import type { HoldOutcome, HoldRequest, ResolveOutcome } from '@causeway/core'

type ModelHold = {
  readonly request: HoldRequest
  state: 'reserved' | 'posted' | 'voided' | 'expired'
  isPinned: boolean
  isDue: boolean
  postedMicroUsd: bigint
  readonly isCounted: boolean
  readonly isUnsettled: boolean
}

export type ModelLimits = {
  readonly holdsPerUser: number
  readonly unsettledShareBps: bigint
}

/** Rules of one key as far as the model knows them. */
export type ModelPolicy = { readonly maxTotal?: bigint; readonly maxCountPerUser?: number }

/** The ledger told a second time, in maps and integers, without SQL and without any of the ledger's code. */
export class LedgerModel {
  readonly posted = new Map<string, bigint>()
  readonly frozen = new Set<string>()
  readonly holds = new Map<string, ModelHold[]>()
  readonly policies = new Map<string, ModelPolicy>()
  readonly atDeposit = new Map<string, HoldRequest>()
  readonly topUps = new Map<
    string,
    { sponsor: string; amount: bigint; state: 'seen' | 'final' | 'orphaned' }
  >()
  readonly #limits: ModelLimits

  constructor(limits: ModelLimits) {
    this.#limits = limits
  }

  /** Adds a sighting unless the same transfer is seen or final. */
  see(id: string, sponsor: string, amount: bigint): void {
    const known = this.topUps.get(id)
    if (known === undefined || known.state === 'orphaned') {
      this.topUps.set(id, { sponsor, amount, state: 'seen' })
    }
  }

  /** @returns whether it was seen and neither final nor dropped */
  settle(id: string, state: 'final' | 'orphaned'): boolean {
    const topUp = this.topUps.get(id)
    if (topUp?.state !== 'seen') return false
    topUp.state = state
    if (state === 'final') this.fund(topUp.sponsor, topUp.amount)
    return true
  }

  pending(sponsor: string): bigint {
    return [...this.topUps.values()]
      .filter((topUp) => topUp.sponsor === sponsor && topUp.state === 'seen')
      .reduce((all, { amount }) => all + amount, 0n)
  }

  fund(sponsor: string, amount: bigint): void {
    this.posted.set(sponsor, (this.posted.get(sponsor) ?? 0n) + amount)
  }

  held(sponsor: string): bigint {
    return sum(this.#open((hold) => hold.request.sponsor === sponsor))
  }

  available(sponsor: string): bigint {
    return (this.posted.get(sponsor) ?? 0n) - this.held(sponsor)
  }

  reserve(request: HoldRequest): HoldOutcome['status'] {
    const earlier = this.#newest(request.requestId)
    if (earlier !== undefined) {
      if (!sameBody(earlier.request, request)) return 'conflict'
      const lives = earlier.state === 'reserved' && (earlier.isPinned || !earlier.isDue)
      return lives ? 'already_reserved' : 'already_resolved'
    }
    if (this.atDeposit.has(request.requestId)) return 'at_deposit'
    let outcome = this.#tryReserve(request, false)
    const isSweepWorth = ['insufficient_balance', 'at_deposit', 'policy_refused'].includes(outcome)
    if (isSweepWorth && this.#sweep(request.sponsor) > 0) outcome = this.#tryReserve(request, false)
    if (outcome === 'at_deposit') this.atDeposit.set(request.requestId, request)
    return outcome
  }

  reserveAgain(requestId: string): HoldOutcome['status'] {
    const earlier = this.#newest(requestId)
    const request = earlier?.request ?? this.atDeposit.get(requestId)
    if (request === undefined) return 'unknown_hold'
    if (earlier?.state === 'reserved' && !earlier.isPinned && earlier.isDue) earlier.state = 'expired'
    if (earlier?.state === 'reserved') return 'already_reserved'
    if (earlier?.state === 'posted') return 'already_resolved'
    let outcome = this.#tryReserve(request, true)
    const isSweepWorth = ['insufficient_balance', 'policy_refused'].includes(outcome)
    if (isSweepWorth && this.#sweep(request.sponsor) > 0) outcome = this.#tryReserve(request, true)
    return outcome
  }

  pin(requestId: string): ResolveOutcome['status'] {
    const hold = this.#newest(requestId)
    const ended = endOf(hold)
    if (hold === undefined || ended !== undefined) return ended ?? 'unknown_hold'
    if (!hold.isPinned && hold.isDue) return 'expired'
    hold.isPinned = true
    hold.isDue = false
    return 'resolved'
  }

  unpin(requestId: string): ResolveOutcome['status'] {
    const hold = this.#newest(requestId)
    const ended = endOf(hold)
    if (hold === undefined || ended !== undefined) return ended ?? 'unknown_hold'
    if (hold.isPinned) hold.isDue = false
    hold.isPinned = false
    return 'resolved'
  }

  post(requestId: string, amount: bigint): ResolveOutcome['status'] {
    const hold = this.#newest(requestId)
    const ended = endOf(hold)
    if (hold === undefined || ended !== undefined) return ended ?? 'unknown_hold'
    if (!hold.isPinned && hold.isDue) return 'expired'
    if (amount > hold.request.amountMicroUsd) return 'exceeds_hold'
    hold.state = 'posted'
    hold.postedMicroUsd = amount
    this.fund(hold.request.sponsor, -amount)
    return 'resolved'
  }

  void(requestId: string): ResolveOutcome['status'] {
    const hold = this.#newest(requestId)
    const ended = endOf(hold)
    if (hold === undefined || ended !== undefined) return ended ?? 'unknown_hold'
    hold.state = 'voided'
    return 'resolved'
  }

  /** Time passes: a hold reaches its expiry, a pinned one its pin's. */
  letPass(requestId: string): void {
    const hold = this.#newest(requestId)
    if (hold?.state === 'reserved') hold.isDue = true
  }

  sweep(): number {
    return [...this.posted.keys()].reduce((count, sponsor) => count + this.#sweep(sponsor), 0)
  }

  #sweep(sponsor: string): number {
    const due = this.#open((hold) => hold.isDue && hold.request.sponsor === sponsor)
    for (const hold of due) hold.state = 'expired'
    return due.length
  }

  #tryReserve(request: HoldRequest, isPinned: boolean): HoldOutcome['status'] {
    const replaced = isPinned ? [] : this.#open((hold) => !hold.isPinned && isRequote(hold.request, request))
    for (const hold of replaced) hold.state = 'voided'
    const outcome = this.#judge(request, isPinned)
    if (outcome !== 'reserved') {
      for (const hold of replaced) hold.state = 'reserved'
      return outcome
    }
    const attempts = this.holds.get(request.requestId) ?? []
    const isCounted = this.policies.has(request.apiKeyId)
    const isUnsettled = !this.#hasSettled(request)
    const started = { state: 'reserved', isPinned, isDue: false, postedMicroUsd: 0n } as const
    attempts.push({ request, ...started, isCounted, isUnsettled })
    this.holds.set(request.requestId, attempts)
    return outcome
  }

  #judge(request: HoldRequest, isPinned: boolean): HoldOutcome['status'] {
    const { sponsor, amountMicroUsd: amount } = request
    const users = [request.user, request.recipient]
    if (this.frozen.has(sponsor)) return 'sponsor_frozen'
    const policy = this.policies.get(request.apiKeyId)
    const counted = this.#all().filter(
      (hold) => hold.isCounted && hold.request.apiKeyId === request.apiKeyId && isUse(hold),
    )
    if (policy?.maxTotal !== undefined && usage(counted) + amount > policy.maxTotal) return 'policy_refused'
    const { maxCountPerUser } = policy ?? {}
    if (maxCountPerUser !== undefined) {
      if (users.some((user) => counted.filter(involves(user)).length >= maxCountPerUser))
        return 'policy_refused'
    }
    if (this.available(sponsor) < amount) return 'insufficient_balance'
    if (isPinned) return 'reserved'
    const open = this.#open((hold) => !hold.isPinned && hold.request.sponsor === sponsor)
    const openThere = open.filter((hold) => hold.request.destinationChainId === request.destinationChainId)
    const balance = this.posted.get(sponsor) ?? 0n
    const { holdsPerUser, unsettledShareBps } = this.#limits
    for (const user of users) {
      if (openThere.filter(involves(user)).length >= holdsPerUser) return 'at_deposit'
    }
    if (this.#hasSettled(request)) return 'reserved'
    const used = sum(open.filter(({ isUnsettled }) => isUnsettled))
    return used === 0n || (used + amount) * 10_000n <= balance * unsettledShareBps ? 'reserved' : 'at_deposit'
  }

  #hasSettled({ sponsor, user }: HoldRequest): boolean {
    return this.#all().some(
      ({ request, state }) => state === 'posted' && request.sponsor === sponsor && request.user === user,
    )
  }

  #newest(requestId: string): ModelHold | undefined {
    return this.holds.get(requestId)?.at(-1)
  }

  #all(): ModelHold[] {
    return [...this.holds.values()].flat()
  }

  #open(matches: (hold: ModelHold) => boolean): ModelHold[] {
    return this.#all().filter((hold) => hold.state === 'reserved' && matches(hold))
  }
}

function endOf(hold: ModelHold | undefined): ResolveOutcome['status'] | undefined {
  if (hold === undefined) return 'unknown_hold'
  if (hold.state === 'posted') return 'already_posted'
  if (hold.state === 'voided') return 'already_voided'
  return hold.state === 'expired' ? 'expired' : undefined
}

const sum = (holds: readonly ModelHold[]) =>
  holds.reduce((all, { request }) => all + request.amountMicroUsd, 0n)
const isUse = ({ state }: ModelHold) => state === 'reserved' || state === 'posted'
const usage = (holds: readonly ModelHold[]) =>
  holds.reduce(
    (all, { state, request, postedMicroUsd }) =>
      all + (state === 'posted' ? postedMicroUsd : request.amountMicroUsd),
    0n,
  )
const involves =
  (user: string) =>
  ({ request }: ModelHold) =>
    request.user === user || request.recipient === user

function isRequote(earlier: HoldRequest, request: HoldRequest): boolean {
  return (
    earlier.sponsor === request.sponsor &&
    earlier.apiKeyId === request.apiKeyId &&
    earlier.requoteKey === request.requoteKey
  )
}

function sameBody(a: HoldRequest, b: HoldRequest): boolean {
  return (
    a.sponsor === b.sponsor &&
    a.apiKeyId === b.apiKeyId &&
    a.user === b.user &&
    a.recipient === b.recipient &&
    a.amountMicroUsd === b.amountMicroUsd &&
    a.requoteKey === b.requoteKey
  )
}
