import { formatAmount, type Hex, type PermitTerms, permitTypedData } from '@causeway/core'
import type { PricedRoute } from '../../pricing/pricedRoute.ts'
import { type SignatureStep, statusCheck } from './step.ts'

/** The only step of a permit: typed data to sign, and where the signature goes. @source quote-api.md 2.3, 2.5 */
export function permitStep(
  { route, amountIn }: PricedRoute,
  requestId: Hex,
  permit: PermitTerms,
): SignatureStep {
  const { currencyIn, origin, destination } = route
  const input = `${formatAmount(amountIn, currencyIn.decimals)} ${currencyIn.symbol}`
  const isOneChain = origin === destination
  return {
    id: isOneChain ? 'authorize2' : 'authorize1',
    action: `Authorize ${currencyIn.symbol}`,
    description: `Sign for a deposit of ${input}; the solver sends it`,
    kind: 'signature',
    requestId,
    items: [
      {
        status: 'incomplete',
        data: {
          chainId: origin.chainId,
          sign: { signatureKind: 'eip712', ...permitTypedData(permit) },
          post: {
            endpoint: '/execute/permits',
            method: 'POST',
            body: { kind: permit.kind, requestId, api: isOneChain ? 'swap' : 'bridge' },
          },
        },
        check: statusCheck(requestId),
      },
    ],
  }
}
