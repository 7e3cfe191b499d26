import type { ChainMarket, GasShape } from '@causeway/market'
import { gasCostWei, gasUnits } from './gas.ts'
import type { PricedRoute } from './pricedRoute.ts'
import type { QuoteRequest } from './request.ts'

/** One transaction that the user signs on the origin, before it is encoded. */
export type PlannedTransaction = {
  readonly kind:
    | 'reset-approval'
    | 'approve'
    | 'deposit'
    /** Plain transfer to the depository with the order id behind it. */
    | 'deposit-transfer'
    /** Plain payment to a deposit address. */
    | 'pay-address'
    | 'swap-deposit'
    | 'swap'
    | 'wrap'
    | 'unwrap'
    | 'send-input'
    | 'send-output'
  readonly shape: GasShape
  readonly ticksCrossed: number
}

type DepositChoice = Pick<QuoteRequest, 'explicitDeposit' | 'useDepositAddress' | 'usePermit'>

/**
 * What the user must send, in order. An unknown allowance counts as none: an approve too many costs
 * gas, one too few fails. @source quote-api.md 2.3, design.md 5.4
 */
export function planTransactions(
  priced: PricedRoute,
  request: DepositChoice,
  allowance: bigint | undefined,
): readonly PlannedTransaction[] {
  // The user signs, the solver sends.
  if (request.usePermit) return []
  const main = mainTransactions(priced, request)
  const spends = main[0]?.kind
  const needsSpender = spends === 'deposit' || spends === 'swap-deposit' || spends === 'swap'
  if (!needsSpender || priced.route.currencyIn.isNative) return main
  if (allowance !== undefined && allowance >= priced.amountInMax) return main
  const approve = planned('approve', 'approve')
  const mustReset = priced.route.currencyIn.resetsAllowance && allowance !== 0n
  return mustReset ? [planned('reset-approval', 'approve'), approve, ...main] : [approve, ...main]
}

function mainTransactions(priced: PricedRoute, request: DepositChoice): PlannedTransaction[] {
  const { route, originLeg, solver } = priced
  const { currencyIn } = route
  if (request.useDepositAddress) return [planned('pay-address', sendShape(currencyIn.isNative))]
  if (solver !== undefined) {
    if (originLeg !== undefined) return [planned('swap-deposit', 'swap-deposit', originLeg.ticksCrossed)]
    if (currencyIn.isNative) return [planned('deposit', 'deposit-native')]
    return request.explicitDeposit
      ? [planned('deposit', 'deposit-erc20')]
      : [planned('deposit-transfer', 'send-erc20')]
  }
  switch (route.operation) {
    case 'send':
      return [planned('send-input', sendShape(currencyIn.isNative))]
    case 'wrap':
    case 'unwrap':
      return [planned(route.operation, route.operation), ...forwardToRecipient(priced)]
    default:
      return [planned('swap', 'swap', originLeg?.ticksCrossed ?? 0)]
  }
}

/** Wrapping pays its caller, so another recipient takes a second transaction. */
function forwardToRecipient({ route }: PricedRoute): PlannedTransaction[] {
  const { codec } = route.origin
  if (codec.canonicalAddress(route.recipient) === codec.canonicalAddress(route.user)) return []
  return [planned('send-output', sendShape(route.currencyOut.isNative))]
}

function sendShape(isNative: boolean): GasShape {
  return isNative ? 'send-native' : 'send-erc20'
}

function planned(kind: PlannedTransaction['kind'], shape: GasShape, ticksCrossed = 0): PlannedTransaction {
  return { kind, shape, ticksCrossed }
}

/** Gas limit of one planned transaction. */
export function plannedGasUnits(market: ChainMarket, { shape, ticksCrossed }: PlannedTransaction): bigint {
  return gasUnits(market, shape, { ticksCrossed })
}

/** Expected network fee of all of them, in wei: `fees.gas`. */
export function originGasWei(market: ChainMarket, transactions: readonly PlannedTransaction[]): bigint {
  let wei = 0n
  for (const { shape, ticksCrossed } of transactions) wei += gasCostWei(market, shape, { ticksCrossed })
  return wei
}
