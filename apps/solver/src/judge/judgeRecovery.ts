import type { Hex } from '@causeway/core'
import type { OtherRecord } from './turns.ts'
import type { SeenDeposit } from './verdict.ts'

/** Record of one payment by one fill wallet at a final block, by a fill contract or the family's own mark. */
export type PaymentMark = OtherRecord & {
  /** Id of the order, or of the refund of its deposit. */
  readonly id: Hex
  /** True for this solver's own fill wallet. */
  readonly isOwn: boolean
  /** Unix seconds after which the chain refuses what was signed; undefined where only a closing ends it. */
  readonly endSeconds: number | undefined
}

export type SignedPayment = {
  readonly kind: string
  readonly outcome: 'open' | 'done' | 'reverted' | 'cancelled' | 'lost'
  /** The hub moved the deposit that it was paid for to the solver. */
  readonly isSettled: boolean
}

export type RecoveryFacts = {
  readonly orderId: string
  /** Undefined while the deposit is not final, or where it does not exist. */
  readonly deposit: Pick<SeenDeposit, 'orderId' | 'depositor'> | undefined
  /** Fill wallet on the deposit's chain. */
  readonly fillWallet: string
  /** The order names an account for its refund that somebody holds. */
  readonly isRefundable: boolean
  /** Every payment that this wallet ever signed for the order. */
  readonly signed: readonly SignedPayment[]
  /** Records of the order's fill and of the deposit's refund, each for every fill wallet. */
  readonly marks: readonly PaymentMark[]
}

/** `enter`: the promise is written to the hub, and the deposit is free for its owner. */
type JudgedRecovery =
  | { readonly kind: 'refuse' | 'wait'; readonly reason: string }
  /** These ids of the own wallet have to be closed first. */
  | { readonly kind: 'close'; readonly ids: readonly Hex[] }
  | { readonly kind: 'enter' }

/**
 * Judges whether the promise of an order may become an entry of the hub: payments for the order are settled
 * there, nothing was paid for the deposit, and nothing can be any more. Pure.
 * @source rule P-72
 */
export function judgeRecovery(facts: RecoveryFacts): JudgedRecovery {
  const { orderId, deposit, fillWallet, isRefundable, signed, marks } = facts
  const isFillSettled = signed.some(({ kind, isSettled }) => kind === 'fill' && isSettled)
  // The mark of a fill that the hub has settled is no obstacle. That of a refund always is: it gave this very
  // deposit back.
  const isPaidOut =
    signed.some(({ outcome, isSettled }) => outcome === 'done' && !isSettled) ||
    marks.some(({ id, state }) => state === 'paid' && !(id === orderId && isFillSettled))
  if (isPaidOut)
    return {
      kind: 'refuse',
      reason: 'the order or its deposit was paid out, and the hub has not settled that',
    }
  if (deposit === undefined) return { kind: 'wait', reason: 'the deposit is not deep enough' }
  if (deposit.orderId !== orderId) return { kind: 'refuse', reason: 'the deposit is of another order' }
  if (deposit.depositor === fillWallet && isRefundable)
    return { kind: 'refuse', reason: 'the fill wallet made the deposit: a refund gives it back' }
  // Ids that somebody may still pay: not marked, and not past the time after which the chain refuses a payment.
  const open = marks.filter(
    ({ state, endSeconds, timestampSeconds }) =>
      state === 'open' && !(endSeconds !== undefined && timestampSeconds > endSeconds),
  )
  const ownMarks = open.filter(({ isOwn }) => isOwn)
  if (ownMarks.length > 0) return { kind: 'close', ids: ownMarks.map(({ id }) => id) }
  if (signed.some(({ outcome }) => outcome === 'open'))
    return { kind: 'wait', reason: 'what was signed for the order is not at its end' }
  if (open.length > 0) return { kind: 'wait', reason: 'another fill wallet may still pay' }
  return { kind: 'enter' }
}
