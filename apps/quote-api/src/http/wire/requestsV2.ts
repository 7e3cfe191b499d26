import { feesInRequestsV2, formatUsd, perName, requestV2Members, usdValueDown } from '@causeway/core'
import { z } from 'zod'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import type { RequestRecord, RequestTransaction } from '../../requests/history/requestHistory.ts'
import { requestStatuses } from '../../requests/status/requestProgress.ts'
import { pastFeeSponsorshipSchema } from './feeSponsorship.ts'
import { orderDataSchema, orderSignatureSchema } from './orderWire.ts'
import {
  isOwn,
  isoTime,
  pastFeeAsset,
  pastFeeSponsorship,
  type RequestView,
  requestMetadata,
  requestMetadataSchema,
  signatureMember,
  splitTransactions,
} from './requestParts.ts'

const transactionSchema = z.object({
  hash: z.string(),
  chainId: z.number(),
  type: z.string(),
  block: z.number().optional(),
  timestamp: z.number().describe('Unix seconds'),
})

const text = z.string()
const feesSchema = z.object(perName(requestV2Members, () => text))

/**
 * A request in the older list, with the members that public clients read.
 * @source github.com/relayprotocol/relay-kit, packages/sdk/src/types/api.ts
 */
const requestV2Schema = z.object({
  id: text,
  status: z.enum(requestStatuses),
  user: text,
  recipient: text,
  depositAddress: z.object({ address: text }).optional(),
  supersededByRequestId: text.optional(),
  data: z.object({
    slippageTolerance: text,
    failReason: text.describe('`N/A` where nothing failed'),
    // Absent where nothing failed: public clients know no `N/A` of it here.
    refundFailReason: text.optional().describe('Absent where nothing failed'),
    subsidizedRequest: z.boolean(),
    currency: text.describe(
      'Asset id of the currency of the fees; empty where it is not configured any more',
    ),
    fees: feesSchema,
    feesUsd: feesSchema,
    appFees: z.array(z.object({ recipient: text, bps: text, amount: text, amountUsd: text })),
    feeSponsorship: pastFeeSponsorshipSchema.optional(),
    inTxs: z.array(transactionSchema),
    outTxs: z.array(transactionSchema),
    metadata: requestMetadataSchema,
    timeEstimate: z.number(),
  }),
  protocol: z
    .object({
      orderId: text,
      v2: z.object({
        orderId: text,
        orderData: orderDataSchema.optional(),
        orderSignature: orderSignatureSchema,
      }),
    })
    .optional(),
  createdAt: text,
  updatedAt: text,
})

export const requestsV2Schema = z.object({
  requests: z.array(requestV2Schema),
  continuation: z.string().optional().describe('Send it back for the next page; absent on the last'),
})

export type RequestV2 = z.infer<typeof requestV2Schema>

const nothingFailed = 'N/A'

/** The request as `view`'s caller may see it. */
export function requestToV2(registry: QuoteRegistry, record: RequestRecord, view: RequestView): RequestV2 {
  const { includeOrderData, sponsorCurrency } = view
  const { quoted, depositAddress, supersededByRequestId, orderId, order } = record
  const { incoming, outgoing } = splitTransactions(record)
  const feeSponsorship = isOwn(record, view)
    ? pastFeeSponsorship(registry, record, sponsorCurrency)
    : undefined
  return {
    id: record.requestId,
    status: record.status,
    user: record.user,
    recipient: record.recipient,
    ...(depositAddress !== undefined && { depositAddress: { address: depositAddress } }),
    ...(supersededByRequestId !== undefined && { supersededByRequestId }),
    data: {
      slippageTolerance: quoted.slippageBps,
      failReason: record.failReason ?? nothingFailed,
      ...(record.refundFailReason !== undefined && { refundFailReason: record.refundFailReason }),
      subsidizedRequest: quoted.subsidized > 0n,
      currency: pastFeeAsset(registry, record),
      ...feesToWire(record),
      ...(feeSponsorship !== undefined && { feeSponsorship }),
      inTxs: incoming.map(transactionToWire),
      outTxs: outgoing.map(transactionToWire),
      metadata: requestMetadata(registry, record),
      timeEstimate: quoted.timeEstimateSeconds,
    },
    ...(orderId !== undefined && {
      protocol: {
        orderId,
        v2: {
          orderId,
          ...(includeOrderData && order !== undefined && { orderData: order, ...signatureMember(record) }),
        },
      },
    }),
    createdAt: isoTime(record.createdAtMs),
    updatedAt: isoTime(record.updatedAtMs),
  }
}

/** `gas` is the destination's, `fixed` the flat fee, `price` what depends on the amount. */
function feesToWire({ quoted }: RequestRecord) {
  const { fees, units, appFees } = quoted
  const amounts = feesInRequestsV2(fees)
  const usd = (amount: bigint) => formatUsd(usdValueDown(amount, units.fee))
  return {
    fees: perName(requestV2Members, (member) => amounts[member].toString()),
    feesUsd: perName(requestV2Members, (member) => usd(amounts[member])),
    appFees: appFees.map(({ recipient, feeBps, amount }) => ({
      recipient,
      bps: feeBps,
      amount: amount.toString(),
      amountUsd: usd(amount),
    })),
  }
}

function transactionToWire({ txHash, chainId, role, blockNumber, seenAtMs }: RequestTransaction) {
  return {
    hash: txHash,
    chainId,
    type: role,
    ...(blockNumber !== undefined && { block: Number(blockNumber) }),
    timestamp: Math.floor(seenAtMs / 1_000),
  }
}
