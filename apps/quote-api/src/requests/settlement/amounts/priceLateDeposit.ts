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

/** Settings and prices by which `lateStep` decides on late deposits. */
export type LateDeposits = {
  /** Basis points by which current prices may give less than the quoted output. */
  readonly toleranceBps: number
  /** Time for which a deposit waits for missing market data. */
  readonly marketWaitSeconds: number
  /** Prices a deposit by current prices; never throws. */
  price(request: SettledRequest, deposit: Pick<StoredDeposit, 'amount'>): Promise<LatePrice>
}

/**
 * @param options.onFailure told of unexpected errors; such a deposit waits as if market data were missing, so that it does
 * not stop others
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
      // The lower limit of callers without a key is for quotes; this is a paid order. Its own reward,
      // which it may earn again, is not counted as taken.
      const rewards = openRewards.limitOf({ hasKey: true, nowSeconds, without: requestId })
      // Counts the reward as taken, so that deposits that are priced at the same time do not get it too.
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
 * Current cost of refunding a deposit in a currency that its order does not name: the refund's payment, and the sweep if the
 * solver made the deposit. In smallest units of that currency.
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

/** The deposit as the input of pricing, with everything else as it was quoted. */
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
  // The order's input is its least deposit; the quoted input is larger if a swap before it may slip.
  const quotedInput = maxBigint(refundTermsOf(request).inputAmount, feeBasis)
  return {
    originChainId,
    destinationChainId,
    originCurrency,
    destinationCurrency,
    feeCurrency,
    recipient: request.recipient,
    operation,
    topupWei,
    // The cost of a refund is fixed by the order, so it is not priced again.
    use: { callUnits, callBytes, payeeUnits, refundUnits: 0n },
    originGasOverhead,
    // The excess over the quoted input is refunded after the fill, so it is not priced.
    amount: minBigint(amount, quotedInput),
    appFees: quoted.appFees.map(({ recipient, feeBps }) => ({
      // CAST: the body's schema lets only 20 bytes of hex through.
      recipient: recipient as Hex,
      bps: BigInt(feeBps),
    })),
    debitMicroUsd: bookedFor(request, amount).debitMicroUsd,
    relayedBy,
  }
}
