import { type ErrorPolicy, standardErrorPolicy } from '@causeway/http'

/** How quote-api answers each kind of failure. @source rule Q-139 */
export const errorPolicy: ErrorPolicy = {
  ...standardErrorPolicy,
  codeForField: (field) =>
    field === 'slippageTolerance' || field === 'latePaymentSlippageTolerance'
      ? 'INVALID_SLIPPAGE_TOLERANCE'
      : undefined,
}
