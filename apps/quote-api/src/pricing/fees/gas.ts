import { bpsUp, convertUp } from '@causeway/core'
import {
  type CostedTransaction,
  type DearerState,
  gasUnits,
  type NetworkFees,
  stateAsCounted,
  unitsOn,
} from '@causeway/families/rules'
import type { MarketSnapshot } from '@causeway/market'
import { requireChain, requirePrice } from '../market/marketAccess.ts'
import type { QuotableChain, QuotableCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import { permitKindOf } from '../routes/permit.ts'
import type { Route } from '../routes/route.ts'

/**
 * Current network fees of a chain, in the terms of its family.
 * @throws QuoteError SERVICE_UNAVAILABLE, GAS_PRICE_TOO_HIGH
 */
export function networkFees(
  snapshot: MarketSnapshot,
  { chainId }: Pick<QuotableChain, 'chainId'>,
): NetworkFees {
  return requireChain(snapshot, chainId).fees
}

/** Price of a cost: its expectation raised by the chain's markup, rounded up. */
export function applyMarkup(expected: bigint, markupBps: number): bigint {
  return expected + bpsUp(expected, BigInt(markupBps))
}

/**
 * True if the solver submits the signed calls of the user's account, for `POST /execute`. A request asks for
 * that by an `originGasOverhead` above 0; permits and deposit addresses come first.
 */
export function isExecuted({
  usePermit,
  useDepositAddress,
  originGasOverhead = 0n,
}: Pick<QuoteRequest, 'usePermit' | 'useDepositAddress' | 'originGasOverhead'>): boolean {
  return originGasOverhead > 0n && !usePermit && !useDepositAddress
}

/**
 * The most gas that submitted calls of the user may use for what was charged.
 * @param dearer gas of new state on chains where it is dearer; absent: as the charge counts it
 */
export function executionUnits(
  { asset }: Pick<QuotableCurrency, 'asset'>,
  { originGasOverhead }: { readonly originGasOverhead: bigint },
  dearer: DearerState = stateAsCounted,
): bigint {
  // The solver takes currencies of assets that it keeps inventory of; others are swapped on the way to it.
  const isSwapped = asset.inventory === undefined
  return unitsOn(isSwapped ? 'execute-swap' : 'execute', dearer) + originGasOverhead
}

/**
 * Gas limit that is sent to the solver for submitted calls. On a chain where new state is dearer the solver
 * adds the surcharge of calls without a swap to it. `gasMax` contains a surcharge too, so the solver's is
 * subtracted here, and its sum is `gasMax` again. @source F-114
 */
export function solverGasLimit(gasMax: bigint, dearer: DearerState = stateAsCounted): bigint {
  const addedBySolver = unitsOn('execute', dearer) - gasUnits.execute
  return gasMax - addedBySolver
}

/**
 * The transaction by which the solver makes the deposit for the user; undefined where the user sends it.
 * @throws Error for a permit of a currency without permits, which `checkExecutionMode` has refused
 */
export function relayedDeposit(
  request: Pick<QuoteRequest, 'usePermit' | 'useDepositAddress' | 'originGasOverhead'>,
  { origin, currencyIn }: Pick<Route, 'origin' | 'currencyIn'>,
): CostedTransaction | undefined {
  const { isNative, asset } = currencyIn
  const isSwapped = asset.inventory === undefined
  if (request.useDepositAddress) return { kind: isSwapped ? 'sweep-swap' : 'sweep', isNative }
  if (isExecuted(request)) {
    const overheadUnits = request.originGasOverhead ?? 0n
    return { kind: isSwapped ? 'execute-swap' : 'execute', isNative, overheadUnits }
  }
  if (!request.usePermit) return undefined
  const permit = permitKindOf(origin, currencyIn)
  if (permit === undefined) throw new Error('a currency without permits was let through')
  // A token's own permit never deposits an input that is swapped first (see `permitKindOf`).
  return { kind: isSwapped ? 'permit-permit2-swap' : `permit-${permit}`, isNative }
}

/**
 * Network fee of a refund in a currency of its chain, in its smallest units, rounded up.
 * @param overheadUnits gas units that the payee takes beyond a plain payment
 * @throws QuoteError PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export function refundCost(
  snapshot: MarketSnapshot,
  chain: Pick<QuotableChain, 'chainId' | 'native'>,
  currency: QuotableCurrency,
  overheadUnits = 0n,
): bigint {
  const { isNative } = currency
  const cost = networkFees(snapshot, chain).costOf({ kind: 'refund', isNative, overheadUnits })
  const price = requirePrice(snapshot, currency)
  return convertUp(cost, requirePrice(snapshot, chain.native), price)
}

/**
 * Network fee of sweeping a deposit address, in smallest units of the swept currency, rounded up.
 * @throws QuoteError PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export function sweepCostIn(
  snapshot: MarketSnapshot,
  chain: Pick<QuotableChain, 'chainId' | 'native'>,
  currency: QuotableCurrency,
): bigint {
  const cost = networkFees(snapshot, chain).costOf({ kind: 'sweep', isNative: currency.isNative })
  return convertUp(cost, requirePrice(snapshot, chain.native), requirePrice(snapshot, currency))
}
