import {
  addressText,
  bytes32Text,
  evmAddressText,
  hexText,
  int256Text,
  orderListMax,
  orderSchema,
  pendingReasons,
  uint32Number,
  uint256Text,
} from '@causeway/core'
import { chainKey } from '@causeway/core/config'
import { z } from 'zod'
import {
  evidenceSchema,
  executionFields,
  executionSchema,
  executionSignaturesSchema,
  mappingSignaturesSchema,
  messageSignaturesSchema,
  messagesMax,
  payloadSignaturesSchema,
} from './signatureEntries.ts'

const transactionIdText = z.string().min(1).max(256)
const signatureBytesMax = 1_024
const payloadTextMax = 1_024
/** Enough for 256 outputs of a Bitcoin depository, the most that a request names. */
const payloadDataBytesMax = 128 * 1_024

/** Enough for a PSBT: for inputs with a legacy script it holds the whole transactions that they spend. */
export const withdrawalBytesMax = 256 * 1_024
const payloadText = z.string().max(payloadTextMax)
const evidence = evidenceSchema.optional()

/** Not covered by signatures. */
const executionHeld = z
  .enum(['SIGNING_CAP', 'ORDER_SETTLED'])
  .optional()
  .describe(
    'The message is true and its execution not signed. `SIGNING_CAP`: it would pass what this oracle signs within an hour; ask again later. `ORDER_SETTLED`: the payment settled other deposits of the order; these need a payment of their own, such as a refund',
  )

/** Why an execution is not signed. */
export type HeldExecution = NonNullable<z.infer<typeof executionHeld>>

/**
 * `POST /attestations/depository-deposits/v1`: one message, one action and one metadata entry per
 * deposit, in on-chain order; no execution when there is no deposit. @source rule P-89
 */
export const depositsResponseSchema = z.object({
  messages: z
    .array(
      z.object({
        data: z.object({ chainId: chainKey, transactionId: transactionIdText }),
        result: z.object({
          onchainId: bytes32Text,
          depository: addressText,
          depositId: bytes32Text,
          depositor: addressText,
          currency: addressText,
          amount: uint256Text,
        }),
        /** Unix seconds of the deposit's block. */
        extraData: z.object({ timestamp: uint256Text }),
        signatures: messageSignaturesSchema,
      }),
    )
    .max(messagesMax),
  execution: z
    .object({
      ...executionFields,
      metadata: z
        .array(
          z.object({
            hubTokenId: uint256Text,
            origin: z.object({ address: addressText, chainId: chainKey, family: z.string().max(32) }),
            oracleChainId: uint256Text,
            oracleContract: evmAddressText,
          }),
        )
        .max(messagesMax),
      signatures: executionSignaturesSchema,
    })
    .optional(),
  executionHeld,
  evidence,
})

/**
 * Parts from which a withdrawal address on the hub is derived. Its balance is what an executed or expired
 * withdrawal settles.
 */
export const withdrawalAddressRequestSchema = z.object({
  chainId: chainKey,
  depository: addressText.optional(),
  currency: addressText,
  withdrawer: addressText,
  withdrawerChainId: chainKey,
  recipient: addressText,
  /** A uint256, decimal or hex. */
  withdrawalNonce: z.string().min(1).max(80),
})

/** 0 pending, 1 executed, 2 expired. */
const withdrawalStatusNumber = z.union([z.literal(0), z.literal(1), z.literal(2)])

/** Not covered by signatures. */
const pendingReason = z
  .enum(pendingReasons)
  .optional()
  .describe('Why a withdrawal is pending although its transaction failed')

/** `POST /attestations/depository-withdrawals/v1`. @source rule P-89 */
export const withdrawalsResponseSchema = z.object({
  message: z.object({
    data: z.object({
      chainId: chainKey,
      withdrawal: hexText(withdrawalBytesMax),
      withdrawalAddressRequest: withdrawalAddressRequestSchema.optional(),
    }),
    result: z.object({
      withdrawalId: bytes32Text,
      depository: addressText,
      status: withdrawalStatusNumber,
    }),
    signatures: messageSignaturesSchema,
  }),
  execution: executionSchema.optional(),
  executionHeld,
  pendingReason,
  evidence,
})

