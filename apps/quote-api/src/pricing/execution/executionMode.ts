import { multipleDown, multipleUp } from '@causeway/core'
import { QuoteError } from '../errors.ts'
import { planLegs } from '../legs/planLegs.ts'
import type { PricedRoute } from '../pricedRoute.ts'
import type { QuotableCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import { permitKindOf, permitsNotRelayed } from '../routes/permit.ts'
import type { Route } from '../routes/route.ts'
import { withoutCalls } from './destinationCalls.ts'

/**
 * Refuses calls, deposit addresses and permits that the route cannot have.
 * @throws QuoteError EXTRA_TXS_NOT_SUPPORTED, INVALID_ADDRESS, INVALID_REQUEST, UNSUPPORTED_ROUTE,
 * UNSUPPORTED_CURRENCY, UNSUPPORTED_EXECUTION_TYPE
 * @source rules
 */
export function checkExecutionMode(route: Route, request: QuoteRequest): void {
  const { chainId, quoting } = route.destination
  if (request.txs.length > 0 && !quoting.runsCalls) throw withoutCalls(chainId)
  if (request.useDepositAddress) checkDepositAddress(route, request)
  else if (request.strict) {
    throw new QuoteError(
      'INVALID_REQUEST',
      'strict is a kind of deposit address: it needs useDepositAddress.',
      { data: { field: 'strict' } },
    )
  }
  if (request.usePermit) checkPermit(route, request)
  checkGranularity(route, request)
}

/**
 * Refuses amounts that transactions of the chain cannot carry to the last unit.
 * @throws QuoteError INVALID_REQUEST naming the next amount that they can
 */
function checkGranularity(route: Route, { tradeType, amount }: QuoteRequest): void {
  const isInput = tradeType === 'EXACT_INPUT'
  const [chain, currency] = isInput
    ? [route.origin, route.currencyIn]
    : [route.destination, route.currencyOut]
  const step = granularityOf(chain, currency)
  if (amount % step === 0n) return
  // An input is rounded down, so that it is not above what the user named; an output up.
  const amountInstead = (isInput ? multipleDown(amount, step) : multipleUp(amount, step)).toString()
  throw new QuoteError(
    'INVALID_REQUEST',
    `Transactions of chain ${chain.chainId} move ${currency.symbol} in multiples of ${step}: ask for ${amountInstead}.`,
    { data: { field: 'amount', chainId: chain.chainId, amountInstead } },
  )
}

/** Step of amounts of a currency in transactions of its chain, in smallest units. */
export function granularityOf(
  { quoting }: Pick<Route['origin'], 'quoting'>,
  currency: Pick<QuotableCurrency, 'isNative'>,
): bigint {
  return quoting.granularity?.(currency) ?? 1n
}

/**
 * Refuses quotes of routes that may be priced but not executed, because a quote promises execution: a self-executed
 * route on a chain whose transactions cannot be matched to requests, and a permit within one chain without a sponsor.
 * @throws QuoteError UNSUPPORTED_ROUTE, UNSUPPORTED_EXECUTION_TYPE
 * @source rule F-146; docs/concepts/permits.md, Who pays
 */
export function refuseUnsupportedExecution(
  { origin, destination, selfExecuted }: Route,
  request: QuoteRequest,
  { isSponsored }: { readonly isSponsored: boolean },
): void {
  if (selfExecuted && !origin.quoting.tellsCallsApart) {
    const { chainId } = origin
    throw new QuoteError(
      'UNSUPPORTED_ROUTE',
      `Within chain ${chainId} you can be told a price only: nothing follows what users execute alone there.`,
      { data: { field: 'destinationChainId', chainId } },
    )
  }
  if (!request.usePermit || origin !== destination || isSponsored) return
  throw new QuoteError('UNSUPPORTED_EXECUTION_TYPE', 'A permit on one chain needs a sponsor who pays.', {
    data: { field: 'usePermit' },
  })
}

/**
 * Refuses priced amounts above what a transaction of either side can carry.
 * @throws QuoteError INVALID_REQUEST naming the most that can be carried
 */
export function checkCarried({
  route,
  amountInMax,
  amountOut,
}: Pick<PricedRoute, 'route' | 'amountInMax' | 'amountOut'>): void {
  const { origin, destination, currencyIn, currencyOut } = route
  for (const [{ chainId, quoting }, currency, amount] of [
    [origin, currencyIn, amountInMax],
    [destination, currencyOut, amountOut],
  ] as const) {
    const maximum = quoting.amountMax(currency)
    if (amount <= maximum) continue
    throw new QuoteError('INVALID_REQUEST', `No transaction of chain ${chainId} can carry this amount.`, {
      data: { field: 'amount', chainId, maximumAmount: maximum.toString() },
    })
  }
}

/** Refusal for a chain whose family has no deposit addresses, or whose contract is not deployed. */
export function withoutDepositAddresses({ chainId }: Pick<Route['origin'], 'chainId'>): QuoteError {
  return new QuoteError(
    'UNSUPPORTED_EXECUTION_TYPE',
    `Chain ${chainId} has no deposit addresses; leave useDepositAddress out.`,
    { data: { field: 'useDepositAddress', chainId } },
  )
}

function checkDepositAddress(route: Route, request: QuoteRequest): void {
  const { currencyIn, operation, origin } = route
  const { strict, tradeType, refundTo } = request
  if (origin.quoting.depositAddresses === undefined) throw withoutDepositAddresses(origin)
  if (request.txs.length > 0) {
    throw new QuoteError('EXTRA_TXS_NOT_SUPPORTED', 'A deposit address cannot carry txs.', {
      data: { field: 'txs' },
    })
  }
  if (operation === 'send') {
    throw new QuoteError('UNSUPPORTED_ROUTE', 'Nothing is exchanged: pay the recipient instead.', {
      data: { field: 'useDepositAddress' },
    })
  }
  // The input of a swap for an exact output is known only after the swap, but the address is paid before it.
  if (needsOriginSwap(currencyIn) && tradeType === 'EXACT_OUTPUT') {
    throw new QuoteError(
      'UNSUPPORTED_EXECUTION_TYPE',
      `${currencyIn.symbol} is swapped first, so a deposit address takes EXACT_INPUT or EXPECTED_OUTPUT of it.`,
      { data: { field: 'tradeType' } },
    )
  }
  // A payer of an open address may pay any amount, so only an input can be promised.
  if (!strict && tradeType === 'EXACT_OUTPUT') {
    throw new QuoteError(
      'UNSUPPORTED_EXECUTION_TYPE',
      'Open deposit addresses take EXACT_INPUT or EXPECTED_OUTPUT; an exact output needs strict.',
      { data: { field: 'tradeType' } },
    )
  }
  // Such an address gives back what it cannot fill as quoted, so the account for that must be named.
  if (refundTo === undefined && (strict || isSwappedAfterwards(route))) {
    throw new QuoteError(
      'INVALID_ADDRESS',
      'A strict deposit address, and one whose output is swapped on the destination, needs refundTo.',
      { data: { field: 'refundTo' } },
    )
  }
}

/** True if the solver keeps no inventory of the asset, so that the input is swapped before the solver gets it. */
export function needsOriginSwap({ asset }: QuotableCurrency): boolean {
  return asset.inventory === undefined
}

/** True if every plan gets the output from a pool, so that a moved market may make the fill fail. */
function isSwappedAfterwards(route: Route): boolean {
  return planLegs(route, 'fallbacks').every(({ destination }) => destination?.kind === 'pool')
}

function checkPermit(route: Route, request: QuoteRequest): void {
  if (request.useDepositAddress) {
    throw new QuoteError('INVALID_REQUEST', 'usePermit and useDepositAddress exclude each other.', {
      data: { field: 'usePermit' },
    })
  }
  if (permitKindOf(route.origin, route.currencyIn) !== undefined) return
  // One of these three refusals applies: each is a reason for which `permitKindOf` finds none.
  if (route.currencyIn.permit === 'none') {
    throw new QuoteError('UNSUPPORTED_CURRENCY', `${route.currencyIn.symbol} does not support permits.`, {
      data: { field: 'usePermit', currency: route.currencyIn.address },
    })
  }
  if (route.origin.config.permitRouter === undefined) throw permitsNotRelayed(route.origin.chainId)
  throw new QuoteError('UNSUPPORTED_ROUTE', `${route.currencyIn.symbol} would be swapped first: send it.`, {
    data: { field: 'usePermit', currency: route.currencyIn.address },
  })
}
