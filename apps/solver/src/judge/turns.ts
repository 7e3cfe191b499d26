import type { Hex } from '@causeway/core'

/**
 * Fill wallets that share a market, listed in the same order at all of their solvers. The fill contract pays an id once
 * per wallet. Turns keep two wallets from both paying it: each solver computes them alone, so no service can give one
 * turn to two wallets.
 */
export type Sharing = {
  /** Lower case, without repetition; the own one is among them. */
  readonly fillWallets: readonly Hex[]
  readonly own: Hex
  /** Longer than a chain needs to make a block final. */
  readonly turnSeconds: number
}

/** A time, in Unix seconds, in which one wallet alone may sign for an id. */
export type Turn = {
  /** The deadline of what is signed: the contract refuses it in any later block. */
  readonly endSeconds: number
  /**
   * End of the turn before. This turn begins once a final block is later and shows that nobody else has paid.
   * Undefined for the first turn.
   */
  readonly afterSeconds: number | undefined
}

/**
 * This wallet's turn to fill an order. The order id chooses the first wallet, whose turn lasts until the other wallets'
 * turns begin; each of these is `turnSeconds` long, they follow in the order of the list, and the last ends at the
 * deadline.
 */
export function fillTurn(orderId: Hex, deadlineSeconds: number, sharing: Sharing): Turn {
  const { fillWallets, own, turnSeconds } = sharing
  const index = turnIndexOf(own, orderId, fillWallets)
  const endSeconds = deadlineSeconds - (fillWallets.length - 1 - index) * turnSeconds
  return { endSeconds, afterSeconds: index === 0 ? undefined : endSeconds - turnSeconds }
}

/**
 * This wallet's turn to give a deposit back. The refund's id chooses the first wallet, whose turn ends `turnSeconds`
 * after the order's deadline; then the wallets follow one another in the list's order, without end.
 * @returns undefined while it is another wallet's turn at `nowSeconds`
 */
export function refundTurn(
  refund: { readonly id: Hex; readonly orderDeadlineSeconds: number },
  nowSeconds: number,
  sharing: Sharing,
): Turn | undefined {
  const { fillWallets, own, turnSeconds } = sharing
  const turnNumber = Math.max(0, Math.ceil((nowSeconds - refund.orderDeadlineSeconds) / turnSeconds) - 1)
  if (turnNumber % fillWallets.length !== turnIndexOf(own, refund.id, fillWallets)) return undefined
  const endSeconds = refund.orderDeadlineSeconds + (turnNumber + 1) * turnSeconds
  return { endSeconds, afterSeconds: turnNumber === 0 ? undefined : endSeconds - turnSeconds }
}

/** A claim has no trusted deadline, so it has no turns: only the wallet that its id chooses pays it. */
export const isOwnClaim = (claimId: Hex, { fillWallets, own }: Sharing): boolean =>
  turnIndexOf(own, claimId, fillWallets) === 0

/** Another wallet's record of an id at a final block. */
export type OtherRecord = {
  readonly state: 'open' | 'paid' | 'closed'
  readonly timestampSeconds: number
}

/** Reason that a turn has not begun yet: another wallet has paid, or its signed transactions may still land. */
export function refuseTurn({ afterSeconds }: Turn, others: readonly OtherRecord[]): string | undefined {
  if (afterSeconds === undefined) return undefined
  if (others.some(({ state }) => state === 'paid')) return 'another fill wallet has paid it'
  return others.every(({ state, timestampSeconds }) => state === 'closed' || timestampSeconds > afterSeconds)
    ? undefined
    : 'what another fill wallet signed may still land'
}

/** `filled`: another wallet has filled the order; `open`: one still may; `over`: none can any more. */
export function othersFill(
  order: { readonly id: Hex; readonly deadlineSeconds: number },
  others: readonly (OtherRecord & { readonly fillWallet: Hex })[],
  sharing: Sharing,
): 'filled' | 'open' | 'over' {
  if (others.some(({ state }) => state === 'paid')) return 'filled'
  const isOver = others.every(({ fillWallet, state, timestampSeconds }) => {
    const { endSeconds } = fillTurn(order.id, order.deadlineSeconds, { ...sharing, own: fillWallet })
    return state === 'closed' || timestampSeconds > endSeconds
  })
  return isOver ? 'over' : 'open'
}

/** Number of wallets whose turn comes before this one's. */
function turnIndexOf(own: Hex, id: Hex, fillWallets: readonly Hex[]): number {
  const first = Number(BigInt(id) % BigInt(fillWallets.length))
  return (fillWallets.indexOf(own) - first + fillWallets.length) % fillWallets.length
}
