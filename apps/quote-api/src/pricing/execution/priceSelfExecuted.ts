import { usdValueDown } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../errors.ts'
import { withoutFees } from '../fees/solve.ts'
import { adverseBpsOf, checkDepth, checkImpact, legImpact } from '../legs/legImpact.ts'
import type { Leg, LegQuote, LegQuoter } from '../legs/legs.ts'
import { chooseRefusal, permittedPlans } from '../legs/planLegs.ts'
import { dearerClass, maximumAfterSlippage, minimumAfterSlippage, slippageBps } from '../legs/slippage.ts'
import { type PricedRoute, shownPrices } from '../pricedRoute.ts'
import type { QuoteRequest } from '../request.ts'
import type { Route } from '../routes/route.ts'

/** 0.05 USD with 18 digits. Gas alone costs more than a smaller swap. */
const swapUsdMin = 50_000_000_000_000_000n

/**
 * Prices what a user does alone on one chain: send, wrap, unwrap, swap. No solver, so no fees.
 * @throws QuoteError AMOUNT_TOO_LOW, SWAP_IMPACT_TOO_HIGH, NO_SWAP_ROUTES_FOUND, PRICE_FETCH_FAILED
 */
export function priceSelfExecuted(args: {
  request: QuoteRequest
  route: Route
  snapshot: MarketSnapshot
  quoter: LegQuoter
  swapImpactMaxBps: number
  /** Possible legs, of which the best is taken; none for a `send`. */
  legs: readonly Leg[]
}): PricedRoute {
  const { request, route, snapshot } = args
  const leg = route.operation === 'send' ? undefined : quoteLeg(args)
  const amountIn = leg?.amountIn ?? request.amount
  const amountOut = leg?.amountOut ?? request.amount
  const prices = shownPrices(snapshot, route)
  if (route.operation === 'swap') refuseDust(usdValueDown(amountIn, prices.currencyIn))

  if (leg !== undefined) checkDepth(snapshot, leg, { override: request.overridePriceImpact })
  const swapImpact = legImpact(snapshot, [leg])
  checkImpact(swapImpact, { maxBps: args.swapImpactMaxBps, override: request.overridePriceImpact })
  const toleranceBps = slippageBps({
    requestedBps: request.slippageBps,
    hasPoolLeg: route.operation === 'swap',
    assetClass: dearerClass(route.currencyIn.assetClass, route.currencyOut.assetClass),
    swapImpactBps: swapImpact.lossBps,
    adverseBps: adverseBpsOf([leg]),
    // Pools alone decide the amounts, so a disagreement of price sources does not count.
    priceSpreadBps: 0n,
  })
  const isExactOutput = request.tradeType === 'EXACT_OUTPUT'
  const slipsOnInput = isExactOutput && route.operation === 'swap'
  return {
    route,
    tradeType: request.tradeType,
    amountIn,
    amountInMax: slipsOnInput ? maximumAfterSlippage(amountIn, toleranceBps) : amountIn,
    amountOut,
    // A tolerance that the caller named counts for a send and a wrap too, although their output cannot slip.
    amountOutMin: isExactOutput ? amountOut : minimumAfterSlippage(amountOut, toleranceBps),
    feeCurrency: route.currencyIn,
    split: withoutFees(amountIn),
    originLeg: leg,
    destinationLeg: undefined,
    swapImpact,
    slippageBps: toleranceBps,
    solver: undefined,
    prices,
  }
}

type SelfExecutedInputs = Parameters<typeof priceSelfExecuted>[0]

/** The best of all legs; a refusal stands only when all are refused. */
function quoteLeg({ request, snapshot, quoter, legs }: SelfExecutedInputs): LegQuote {
  // Called for its refusal only: all legs here are pools or none is, so it permits all or throws.
  permittedPlans(
    legs.map((origin) => ({ origin, destination: undefined })),
    request.swaps,
  )
  const isForward = request.tradeType === 'EXACT_INPUT'
  let best: LegQuote | undefined
  let refusal: QuoteError | undefined
  for (const leg of legs) {
    try {
      const quoted = quoter[isForward ? 'exactInput' : 'exactOutput'](snapshot, leg, request.amount)
      const isBest =
        best === undefined ||
        (isForward ? quoted.amountOut > best.amountOut : quoted.amountIn < best.amountIn)
      if (isBest) best = quoted
    } catch (error) {
      if (!(error instanceof QuoteError)) throw error
      refusal = chooseRefusal(refusal, error)
    }
  }
  if (best === undefined) throw refusal
  return best
}

function refuseDust(valueUsd: bigint): void {
  if (valueUsd >= swapUsdMin) return
  throw new QuoteError('AMOUNT_TOO_LOW', 'A swap on one chain must be worth at least 0.05 USD.', {
    data: { minimumUsd: '0.05' },
  })
}
