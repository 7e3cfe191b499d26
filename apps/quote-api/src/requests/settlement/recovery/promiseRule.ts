/** Record of one payment by one fill wallet, at a final block. */
export type PaymentRecord = {
  readonly state: 'open' | 'paid' | 'closed'
  /** Unix seconds of the block. */
  readonly finalSeconds: number
  /** Unix seconds after which nothing that was signed for it lands any more. */
  readonly endSeconds: number
}

export type RecoveredDeposit = {
  readonly id: bigint
  readonly isFinal: boolean
  /** The hub moved it out of the order's account: its fill or its refund was settled, or it was recovered. */
  readonly isSettled: boolean
  /** The order was filled for it. */
  readonly isBound: boolean
  /** True if a refund was made, by the solver's report. */
  readonly isRefunded: boolean
  /** Records of its refund, for every fill wallet and fill contract. */
  readonly refunds: readonly PaymentRecord[]
}

export type PromiseFacts = {
  /** Every deposit of the order that still stands on its chain, whatever its currency and chain. */
  readonly deposits: readonly RecoveredDeposit[]
  /** Fills and refunds that are open or reported. */
  readonly hasWork: boolean
  /** Records of the order's fill, for every fill wallet and fill contract. */
  readonly fills: readonly PaymentRecord[]
}

/** Reason that a promise may not be given yet, as operators see it. */
export type Obstacle =
  | 'NO_DEPOSIT'
  /** A fill or a refund of the order is not at its end. */
  | 'WORK_UNDER_WAY'
  | 'DEPOSIT_NOT_FINAL'
  /** The order, or one of its deposits, was paid out, and the hub has not settled that. */
  | 'PAID_OUT'
  /** A fill or a refund is neither closed nor past its end at a final block. */
  | 'MAY_BE_PAID'

/**
 * Judges whether the order's solver may promise that it neither filled nor refunded the order. The promise
 * frees every deposit of the order, so each must be settled, or not paid out at all. Pure.
 * @returns undefined where it may
 * @source docs/specification/protocol.md P-70
 */
export function promiseObstacle({ deposits, hasWork, fills }: PromiseFacts): Obstacle | undefined {
  if (hasWork) return 'WORK_UNDER_WAY'
  if (deposits.length === 0) return 'NO_DEPOSIT'
  if (deposits.some(({ isFinal }) => !isFinal)) return 'DEPOSIT_NOT_FINAL'
  const held = deposits.filter(({ isSettled }) => !isSettled)
  const isFilled = fills.some(({ state }) => state === 'paid')
  const boundSettled = deposits.some(({ isBound, isSettled }) => isBound && isSettled)
  if (isFilled && !boundSettled) return 'PAID_OUT'
  if (held.some(({ isRefunded, refunds }) => isRefunded || refunds.some(({ state }) => state === 'paid')))
    return 'PAID_OUT'
  const mayPay = ({ state, finalSeconds, endSeconds }: PaymentRecord) =>
    state === 'open' && finalSeconds <= endSeconds
  return [...fills, ...held.flatMap(({ refunds }) => refunds)].some(mayPay) ? 'MAY_BE_PAID' : undefined
}

/** Facts of a request that an operator's decision depends on. */
export type DecisionFacts = {
  readonly isFilled: boolean
  readonly isRecovered: boolean
  readonly hasWorkUnderWay: boolean
  /** The fill wallet is the depositor of what was swept: the hub would give it the money. */
  readonly sweepsToFillWallet: boolean
  /** The order names an account for its refund that somebody holds. */
  readonly isRefundable: boolean
  readonly deposits: readonly {
    readonly id: bigint
    readonly state: string
    readonly reason: string | undefined
    readonly hasFailedRefund: boolean
  }[]
}

/** True where an operator may give an order up for recovery; chains are read later, before signing. Pure. */
export function mayRecover(facts: DecisionFacts): boolean {
  const { isFilled, isRecovered, hasWorkUnderWay, sweepsToFillWallet, isRefundable, deposits } = facts
  if (isRecovered || hasWorkUnderWay || (sweepsToFillWallet && isRefundable)) return false
  // No oracle attests a refund in another currency: the hub holds its deposit for ever.
  if (deposits.some(({ state, reason }) => state === 'refunded' && reason === 'INCORRECT_DEPOSIT_CURRENCY'))
    return false
  return deposits.some(
    ({ state, hasFailedRefund }) => recoveredStates.has(state) && (!isFilled || hasFailedRefund),
  )
}

/** States of deposits that an order without a fill still holds. */
const recoveredStates: ReadonlySet<string> = new Set(['seen', 'taken', 'refund_due', 'ignored'])

/** Ids of the deposits whose owners recover them. Pure. */
export function recoveredDeposits({ isFilled, deposits }: DecisionFacts): readonly bigint[] {
  return deposits
    .filter(({ state, hasFailedRefund }) => recoveredStates.has(state) && (!isFilled || hasFailedRefund))
    .map(({ id }) => id)
}
