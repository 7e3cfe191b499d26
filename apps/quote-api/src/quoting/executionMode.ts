import { QuoteError } from './errors.ts'
import type { QuoteRequest } from './request.ts'
import type { Route } from './route.ts'

/**
 * Rules of the ways to deposit that are not a plain transaction.
 * @throws QuoteError EXTRA_TXS_NOT_SUPPORTED, UNSUPPORTED_ROUTE, UNSUPPORTED_CURRENCY
 * @source design.md 5.5 (deposit addresses), quote-and-sponsorship.md (usePermit, useDepositAddress)
 */
export function checkExecutionMode(route: Route, request: QuoteRequest): void {
  if (request.useDepositAddress) checkDepositAddress(route, request)
  if (request.usePermit) checkPermit(route, request)
}

/**
 * What is priced but not yet executed. Refused on quotes, which promise execution.
 * @throws QuoteError UNSUPPORTED_EXECUTION_TYPE
 */
export function refuseUnsupportedExecution(request: QuoteRequest): void {
  const field = request.useDepositAddress ? 'useDepositAddress' : request.usePermit ? 'usePermit' : undefined
  if (field === undefined) return
  throw new QuoteError('UNSUPPORTED_EXECUTION_TYPE', `${field} cannot be executed yet; leave it out.`, {
    data: { field },
  })
}

function checkDepositAddress(route: Route, request: QuoteRequest): void {
  if (request.txs.length > 0) {
    throw new QuoteError('EXTRA_TXS_NOT_SUPPORTED', 'A deposit address cannot carry txs.', {
      data: { field: 'txs' },
    })
  }
  if (route.operation !== 'bridge' || !route.currencyIn.isNative || !route.currencyOut.isNative) {
    throw new QuoteError('UNSUPPORTED_ROUTE', 'Deposit addresses serve bridges of a native currency only.', {
      data: { field: 'useDepositAddress' },
    })
  }
}

function checkPermit(route: Route, request: QuoteRequest): void {
  if (request.useDepositAddress) {
    throw new QuoteError('INVALID_REQUEST', 'usePermit and useDepositAddress exclude each other.', {
      data: { field: 'usePermit' },
    })
  }
  if (route.currencyIn.permit === 'none') {
    throw new QuoteError('UNSUPPORTED_CURRENCY', `${route.currencyIn.symbol} does not support permits.`, {
      data: { field: 'usePermit', currency: route.currencyIn.address },
    })
  }
}
