import { bpsDenominator, maxBigint, mulDivDown } from '@causeway/core'
import { type CostedTransaction, callBytesOf } from '@causeway/families/rules'
import type { SeenDeposit } from '../judge/verdict.ts'
import type { CostBound } from '../wallet/chainDesk.ts'
import type { Relay } from '../work/relays.ts'
import type { Payment, SolverChain } from './filling.ts'

/**
 * The most that a payment's transaction may cost, with the chain's margin. A fill: what the quote charged for
 * its gas. A claim: what its recipient was charged, else what a plain refund costs now. A refund: what a
 * plain refund costs now, or what the wallet keeps of the deposit if that is more.
 * @returns undefined for a fill that an older release stored, and while nobody knows a price
 * @source rule P-50
 */
export function paymentBound(payment: Payment, deposit: SeenDeposit | undefined): CostBound | undefined {
  const { order, chain } = payment
  const isNative = order.payments[0]?.currency === chain.codec.nativeCurrency
  const callBytes = callBytesOf(order.calls)
  if (order.kind === 'fill') return boundOf({ kind: 'fill', isNative, callBytes }, order.gasCharged, chain)
  const plain: CostedTransaction = { kind: 'refund', isNative }
  if (order.kind === 'claim' && order.gasCharged !== undefined) return boundOf(plain, order.gasCharged, chain)
  const cost = chain.costOf(plain)
  const kept = cost === undefined || deposit === undefined ? 0n : keptOf(payment, deposit, cost)
  return boundOf(plain, cost === undefined ? undefined : maxBigint(cost, kept), chain)
}

/** The most that a permit may cost: what its kind of transaction costs now, with the chain's margin. */
export function relayBound(
  { costed }: Pick<Relay, 'costed'>,
  chain: Pick<SolverChain, 'costOf' | 'gasMarginBps'>,
): CostBound | undefined {
  return costed === undefined ? undefined : boundOf(costed, chain.costOf(costed), chain)
}

/** The bound that a charge gives, with the chain's margin; undefined where the charge is not known. */
function boundOf(
  transaction: CostedTransaction,
  charged: bigint | undefined,
  { gasMarginBps }: Pick<SolverChain, 'gasMarginBps'>,
): CostBound | undefined {
  if (charged === undefined) return undefined
  return { transaction, most: mulDivDown(charged, BigInt(gasMarginBps), bpsDenominator) }
}

/**
 * Part of a refund's deposit that the wallet keeps, in smallest units of the native coin of the paying chain: `cost`, an
 * amount in that coin, times the ratio of the USD values of the kept part and of `cost`. 0 without prices.
 */
function keptOf(
  { order: { payments }, chain, filling }: Payment,
  { chainId, currency, amount }: SeenDeposit,
  cost: bigint,
): bigint {
  const value = filling.valuer()
  const paidSum = payments.reduce((sum, payment) => sum + payment.amount, 0n)
  const kept = value(chainId, currency, maxBigint(0n, amount - paidSum))
  const costUsd = value(chain.chainId, chain.codec.nativeCurrency, cost)
  return kept === undefined || costUsd === undefined || costUsd === 0n ? 0n : (cost * kept) / costUsd
}
