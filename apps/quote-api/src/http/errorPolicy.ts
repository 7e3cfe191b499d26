import { type ErrorPolicy, standardErrorPolicy } from '@causeway/http'

/** Answer of quote-api to each kind of failure. @source rule Q-139 */
export const errorPolicy: ErrorPolicy = {
  ...standardErrorPolicy,
  codeForField: (field) =>
    field === 'slippageTolerance' || field === 'latePaymentSlippageTolerance'
      ? 'INVALID_SLIPPAGE_TOLERANCE'
      : undefined,
}
