import type { RouteErrors } from '@causeway/http'
import { type QuoteErrorCode, quoteErrorKinds } from '../pricing/errors.ts'
import { errorPolicy } from './errorPolicy.ts'

/** Errors of routes that read or write the database. */
export const databaseErrors: RouteErrors = { 503: ['DATABASE_DISK_FULL', 'DATABASE_STARTING'] }

/** Errors that every route has; they are documented separately. */
const everywhere: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'SERVICE_UNAVAILABLE', 'UNAUTHORIZED'])

/** Everything that keeps a request from being priced. */
export const pricingErrors: RouteErrors = mergeErrors(pricingCodes(), {
  400: ['INVALID_SLIPPAGE_TOLERANCE', 'SIMULATION_UNSUPPORTED'],
  503: ['RPC_HTTP_ERROR', 'SIMULATION_OVERLOADED', 'UPSTREAM_DISAGREEMENT'],
})

export const quotingErrors: RouteErrors = mergeErrors(pricingErrors, databaseErrors, {
  409: ['DUPLICATE_REQUEST'],
  503: ['SIGNER_FAILED'],
})

/** Budgets of routes that cost the operator money each time. */
export const keylessErrors: RouteErrors = { 429: ['KEYLESS_BUDGET_SPENT'] }

/** The codes of all, each once. */
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
  const own = codes.filter((code) => !everywhere.has(code))
  return mergeErrors(...own.map((code) => ({ [errorPolicy.statusByKind[quoteErrorKinds[code]]]: [code] })))
}
