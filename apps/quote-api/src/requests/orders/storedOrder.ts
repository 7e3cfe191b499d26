import type { Hex, PricedUnit } from '@causeway/core'
import { plainUse } from '../../pricing/fees/feeTerms.ts'
import { isExecuted } from '../../pricing/fees/gas.ts'
import { rewardedMove } from '../../pricing/pricedRoute.ts'
import type { PricedRequest } from '../../pricing/priceRequest.ts'
import type { QuoteRequest } from '../../pricing/request.ts'
import type { Quote, QuoteRecord } from '../draft/draftQuote.ts'
import { rewardToRow } from './boundRewards.ts'
import { type Execution, executionToJson } from './execution.ts'
import { marketBasisText } from './marketBasis.ts'
import { feesToRow } from './storedFees.ts'

/** Row of `orders`: one answered quote. JSON columns are text here, so that nothing reorders what was hashed. */
export type StoredOrder = {
  readonly requestId: Hex
  readonly orderId: Hex | undefined
  readonly user: string
  readonly recipient: string
  readonly originChainId: number
  readonly destinationChainId: number
  readonly apiKeyId: string | undefined
  /** JSON text of `quotedAmountsSchema`: the quoted currencies, amounts and fees. */
  readonly quoted: string
  /** JSON text of the protocol's order; undefined where no solver is needed. */
  readonly orderData: string | undefined
  readonly orderSignature: Hex | undefined
  readonly stepsDigest: Buffer
  /** JSON text of an `Execution`; absent where the user sends a deposit. */
  readonly execution: string | undefined
  readonly expiresAtSeconds: number
  readonly deadlineSeconds: number
}

/** Makes the row of a quote, with all that is needed to settle, refund and explain it later. */
export function toStoredOrder({ quote, request, stepsDigest, apiKeyId }: QuoteRecord): StoredOrder {
  const { ordered, priced } = quote
  const { route } = priced
  const execution = executionOf(quote)
  return {
    requestId: quote.requestId,
    orderId: ordered?.orderId,
    user: route.user,
    recipient: route.recipient,
    originChainId: route.origin.chainId,
    destinationChainId: route.destination.chainId,
    apiKeyId,
    // `market` is appended as text, because its JSON is cached.
    quoted: `${JSON.stringify(quotedRow(priced, request)).slice(0, -1)},"market":${marketBasisText(priced)}}`,
    orderData: ordered?.orderJson,
    orderSignature: ordered?.signature,
    stepsDigest,
    execution: execution && executionToJson(execution),
    expiresAtSeconds: quote.expiresAtSeconds,
    deadlineSeconds: quote.deadlineSeconds,
  }
}

/** Members of column `orders.quoted` but `market`, in the form that `quotedAmountsSchema` reads. */
function quotedRow(priced: PricedRequest, request: QuoteRequest) {
  const { route, split, solver, prices } = priced
  const move = rewardedMove(priced)
  const use = solver?.use ?? plainUse
  return {
    operation: route.operation,
    tradeType: priced.tradeType,
    originCurrency: route.currencyIn.address,
    destinationCurrency: route.currencyOut.address,
    amountIn: priced.amountIn.toString(),
    amountInMax: priced.amountInMax.toString(),
    amountOut: priced.amountOut.toString(),
    amountOutMin: priced.amountOutMin.toString(),
    feeCurrency: priced.feeCurrency.address,
    feeBasis: split.amountIn.toString(),
    ...feesToRow(split.parts),
    subsidized: split.subsidized.toString(),
    appFees: request.appFees.map(({ recipient, bps }, index) => ({
      recipient,
      feeBps: bps.toString(),
      amount: (split.appFees[index] ?? 0n).toString(),
    })),
    topupWei: (solver?.topup?.amountWei ?? 0n).toString(),
    callUnits: use.callUnits.toString(),
    ...(use.callBytes > 0n && { callBytes: use.callBytes.toString() }),
    ...(use.payeeUnits > 0n && { payeeUnits: use.payeeUnits.toString() }),
    ...(solver !== undefined && { gasCharged: solver.gasCharged.toString() }),
    ...(isExecuted(request) && { originGasOverhead: (request.originGasOverhead ?? 0n).toString() }),
    slippageBps: priced.slippageBps.toString(),
    timeEstimateSeconds: priced.timeEstimateSeconds,
    ...(move !== undefined && { reward: rewardToRow(move) }),
    ...(request.referrer !== undefined && { referrer: request.referrer }),
    ...(request.referrerAddress !== undefined && { referrerAddress: request.referrerAddress }),
    units: {
      in: unitToRow(prices.currencyIn),
      out: unitToRow(prices.currencyOut),
      fee: unitToRow(prices.feeCurrency),
    },
  }
}

function executionOf({ permit, ordered, calls, priced }: Quote): Execution | undefined {
  if (permit !== undefined) return { by: 'permit', terms: permit }
  if (ordered !== undefined) return undefined
  return { by: 'user', calls, afterBlock: priced.originMarket.head.number }
}

/** Decimals and price of a unit at quote time, so that later answers show the same values. */
function unitToRow({ decimals, usdX18 }: PricedUnit) {
  return { decimals, usdX18: usdX18.toString() }
}