/** `POST /attestations/depository-withdrawals/v2`. @source rule P-89 */
export const requestedWithdrawalsResponseSchema = z.object({
  status: withdrawalStatusNumber,
  execution: executionSchema.optional(),
  executionHeld,
  pendingReason,
  evidence,
})

/** See `InputEntry` of core. */
const inputEntry = z.object({
  transactionId: transactionIdText,
  onchainId: bytes32Text,
  inputIndex: uint32Number,
})
const settledOrder = {
  order: orderSchema,
  orderSignature: hexText(signatureBytesMax),
  inputs: z.array(inputEntry).max(orderListMax),
}
/** See `SettlementResult` of core. Oracles answer with status 1 alone, which means settled. */
const settlementResult = z.object({
  orderId: bytes32Text,
  status: z.union([z.literal(0), z.literal(1)]),
  totalWeightedInputPaymentBpsDiff: int256Text,
})

/** `POST /attestations/solver-fills/v1`. @source rule P-89 */
export const fillsResponseSchema = z.object({
  message: z.object({
    data: z.object({ ...settledOrder, fill: z.object({ transactionId: transactionIdText }) }),
    result: settlementResult,
    signatures: messageSignaturesSchema,
  }),
  execution: executionSchema.optional(),
  executionHeld,
  evidence,
})

const refundEntry = z.object({
  transactionId: transactionIdText,
  inputIndex: uint32Number,
  refundIndex: uint32Number,
})

/** `POST /attestations/solver-refunds/v1`. @source rule P-89 */
export const refundsResponseSchema = z.object({
  message: z.object({
    data: z.object({ ...settledOrder, refunds: z.array(refundEntry).max(orderListMax) }),
    result: settlementResult,
    signatures: messageSignaturesSchema,
  }),
  execution: executionSchema.optional(),
  executionHeld,
  evidence,
})

/** `POST /attestations/withdrawal-initiation/v1`: moves an owner's balance to a withdrawal address. @source rule P-89 */
export const withdrawalInitiationResponseSchema = z.object({
  withdrawalAddress: evmAddressText,
  execution: executionSchema.optional(),
  executionHeld,
  evidence,
})

/** `POST /attestations/withdrawal-initiated/v1`: parameters of the payload that the allocator is to issue. @source rule P-89 */
export const withdrawalInitiatedResponseSchema = z.object({
  payloadParams: z.object({
    chainId: uint256Text,
    depository: payloadText,
    currency: payloadText,
    amount: uint256Text,
    spender: evmAddressText,
    recipient: payloadText,
    nonce: bytes32Text,
    data: hexText(payloadDataBytesMax),
    signatures: payloadSignaturesSchema,
  }),
  executionHeld,
  evidence,
})

/** `POST /attestations/recover/v1`: returns a deposit of an order that will not be filled. @source rule P-89 */
export const recoveryResponseSchema = z.object({
  execution: executionSchema.optional(),
  executionHeld,
  evidence,
})

const mappingDataBytesMax = 1_024

const mappingResponseSchema = z.object({
  genericMapping: z.object({
    user: evmAddressText,
    id: bytes32Text,
    data: hexText(mappingDataBytesMax),
    nonce: bytes32Text,
    signatures: mappingSignaturesSchema,
  }),
  evidence,
})

/** `POST /attestations/signatures/no-fill-or-refund/v1`. @source rule P-89 */
export const noFillOrRefundResponseSchema = mappingResponseSchema
/** `POST /attestations/signatures/nonce-mapping/v2`. @source rule P-89 */
export const nonceMappingResponseSchema = mappingResponseSchema

export type DepositsResponse = z.infer<typeof depositsResponseSchema>
export type WithdrawalsResponse = z.infer<typeof withdrawalsResponseSchema>
export type RequestedWithdrawalsResponse = z.infer<typeof requestedWithdrawalsResponseSchema>
export type FillsResponse = z.infer<typeof fillsResponseSchema>
export type RefundsResponse = z.infer<typeof refundsResponseSchema>
export type WithdrawalInitiationResponse = z.infer<typeof withdrawalInitiationResponseSchema>
export type WithdrawalInitiatedResponse = z.infer<typeof withdrawalInitiatedResponseSchema>
export type RecoveryResponse = z.infer<typeof recoveryResponseSchema>
export type NoFillOrRefundResponse = z.infer<typeof noFillOrRefundResponseSchema>
export type NonceMappingResponse = z.infer<typeof nonceMappingResponseSchema>
