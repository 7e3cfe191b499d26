import { DomainError, type Hex, maxBigint, minBigint } from '@causeway/core'
import { QuoteError } from '../../../pricing/errors.ts'
import { refundCost, sweepCostIn } from '../../../pricing/fees/gas.ts'
import { type DepositPricing, priceDeposit, type QuotedDeposit } from '../../../pricing/priceDeposit.ts'
import { findCurrency, type QuotableChain } from '../../../pricing/registry.ts'
import type { OtherRefund } from '../deposits/depositDecision.ts'
import type { StoredDeposit } from '../deposits/depositStore.ts'
import { refundTermsOf, type SettledRequest } from '../settledRequest.ts'
import { bookedFor } from './depositShare.ts'
import type { LatePrice } from './lateDeposit.ts'

/** Rules and prices by which late deposits are judged. */
export type LateDeposits = {
  readonly toleranceBps: number
  readonly marketWaitSeconds: number
  price(request: SettledRequest, deposit: Pick<StoredDeposit, 'amount'>): Promise<LatePrice>
}

/**
 * @param options.onFailure told of what no rule foresees; such a deposit waits like one without a market, so
 * that it keeps no other one waiting
 */
export function createLateDeposits(options: {
  readonly settings: Pick<LateDeposits, 'toleranceBps' | 'marketWaitSeconds'>
  readonly pricing: DepositPricing
  readonly now: () => number
  readonly onFailure: (requestId: Hex, error: unknown) => void
}): LateDeposits {
  const { settings, pricing, now, onFailure } = options
  return {
    ...settings,
    async price(request, deposit) {
      const nowSeconds = Math.floor(now() / 1_000)
      const { requestId, quoted } = request
      const { openRewards } = pricing
      const rewards = openRewards.boundOf({ hasKey: true, nowSeconds, without: requestId })
      // Deposits that are judged beside it must not find the same reward.
      if (quoted.reward !== undefined) openRewards.bind(requestId, quoted.reward, nowSeconds)
      try {
        const priced = await priceDeposit(pricing, quotedDeposit(request, deposit), rewards)
        return { state: 'priced', ...priced }
      } catch (error) {
        if (error instanceof QuoteError && error.kind !== 'upstream_unavailable') return { state: 'refused' }
        if (!(error instanceof DomainError)) onFailure(request.requestId, error)
        return { state: 'unknown' }
      }
    },
  }
}

/**
 * Current cost of refunding a deposit, in the deposited currency: a payment of the solver, and the transaction that
 * made the deposit if the solver sent it.
 */
export function otherRefundCost(
  { snapshot: snapshotNow }: Pick<DepositPricing, 'snapshot'>,
  chain: QuotableChain,
  address: string,
  relayedBy: SettledRequest['relayedBy'],
): OtherRefund {
  const currency = findCurrency(chain, address)
  if (currency === undefined) return { state: 'unlisted' }
  try {
    const snapshot = snapshotNow()
    const sweep = relayedBy === 'deposit_address' ? sweepCostIn(snapshot, chain, currency) : 0n
    return { state: 'priced', cost: refundCost(snapshot, chain, currency) + sweep }
  } catch (error) {
    if (error instanceof QuoteError) return { state: 'unknown' }
    throw error
  }
}

function quotedDeposit(request: SettledRequest, { amount }: Pick<StoredDeposit, 'amount'>): QuotedDeposit {
  const { quoted, originChainId, destinationChainId, relayedBy, feeBasis } = request
  const {
    operation,
    originCurrency,
    destinationCurrency,
    feeCurrency,
    topupWei,
    callUnits,
    callBytes,
    payeeUnits,
    originGasOverhead,
  } = quoted
  const { inputAmount } = refundTermsOf(request)
  return {
    originChainId,
    destinationChainId,
    originCurrency,
    destinationCurrency,
    feeCurrency,
    recipient: request.recipient,
    operation,
    topupWei,
    // Its refund costs what the order says.
    use: { callUnits, callBytes, payeeUnits, refundUnits: 0n },
    originGasOverhead,
    // The excess goes back after the fill, so it is not priced.
    amount: minBigint(amount, maxBigint(inputAmount, feeBasis)),
    appFees: quoted.appFees.map(({ recipient, feeBps }) => ({
      // CAST: the body's schema lets only 20 bytes of hex through.
      recipient: recipient as Hex,
      bps: BigInt(feeBps),
    })),
    debitMicroUsd: bookedFor(request, amount).debitMicroUsd,
    relayedBy,
  }
}
