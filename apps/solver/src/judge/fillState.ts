import type { FillState } from './judgeRefund.ts'

/** Signed fill of an order, with its outcome. */
export type SignedFill = {
  readonly outcome: 'open' | 'done' | 'reverted' | 'cancelled' | 'lost'
  readonly chainId: number
  readonly payments: readonly { readonly currency: string; readonly amount: bigint }[]
  readonly deposits: readonly string[]
}

export type DestinationFacts = {
  /** State of the order, as the chain has it at a final block. */
  readonly recorded: 'open' | 'paid' | 'closed'
  /** Unix seconds of that block. */
  readonly finalSeconds: number
}

/**
 * State of an order's fill by this wallet. The contract's record decides; the signed fills tell for which deposit it
 * was.
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
      return isUnderWay && done === undefined ? { kind: 'open' } : filled
    case 'closed':
      return { kind: 'over' }
    case 'open':
      return deadlineSeconds !== undefined && finalSeconds > deadlineSeconds
        ? { kind: 'over' }
        : { kind: 'open' }
  }
}
