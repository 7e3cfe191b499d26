import type { NetworkFees, OriginRoute, PlannedTransaction } from '@causeway/core'
import type { PricedRoute } from './pricedRoute.ts'
import type { QuoteRequest } from './request.ts'

type DepositChoice = Pick<QuoteRequest, 'explicitDeposit' | 'useDepositAddress' | 'usePermit'>

/** What the origin's family plans and encodes transactions from. */
export function originRoute(priced: PricedRoute, request: DepositChoice): OriginRoute {
  const { route, solver, originLeg } = priced
  const { user, recipient, currencyIn, currencyOut } = route
  const { amountIn, amountInMax, amountOut, amountOutMin } = priced
  const ownTrade = priced.tradeType === 'EXACT_OUTPUT' ? 'exactOutput' : 'exactInput'
  return {
    user,
    recipient,
    by: wayOf(priced, request),
    currencyIn,
    currencyOut,
    amountIn,
    amountInMax,
    amountOut,
    amountOutMin,
    swap:
      originLeg?.leg.kind === 'pool'
        ? {
            trade: solver?.originSwapTrade ?? ownTrade,
            from: originLeg.leg.from,
            to: originLeg.leg.to,
            feePips: originLeg.feePips,
            ticksCrossed: originLeg.ticksCrossed,
          }
        : undefined,
    deposited: solver && { currency: priced.feeCurrency, amount: solver.depositAmount },
  }
}

function wayOf({ route, solver }: PricedRoute, request: DepositChoice): OriginRoute['by'] {
  // The user signs, the solver sends.
  if (request.usePermit) return 'signature'
  if (request.useDepositAddress) return 'pay-address'
  if (solver !== undefined) return request.explicitDeposit ? 'deposit' : 'deposit-transfer'
  return route.operation === 'bridge' ? 'swap' : route.operation
}

/** Expected network fee of all of them, in smallest units of the native currency: `fees.gas`. */
export function originCost(fees: NetworkFees, transactions: readonly PlannedTransaction[]): bigint {
  let cost = 0n
  for (const transaction of transactions) cost += fees.costOf(transaction)
  return cost
}
