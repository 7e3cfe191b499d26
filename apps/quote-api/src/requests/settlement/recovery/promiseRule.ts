/**
 * The chain's record of one fill or refund by one fill wallet, at a final block. A chain without such records
 * has one that is always `open`, with an `endSeconds` by which whatever was signed is surely final.
 */
export type PaymentRecord = {
  /** `closed`: a closing prevents any payment. */
  readonly state: 'open' | 'paid' | 'closed'
  /** Unix seconds of the block. */
  readonly finalSeconds: number
  /** Unix seconds after which no transaction that was signed for it can be included. */
  readonly endSeconds: number
}

/** One deposit of an order that was given up. */
export type RecoveredDeposit = {
  readonly id: bigint
  readonly isFinal: boolean
  /** The hub has moved it out of the order's account, by settlement of a fill or refund, or by recovery. */
  readonly isSettled: boolean
  /** The order was filled because of this deposit. */
  readonly isBound: boolean
  /** True if a refund was made, by the solver's report. */
  readonly isRefunded: boolean
  /** Records of its refund, for every fill wallet and fill contract. */
  readonly refunds: readonly PaymentRecord[]
}

/** Facts that decide whether the promise may be signed. */
export type PromiseFacts = {
  /** All deposits of the order that are still on their chains, in any currency. */
  readonly deposits: readonly RecoveredDeposit[]
  /** True if a fill or refund is open or reported. */
  readonly hasWork: boolean
  /** Records of the order's fill, for every fill wallet and fill contract. */
  readonly fills: readonly PaymentRecord[]
}

/** Reason that a promise may not be given yet, as operators see it. */
export type Obstacle =
  | 'NO_DEPOSIT'
  /** A work item for a fill or refund has not ended. */
  | 'WORK_UNDER_WAY'
  | 'DEPOSIT_NOT_FINAL'
  /** A fill or refund was paid, and the hub has not settled it. */
  | 'PAID_OUT'
  /** A fill or refund could still be included: it is not closed, and no final block is past its end. */
  | 'MAY_BE_PAID'

/**
 * Judges whether the promise that no fill or refund will come may be signed. It frees every deposit of the
 * order, so each must either be settled or never be paid out: no fill or refund may have been paid beside an
 * unsettled deposit, and none may still become payable. A paid fill is no obstacle once the deposit that it
 * was paid for is settled. Only records tell of a paid fill: one on a chain without records is left to the
 * solver's own check (P-72). Pure.
 * @returns undefined if it may be signed
 * @source rule P-70
 */
export function promiseObstacle({ deposits, hasWork, fills }: PromiseFacts): Obstacle | undefined {
  if (hasWork) return 'WORK_UNDER_WAY'
  if (deposits.length === 0) return 'NO_DEPOSIT'
  if (deposits.some(({ isFinal }) => !isFinal)) return 'DEPOSIT_NOT_FINAL'
  const unsettled = deposits.filter(({ isSettled }) => !isSettled)
  const isFilled = fills.some(({ state }) => state === 'paid')
  const isBoundSettled = deposits.some(({ isBound, isSettled }) => isBound && isSettled)
  const isRefundPaid = unsettled.some(
    ({ isRefunded, refunds }) => isRefunded || refunds.some(({ state }) => state === 'paid'),
  )
  if ((isFilled && !isBoundSettled) || isRefundPaid) return 'PAID_OUT'
  const mayPay = ({ state, finalSeconds, endSeconds }: PaymentRecord) =>
    state === 'open' && finalSeconds <= endSeconds
  return [...fills, ...unsettled.flatMap(({ refunds }) => refunds)].some(mayPay) ? 'MAY_BE_PAID' : undefined
}

/** Facts of a request that decide whether an operator may give its order up. */
export type DecisionFacts = {
  readonly isFilled: boolean
  /** An operator gave it up before. */
  readonly isRecovered: boolean
  /** A fill, refund or sweep is open or reported. */
  readonly hasWorkUnderWay: boolean
  /** Deposits were swept with the fill wallet as depositor, so that the hub would pay that wallet. */
  readonly sweepsToFillWallet: boolean
  /** The order names a refund recipient that is no burn account. */
  readonly isRefundable: boolean
  readonly deposits: readonly {
    readonly id: bigint
    readonly state: string
    readonly reason: string | undefined
    readonly hasFailedRefund: boolean
  }[]
}

/** True if an operator may give an order up. Chains are read only later, before the promise is signed. Pure. */
export function mayRecover(facts: DecisionFacts): boolean {
  const { isRecovered, hasWorkUnderWay, sweepsToFillWallet, isRefundable, deposits } = facts
  if (isRecovered || hasWorkUnderWay) return false
  // Recovery would pay the solver, and a refund pays the user. Without a refund recipient only recovery is left.
  if (sweepsToFillWallet && isRefundable) return false
  // Oracles attest no refund in another currency. Its deposit stays unsettled on the hub, so no promise could be signed.
  if (deposits.some(({ state, reason }) => state === 'refunded' && reason === 'INCORRECT_DEPOSIT_CURRENCY'))
    return false
  return recoveredDeposits(facts).length > 0
}

/** States of deposits that an order without a fill still holds. */
const recoveredStates: ReadonlySet<string> = new Set(['seen', 'taken', 'refund_due', 'ignored'])

/** Ids of the deposits that their depositors recover: of a filled order only those whose refund failed. Pure. */
export function recoveredDeposits({ isFilled, deposits }: DecisionFacts): readonly bigint[] {
  return deposits
    .filter(({ state, hasFailedRefund }) => recoveredStates.has(state) && (!isFilled || hasFailedRefund))
    .map(({ id }) => id)
}
