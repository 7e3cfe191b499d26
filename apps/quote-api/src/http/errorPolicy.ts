import { type ErrorPolicy, standardErrorPolicy } from '@causeway/http'

/** Answer of quote-api to each kind of failure. @source rule Q-139 */
export const errorPolicy: ErrorPolicy = {
  ...standardErrorPolicy,
  // A tolerance that breaks its schema has a code of its own, any other field the standard one.
  codeForField: (field) =>
    field === 'slippageTolerance' || field === 'latePaymentSlippageTolerance'
      ? 'INVALID_SLIPPAGE_TOLERANCE'
      : undefined,
}
