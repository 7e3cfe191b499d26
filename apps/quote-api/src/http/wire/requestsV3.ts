import {
  feesInRequestsV3,
  formatAmount,
  formatUsd,
  type PricedUnit,
  perName,
  requestV3Members,
  usdValueDown,
} from '@causeway/core'
import { z } from 'zod'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import { requestTypes } from '../../requests/history/requestFilter.ts'
import type { RequestRecord, RequestTransaction } from '../../requests/history/requestHistory.ts'
import { requestStatuses } from '../../requests/status/requestProgress.ts'
import { currencyAmountSchema, currencySchema } from './currencyAmount.ts'
import { inWordsOfV3, pastFeeSponsorshipV3Schema } from './feeSponsorship.ts'
import { orderDataSchema, orderSignatureSchema } from './orderWire.ts'
import {
  isOwn,
  isoTime,
  pastFeeCurrency,
  pastFeeSponsorship,
  type RequestView,
  requestMetadata,
  requestMetadataSchema,
  signatureMember,
  splitTransactions,
} from './requestParts.ts'

const text = z.string()

const features = ['app_fees', 'gas_top_up', 'deposit_address'] as const

const transactionSchema = z.object({
  txHash: text,
  chainId: z.number(),
  type: text,
  block: z.number().nullable(),
  timestamp: z.number().describe('Unix seconds'),
})

const feeSchema = z.object({ usd: text, amount: text, amountFormatted: text })

const routeSchema = z
  .object({
    origin: z.object({ inputCurrency: currencyAmountSchema }),
    destination: z.object({ outputCurrency: currencyAmountSchema }),
    rate: text,
  })
  .meta({ title: 'Route' })

const actualRouteSchema = z.object({
  origin: routeSchema.shape.origin,
  destination: routeSchema.shape.destination.partial(),
  rate: text.optional(),
})

/** A request in the list of a key. @source rules */
const requestV3Schema = z.object({
  id: text,
  orderId: text.nullable(),
  status: z.enum(requestStatuses),
  user: text,
  sender: text,
  recipient: text,
  refundTo: text.nullable(),
  originChainId: z.number(),
  destinationChainId: z.number(),
  requestType: z.enum(requestTypes),
  features: z.array(z.enum(features)),
  depositAddress: z
    .object({
      address: text,
      type: z.enum(['open', 'strict']).optional(),
      depositor: text.nullable(),
      depositTxHash: text.nullable(),
      recoveryAddress: text.nullable(),
    })
    .nullable(),
  supersededByRequestId: text.nullable().describe('The request that took its place before it was paid'),
  data: z.object({
    slippageTolerance: text,
    failReason: text.nullable(),
    refundFailReason: text.nullable(),
    fees: z.object({
      quoted: z
        .object({
          ...perName(requestV3Members, () => feeSchema),
          sponsored: feeSchema,
        })
        .describe('Each as it was quoted; sponsored is the part that the sponsor pays'),
      currency: currencySchema,
    }),
    appFees: z.object({
      quoted: z.array(
        z.object({ recipient: text, bps: text, amount: text, amountFormatted: text, usd: text }),
      ),
      currency: currencySchema,
    }),
    feeSponsorship: pastFeeSponsorshipV3Schema.optional(),
    route: z.object({ quoted: routeSchema, actual: actualRouteSchema.nullable() }),
    inTxs: z.array(transactionSchema),
    outTxs: z.array(transactionSchema),
    metadata: requestMetadataSchema,
    timeEstimate: z.number(),
    referrer: text.nullable(),
  }),
  protocol: z
    .object({
      v2: z.object({ orderId: text, orderData: orderDataSchema, orderSignature: orderSignatureSchema }),
    })
    .optional(),
  createdAt: text,
  updatedAt: text,
})

export const requestsV3Schema = z.object({
  requests: z.array(requestV3Schema),
  total: z.number().optional().describe('On all pages, with includeTotal; at most 10000'),
  totalRelation: z.enum(['eq', 'gte']).optional().describe('`gte`: there are more than total'),
  continuation: z.string().optional().describe('Send it back for the next page; absent on the last'),
})

export type RequestV3 = z.infer<typeof requestV3Schema>

