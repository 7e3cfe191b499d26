import type { RouteErrors } from '@causeway/http'
import { type QuoteErrorCode, quoteErrorKinds } from '../pricing/errors.ts'
import { errorPolicy } from './errorPolicy.ts'

/** Errors of routes that read or write the database. */
export const databaseErrors: RouteErrors = { 503: ['DATABASE_DISK_FULL', 'DATABASE_STARTING'] }

/** Error codes that every route has; OpenAPI describes them separately. */
const codesOfAllRoutes: ReadonlySet<string> = new Set([
  'INVALID_REQUEST',
  'SERVICE_UNAVAILABLE',
  'UNAUTHORIZED',
])

/** Errors of routes that price a request. */
export const pricingErrors: RouteErrors = mergeErrors(pricingCodes(), {
  400: ['INVALID_SLIPPAGE_TOLERANCE', 'SIMULATION_UNSUPPORTED'],
  503: ['RPC_HTTP_ERROR', 'SIMULATION_OVERLOADED', 'UPSTREAM_DISAGREEMENT'],
})

/** Errors of routes that quote, which also store and sign. */
export const quotingErrors: RouteErrors = mergeErrors(pricingErrors, databaseErrors, {
  409: ['DUPLICATE_REQUEST'],
  503: ['SIGNER_FAILED'],
})

/** Errors of routes with a `KeylessBudget`. */
export const keylessErrors: RouteErrors = { 429: ['KEYLESS_BUDGET_SPENT'] }

/** By HTTP status, the codes of all arguments, each once. */
export function mergeErrors(...all: readonly RouteErrors[]): RouteErrors {
  const merged: Record<number, readonly string[]> = {}
  for (const errors of all) {
    for (const [status, codes] of Object.entries(errors)) {
      merged[Number(status)] = [...new Set([...(merged[Number(status)] ?? []), ...codes])]
    }
  }
  return merged
}

function pricingCodes(): RouteErrors {
  // CAST: the keys of the table are its codes.
  const codes = Object.keys(quoteErrorKinds) as QuoteErrorCode[]
  const errors = codes
    .filter((code) => !codesOfAllRoutes.has(code))
    .map((code) => ({ [errorPolicy.statusByKind[quoteErrorKinds[code]]]: [code] }))
  return mergeErrors(...errors)
}
