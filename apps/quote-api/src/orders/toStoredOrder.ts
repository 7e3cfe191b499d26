import type { PricedUnit } from '@causeway/core'
import type { QuoteRecord } from '../quoting/createQuote.ts'
import type { StoredOrder } from './storedOrder.ts'

/** What a quote promised, as it is kept: enough to settle, to refund and to answer for it later. */
export function toStoredOrder({ quote, request, stepsDigest, apiKeyId }: QuoteRecord): StoredOrder {
  const { signed, priced } = quote
  const { amounts } = priced
  const { route, split, solver, prices } = amounts
  const quoted = {
    operation: route.operation,
    tradeType: amounts.tradeType,
    originCurrency: route.currencyIn.address,
    destinationCurrency: route.currencyOut.address,
    amountIn: amounts.amountIn.toString(),
    amountInMax: amounts.amountInMax.toString(),
    amountOut: amounts.amountOut.toString(),
    amountOutMin: amounts.amountOutMin.toString(),
    feeCurrency: amounts.feeCurrency.address,
    feeBasis: split.amountIn.toString(),
    relayerGas: split.relayerGas.toString(),
    relayerService: split.relayerService.toString(),
    execution: split.components.execution.toString(),
    swap: split.components.swap.toString(),
    subsidized: split.subsidized.toString(),
    appFees: request.appFees.map(({ recipient, bps }, index) => ({
      recipient,
      feeBps: bps.toString(),
      amount: (split.appFees[index] ?? 0n).toString(),
    })),
    topupWei: (solver?.topup?.amountWei ?? 0n).toString(),
    slippageBps: amounts.slippageBps.toString(),
    timeEstimateSeconds: priced.timeEstimateSeconds,
    units: { in: unit(prices.currencyIn), out: unit(prices.currencyOut), fee: unit(prices.feeCurrency) },
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
    orderData: signed?.orderJson,
    orderSignature: signed?.signature,
    stepsDigest,
    expiresAtSeconds: quote.expiresAtSeconds,
    deadlineSeconds: quote.deadlineSeconds,
  }
}

/** What the amounts were worth, so that they can be told later as they were. */
function unit({ decimals, usdX18 }: PricedUnit) {
  return { decimals, usdX18: usdX18.toString() }
}
