import type { FillState } from './judgeRefund.ts'

/** What was signed for an order, and what became of it. */
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
 * Whether an order can still be filled by this wallet: what the contract records decides, and what was signed tells
 * for which deposit.
 * @param deadlineSeconds after which the chain refuses what was signed; undefined on chains that do not
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
