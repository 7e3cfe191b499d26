import type { FillState } from './judgeRefund.ts'

/** A fill of the order that this solver signed, with the outcome of its record. */
export type SignedFill = {
  readonly outcome: 'open' | 'done' | 'reverted' | 'cancelled' | 'lost'
  readonly chainId: number
  readonly payments: readonly { readonly currency: string; readonly amount: bigint }[]
  /** Keys of the deposits that it was signed for. */
  readonly deposits: readonly string[]
}

export type DestinationFacts = {
  /** State of the order, as the chain has it at a final block. */
  readonly recorded: 'open' | 'paid' | 'closed'
  /** Unix seconds of that block. */
  readonly finalSeconds: number
}

/**
 * State of an order's fill by this wallet. What the chain records for the order decides; the signed fills only tell
 * which deposit paid for it.
 * @param deadlineSeconds after which the chain refuses the signed fills; undefined on chains that do not
 */
export function fillStateOf(
  fills: readonly SignedFill[],
  deadlineSeconds: number | undefined,
  { recorded, finalSeconds }: DestinationFacts,
): FillState {
  const done = fills.find(({ outcome }) => outcome === 'done')
  const isUnderWay = fills.some(({ outcome }) => outcome === 'open')
  const filled: FillState =
    done === undefined
      ? { kind: 'filled_unknown' }
      : { kind: 'filled', chainId: done.chainId, payments: done.payments, deposits: done.deposits }
  switch (recorded) {
    case 'paid':
      // Until one of the signed fills is final, nobody knows which was mined, and so which deposit paid.
      return isUnderWay && done === undefined ? { kind: 'open' } : filled
    case 'closed':
      return { kind: 'over' }
    case 'open':
      return deadlineSeconds !== undefined && finalSeconds > deadlineSeconds
        ? { kind: 'over' }
        : { kind: 'open' }
  }
}
