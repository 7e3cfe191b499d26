import type { QuoteRecord } from '../quoting/createQuote.ts'
import type { StoredOrder } from './orderStore.ts'

/** What a quote promised, as it is kept: enough to settle, to refund and to answer for it later. */
export function toStoredOrder({ quote, request, stepsDigest, apiKeyId }: QuoteRecord): StoredOrder {
  const { route, split, signed, solver } = quote
  const quoted = {
    operation: route.operation,
    tradeType: quote.tradeType,
    originCurrency: route.currencyIn.address,
    destinationCurrency: route.currencyOut.address,
    amountIn: quote.amountIn.toString(),
    amountInMax: quote.amountInMax.toString(),
    amountOut: quote.amountOut.toString(),
    amountOutMin: quote.amountOutMin.toString(),
    feeCurrency: quote.feeCurrency.address,
    feeBasis: split.amountIn.toString(),
    relayerGas: split.relayerGas.toString(),
    relayerService: split.relayerService.toString(),
    subsidized: split.subsidized.toString(),
    appFees: request.appFees.map(({ recipient, bps }, index) => ({
      recipient,
      feeBps: bps.toString(),
      amount: (split.appFees[index] ?? 0n).toString(),
    })),
    topupWei: (solver?.topup?.amountWei ?? 0n).toString(),
    slippageBps: quote.slippageBps.toString(),
    timeEstimateSeconds: quote.timeEstimateSeconds,
  }
  return {
    requestId: quote.requestId,
    orderId: signed?.orderId,
    user: route.user,
    recipient: route.recipient,
    originChainId: route.origin.chainId,
    destinationChainId: route.destination.chainId,
    apiKeyId,
    quoted: JSON.stringify(quoted),
    orderData: signed === undefined ? undefined : JSON.stringify(signed.order),
    orderSignature: signed?.signature,
    stepsDigest,
    expiresAtSeconds: quote.expiresAtSeconds,
    deadlineSeconds: quote.deadlineSeconds,
  }
}
