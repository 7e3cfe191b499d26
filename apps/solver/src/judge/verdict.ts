import { type Hex, refundId, type UsdX18 } from '@causeway/core'

/** Value of an amount of a currency in USD with 18 decimals; undefined without a price. */
export type Valuer = (chainId: number, currency: string, amount: bigint) => UsdX18 | undefined

/**
 * Verdict on a piece of work. `pay` states its charge to the hour's budget, in micro-USD; `refuse` is reported to the
 * service; `wait` looks again, because the missing facts may come.
 */
export type Verdict =
  | { readonly kind: 'pay'; readonly lossMicroUsd: bigint }
  | { readonly kind: 'refuse'; readonly reason: string }
  | { readonly kind: 'wait'; readonly reason: string }

export const refuse = (reason: string): Verdict => ({ kind: 'refuse', reason })
export const wait = (reason: string): Verdict => ({ kind: 'wait', reason })

/** A deposit, as our own endpoints agree on it at its depth. Currency in its family's canonical spelling. */
export type SeenDeposit = {
  readonly chainId: number
  readonly chainKey: string
  /** Number of its chain in the id of its refund. */
  readonly refundChainId: number | bigint
  /** Lower case. */
  readonly transactionId: string
  /** Which of its order's equal deposits in that transaction, from 0. */
  readonly ordinal: number
  readonly orderId: string
  /** As the deposit names him; who sent it may be somebody else. */
  readonly depositor: string
  readonly currency: string
  readonly amount: bigint
  /** Sum of its order's deposits of this currency in that transaction. */
  readonly inTransaction: bigint
}

/** The id by which a fill contract, or the mark of a family, records the refund of a deposit. */
export const refundIdOf = (orderId: Hex, deposit: SeenDeposit): Hex =>
  refundId(orderId, { ...deposit, chainId: deposit.refundChainId })

/** Key of a deposit, which stays the same when a reorganization moves it. */
export const depositKey = (deposit: SeenDeposit): string =>
  `${sourceOf(deposit)}${deposit.amount}:${deposit.ordinal}`

/**
 * True if a key is of a deposit of the same transaction and currency. A hostile contract may deposit differently on two
 * branches of the chain, so payments count against all deposits of that transaction and currency.
 */
export const isOfSameSource = (key: string, deposit: SeenDeposit): boolean =>
  key.startsWith(sourceOf(deposit))

/** Deposit that a key names; undefined if the text is no key. */
export function depositOfKey(key: string): Pick<SeenDeposit, 'chainId' | 'currency' | 'amount'> | undefined {
  const [, chainId, currency, amount] = /^(\d+):[^:]*:(.+):(\d+):\d+$/.exec(key) ?? []
  if (chainId === undefined || currency === undefined || amount === undefined) return undefined
  return { chainId: Number(chainId), currency, amount: BigInt(amount) }
}

const sourceOf = ({ chainId, transactionId, currency }: SeenDeposit): string =>
  `${chainId}:${transactionId}:${currency}:`

export type LossLimits = {
  /** Part of the value that came in by which prices may have moved between a quote and its fill. */
  readonly toleranceBps: number
  /** Beyond the tolerance: the most that a fill may give away, such as fees that a sponsor pays. */
  readonly lossPerOrderMicroUsd: bigint
}

const microUsd = 10n ** 12n

/** Micro-USD, rounded up. */
export const lossOf = (paid: UsdX18, received: UsdX18): bigint =>
  paid <= received ? 0n : (paid - received + microUsd - 1n) / microUsd

/** The most that may be paid for what came in. */
export function mostPaidFor(received: UsdX18, { toleranceBps, lossPerOrderMicroUsd }: LossLimits): UsdX18 {
  return received + (received * BigInt(toleranceBps)) / 10_000n + lossPerOrderMicroUsd * microUsd
}

/** Sum of the values; undefined where one is not known. */
export function sumOfValues(values: readonly (UsdX18 | undefined)[]): UsdX18 | undefined {
  let sum = 0n
  for (const value of values) {
    if (value === undefined) return undefined
    sum += value
  }
  return sum
}
