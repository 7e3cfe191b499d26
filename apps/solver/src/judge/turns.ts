import type { Hex } from '@causeway/core'

/**
 * Fill wallets that share a market, in one order at all of their solvers. The fill contract pays an id once per
 * wallet; that two wallets never both pay it stands on turns, which no service gives and none can give twice.
 */
export type Sharing = {
  /** Lower case, without repetition; the own one is among them. */
  readonly fillWallets: readonly Hex[]
  readonly own: Hex
  /** Longer than a chain needs to make a block final. */
  readonly turnSeconds: number
}

/** While it lasts, one wallet alone may sign for an id. Unix seconds. */
export type Turn = {
  /** The deadline of what is signed: the contract refuses it in any later block. */
  readonly endSeconds: number
  /** When the turn before ended: a final block must be later, and show that nobody else has paid. First turns have none. */
  readonly afterSeconds: number | undefined
}

/**
 * The own turn to fill an order. One wallet, which its id chooses, has all the time but the last turns; each other
 * wallet has one of those, in the order of the list.
 */
export function fillTurn(orderId: Hex, deadlineSeconds: number, sharing: Sharing): Turn {
  const { fillWallets, own, turnSeconds } = sharing
  const place = placeOf(own, orderId, fillWallets)
  const endSeconds = deadlineSeconds - (fillWallets.length - 1 - place) * turnSeconds
  return { endSeconds, afterSeconds: place === 0 ? undefined : endSeconds - turnSeconds }
}

/**
 * The own turn to give a deposit back, where it is the own one at `nowSeconds`. The wallet that its id chooses has
 * until a turn after the order's deadline; then the others follow, again and again.
 */
export function refundTurn(
  refund: { readonly id: Hex; readonly orderDeadlineSeconds: number },
  nowSeconds: number,
  sharing: Sharing,
): Turn | undefined {
  const { fillWallets, own, turnSeconds } = sharing
  const number = Math.max(0, Math.ceil((nowSeconds - refund.orderDeadlineSeconds) / turnSeconds) - 1)
  if (number % fillWallets.length !== placeOf(own, refund.id, fillWallets)) return undefined
  const endSeconds = refund.orderDeadlineSeconds + (number + 1) * turnSeconds
  return { endSeconds, afterSeconds: number === 0 ? undefined : endSeconds - turnSeconds }
}

/** A claim has no deadline of its own that could be trusted: the wallet that its id chooses pays it, or nobody. */
export const isOwnClaim = (claimId: Hex, { fillWallets, own }: Sharing): boolean =>
  placeOf(own, claimId, fillWallets) === 0

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

/** Fill state by other wallets: filled, still possible, or over. */
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
function placeOf(own: Hex, id: Hex, fillWallets: readonly Hex[]): number {
  const first = Number(BigInt(id) % BigInt(fillWallets.length))
  return (fillWallets.indexOf(own) - first + fillWallets.length) % fillWallets.length
}
