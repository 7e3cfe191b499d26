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

/**
 * A deposit as the solver's own endpoints agree on it, once it is deep enough. The currency has its family's canonical
 * spelling.
 */
export type SeenDeposit = {
  /** Number of its chain in the quote file. */
  readonly chainId: number
  /** Name of its chain, as orders spell it. */
  readonly chainKey: string
  /** Number that stands for its chain in the id of its refund; equal to `chainId` on EVM chains. */
  readonly refundChainId: number | bigint
  /** Lower case. */
  readonly transactionId: string
  /** Number among its order's equal deposits in that transaction, from 0. */
  readonly ordinal: number
  readonly orderId: string
  /** Account that the deposit names; another one may have sent it. */
  readonly depositor: string
  readonly currency: string
  readonly amount: bigint
  /** Sum of its order's deposits of this currency in that transaction. */
  readonly inTransaction: bigint
}

/** The id by which a fill contract, or the mark of a family, records the refund of a deposit. */
export const refundIdOf = (orderId: Hex, deposit: SeenDeposit): Hex =>
  refundId(orderId, { ...deposit, chainId: deposit.refundChainId })

/** Key of a deposit in the solver's records: `chainId:transactionId:currency:amount:ordinal`. A reorganization keeps it. */
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

/** Beginning of `depositKey`, equal for all deposits of one transaction and currency. */
const sourceOf = ({ chainId, transactionId, currency }: SeenDeposit): string =>
  `${chainId}:${transactionId}:${currency}:`

export type LossLimits = {
  /** Share of the received value that a fill may lose because prices moved since the quote. */
  readonly toleranceBps: number
  /** The most that a fill may lose beyond the tolerance, such as fees that a sponsor pays. */
  readonly lossPerOrderMicroUsd: bigint
}

/** One micro-USD, in USD with 18 decimals. */
export const microUsdX18 = 10n ** 12n

/** Loss of a payment in micro-USD, rounded up; 0 for a gain. */
export const lossOf = (paid: UsdX18, received: UsdX18): bigint =>
  paid <= received ? 0n : (paid - received + microUsdX18 - 1n) / microUsdX18

/** The most that may be paid for what came in. */
export function mostPaidFor(received: UsdX18, { toleranceBps, lossPerOrderMicroUsd }: LossLimits): UsdX18 {
  return received + (received * BigInt(toleranceBps)) / 10_000n + lossPerOrderMicroUsd * microUsdX18
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