/** The request as `view`'s caller may see it. */
export function requestToV3(registry: QuoteRegistry, record: RequestRecord, view: RequestView): RequestV3 {
  const { includeOrderData, sponsorCurrency } = view
  const isOwnRequest = isOwn(record, view)
  const { quoted, orderId, order } = record
  const { incoming, outgoing } = splitTransactions(record)
  const feeSponsorship = isOwnRequest ? pastFeeSponsorship(registry, record, sponsorCurrency) : undefined
  const currency = pastFeeCurrency(registry, record)
  const fees = feesInRequestsV3(quoted.fees)
  const fee = (amount: bigint) => feeToWire(quoted.units.fee, amount)
  return {
    id: record.requestId,
    orderId: orderId ?? null,
    status: record.status,
    user: record.user,
    sender: record.user,
    recipient: record.recipient,
    refundTo: record.refundedTo ?? order?.inputs[0]?.refunds[0]?.recipient ?? null,
    originChainId: record.originChainId,
    destinationChainId: record.destinationChainId,
    requestType: requestTypeOf(record),
    features: featuresOf(record),
    depositAddress: addressToWire(record),
    supersededByRequestId: record.supersededByRequestId ?? null,
    data: {
      slippageTolerance: quoted.slippageBps,
      failReason: record.failReason ?? null,
      refundFailReason: record.refundFailReason ?? null,
      fees: {
        quoted: {
          ...perName(requestV3Members, (member) => fee(fees[member])),
          sponsored: fee(quoted.subsidized),
        },
        currency,
      },
      appFees: {
        quoted: quoted.appFees.map(({ recipient, feeBps, amount }) => ({
          recipient,
          bps: feeBps,
          ...fee(amount),
        })),
        currency,
      },
      ...(feeSponsorship !== undefined && { feeSponsorship: inWordsOfV3(feeSponsorship) }),
      route: routeToWire(registry, record),
      inTxs: incoming.map(transactionToWire),
      outTxs: outgoing.map(transactionToWire),
      metadata: requestMetadata(registry, record),
      timeEstimate: quoted.timeEstimateSeconds,
      referrer: (isOwnRequest ? quoted.referrer : undefined) ?? null,
    },
    ...(includeOrderData &&
      orderId !== undefined &&
      order !== undefined && { protocol: { v2: { orderId, orderData: order, ...signatureMember(record) } } }),
    createdAt: isoTime(record.createdAtMs),
    updatedAt: isoTime(record.updatedAtMs),
  }
}

function feeToWire(unit: PricedUnit, amount: bigint) {
  return {
    usd: formatUsd(usdValueDown(amount, unit)),
    amount: amount.toString(),
    amountFormatted: formatAmount(amount, unit.decimals),
  }
}

/** The deposit address, and the transfer that paid it. @source Q-107 */
function addressToWire({ depositAddress: address, addressTerms, addressTransfer }: RequestRecord) {
  if (address === undefined) return null
  const { type, recoveryAddress = null } = addressTerms ?? {}
  return {
    address,
    ...(type !== undefined && { type }),
    depositor: addressTransfer?.sender ?? null,
    depositTxHash: addressTransfer?.txHash ?? null,
    recoveryAddress,
  }
}

/**
 * The route as quoted, and as it went once the request succeeded. The actual output stays absent until it was measured.
 * @source
 */
function routeToWire(registry: QuoteRegistry, record: RequestRecord): RequestV3['data']['route'] {
  const { status, taken: payment, quoted, order, measuredOutput } = record
  const route = ({ currencyIn, currencyOut, rate }: RequestV3['data']['metadata']) => ({
    origin: { inputCurrency: currencyIn },
    destination: { outputCurrency: currencyOut },
    rate,
  })
  const quotedRoute = route(requestMetadata(registry, record))
  if (status !== 'success') return { quoted: quotedRoute, actual: null }
  // After a swap on the origin the deposit is not in the input currency, so the quoted amount is shown.
  const isPaidInInput = payment?.currency === quoted.originCurrency
  const amountIn = isPaidInInput ? payment.amount : quoted.amountIn
  // The measurement is in the output currency if no order paid another one; a user who executes alone has no order.
  const isMeasured = order === undefined || order.output.payments[0]?.currency === quoted.destinationCurrency
  const amountOut = isMeasured ? measuredOutput : undefined
  // The 0 is not shown: an output that was not measured is left out below.
  const actualAmounts = { amountIn, amountOut: amountOut ?? 0n, amountOutMin: amountOut ?? 0n }
  const actual = route(requestMetadata(registry, { ...record, quoted: { ...quoted, ...actualAmounts } }))
  return {
    quoted: quotedRoute,
    actual: amountOut === undefined ? { origin: actual.origin, destination: {} } : actual,
  }
}

const typeByOperation = { bridge: 'Bridge', send: 'Send', wrap: 'Wrap', unwrap: 'Unwrap' } as const

function requestTypeOf({ quoted: { operation }, order, originChainId, destinationChainId }: RequestRecord) {
  if (order !== undefined && order.output.calls.length > 0) return 'Call'
  if (operation !== 'swap') return typeByOperation[operation]
  return originChainId === destinationChainId ? 'Same-chain Swap' : 'Crosschain Swap'
}

function featuresOf(record: RequestRecord): RequestV3['features'] {
  return features.filter((feature) => {
    if (feature === 'app_fees') return record.quoted.fees.app > 0n
    if (feature === 'gas_top_up') return record.quoted.topupWei > 0n
    return record.depositAddress !== undefined
  })
}

function transactionToWire({ txHash, chainId, role, blockNumber, seenAtMs }: RequestTransaction) {
  return {
    txHash,
    chainId,
    type: role,
    block: blockNumber === undefined ? null : Number(blockNumber),
    timestamp: Math.floor(seenAtMs / 1_000),
  }
}
