import { withdrawalAddressRequestSchema, withdrawalBytesMax } from '@causeway/attestations'
import {
  addressText,
  bytes32Text,
  evmAddressText,
  type Hex,
  hexText,
  orderListMax,
  orderSchema,
  uint32Number,
  uint64Text,
  uint256Text,
} from '@causeway/core'
import { z } from 'zod'
import {
  depositsExample,
  fillsExample,
  noFillOrRefundExample,
  nonceMappingExample,
  publishedExample,
  recoveryExample,
  refundsExample,
  requestedWithdrawalsExample,
  withdrawalFlowExample,
  withdrawalsExample,
} from './requestExamples.ts'

/**
 * Schemas of the bodies of attestation routes. Unknown fields are dropped. Hex that is hashed as bytes is
 * lower-cased, so that equal requests have equal answers; addresses keep their spelling and are checked where
 * their family is known. @source rules P-89, P-127
 */
const chainId = z.string().min(1).max(64).describe('String id of a chain of `GET /chains/v1`')
const transactionId = z.string().min(1).max(256).describe("Transaction id in its family's spelling")
const integerText = z.union([
  uint256Text,
  z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, 'must be 0x and 1 to 64 hex digits'),
])
const signatureBytesMax = 1_024
/** Signatures that an owner's contract checks may be long, e.g. those of many keys, or of a passkey. @source rule P-80 */
const ownerSignatureBytesMax = 4_096

const lowerCase = (hex: Hex): Hex => `0x${hex.slice(2).toLowerCase()}`
const bytes32 = bytes32Text.transform(lowerCase)

/** Switches that every route takes. */
const switches = {
  requestPeerSignatures: z.boolean().optional().describe('Ask the peers of this oracle to sign as well'),
  includeEvidence: z
    .boolean()
    .optional()
    .describe('Add where the facts were read: blocks, finality rule, agreeing endpoints. Never signed'),
}
const force = z
  .boolean()
  .optional()
  .describe(
    "Settle by the deposits alone. Needs a valid API key, not a peer's; never relaxes finality or quorum",
  )

export const depositsRequestSchema = z
  .object({
    chainId,
    transactionId,
    mode: z.enum(['slow', 'fast']).optional().describe('`slow` is the only mode; `fast` is refused'),
    ...switches,
  })
  .refine(({ mode }) => mode !== 'fast', { path: ['mode'], message: 'must be "slow"' })
  .meta(publishedExample(depositsExample))

/** 32 bytes, decimal or hex. */
const withdrawalNonce = integerText.describe('uint256, decimal or 0x hex')

export const withdrawalsRequestSchema = z
  .object({
    chainId,
    withdrawal: hexText(withdrawalBytesMax).transform(lowerCase).describe('The encoded withdrawal'),
    transactionId: transactionId
      .optional()
      .describe('The executing transaction; without it an executed withdrawal has no execution'),
    withdrawalAddressRequest: withdrawalAddressRequestSchema
      .extend({ withdrawalNonce })
      .optional()
      .describe('Names the withdrawal address to settle; without it there is no execution'),
    ...switches,
  })
  .meta(publishedExample(withdrawalsExample))

const settlement = {
  order: orderSchema,
  orderSignature: hexText(signatureBytesMax)
    .transform(lowerCase)
    .describe("The solver's EIP-191 signature of the order id"),
}

/** Hints tell a reader where to look first, to save calls. A wrong one changes no answer. Never signed. */
const hints = z
  .object({
    'hyperliquid-vm': z
      .object({
        user: addressText.describe('Sender or recipient of the transfer'),
        timestamp: z.number().int().min(0).describe('Milliseconds since 1970'),
      })
      .optional(),
  })
  .describe('Where to look for the transfer, besides under its transaction id')

const inputEntry = z.object({ transactionId, onchainId: bytes32, inputIndex: uint32Number })

export const fillsRequestSchema = z
  .object({
    ...settlement,
    inputs: z.array(inputEntry).max(orderListMax),
    fill: z.object({ transactionId }),
    hints: hints.optional(),
    force,
    ...switches,
  })
  .meta(publishedExample(fillsExample))

export const refundsRequestSchema = z
  .object({
    ...settlement,
    inputs: z
      .array(
        inputEntry.extend({
          chainId: chainId.optional().describe('Where the deposit happened; counts with `force` alone'),
        }),
      )
      .max(orderListMax),
    refunds: z
      .array(
        z.object({
          transactionId,
          inputIndex: uint32Number,
          refundIndex: uint32Number,
          hints: hints.optional(),
        }),
      )
      .max(orderListMax),
    hints: hints.optional().meta({ description: 'Of every refund that has none of its own' }),
    force,
    ...switches,
  })
  .meta(publishedExample(refundsExample))

/** Members that single families need for a withdrawal; the owner's signature covers them as they were sent. */
const additionalData = z.object({
  'bitcoin-vm': z
    .object({
      allocatorUtxos: z
        .array(z.object({ txid: z.string().max(64), vout: uint32Number, value: uint64Text }))
        .max(256),
      feeRate: uint64Text,
    })
    .optional(),
  'hyperliquid-vm': z
    .object({ currencyHyperliquidSymbol: z.string().max(64), currentTime: uint64Text })
    .optional(),
  'lighter-vm': z
    .object({
      nonce: uint64Text,
      fromRouteType: uint64Text,
      toRouteType: uint64Text,
      apiKeyIndex: uint64Text,
      usdcFee: uint64Text,
      memo: z.string().max(256),
      assetIndex: uint64Text,
    })
    .optional(),
})

/** Hex with or without `0x`, as wallets of different families write it. @source rule P-111 */
const ownerSignature = z
  .string()
  .regex(
    new RegExp(`^(?:0x)?(?:[0-9a-fA-F]{2}){0,${ownerSignatureBytesMax}}$`),
    `must be at most ${ownerSignatureBytesMax} whole bytes in hex`,
  )
  .transform((text): Hex => `0x${text.replace(/^0x/, '').toLowerCase()}`)
  .describe(
    "The owner's signature over the SHA-256 of the request as canonical JSON; `0x` may be left out; of code by ERC-1271",
  )

const withdrawalFlow = z.object({
  chainId,
  depository: addressText.optional().describe('Default: the primary depository of the chain'),
  currency: addressText,
  amount: uint256Text,
  ownerChainId: chainId.describe('Chain of the account that owns the balance on the hub'),
  owner: addressText,
  ownerSignature,
  recipient: addressText,
  nonce: withdrawalNonce,
  additionalData: additionalData.optional(),
  ...switches,
})

/** Body of the withdrawal-address routes. @source rule P-89 */
export const withdrawalFlowRequestSchema = withdrawalFlow.meta(publishedExample(withdrawalFlowExample))

/** Body of `depository-withdrawals/v2`. @source rule P-89 */
export const requestedWithdrawalsRequestSchema = withdrawalFlow
  .extend({
    transactionId: transactionId
      .optional()
      .describe('The executing transaction; without it an executed withdrawal has no execution'),
  })
  .meta(publishedExample(requestedWithdrawalsExample))

/** Body of `recover/v1`. The public protocol allows it without the order after a week; this oracle refuses that. */
export const recoveryRequestSchema = z
  .object({
    chainId: chainId.describe('Chain of the deposit'),
    transactionId: transactionId.describe('The transaction that made the deposit'),
    onchainId: bytes32.describe('Of the deposit, as its attestation names it'),
    order: orderSchema
      .optional()
      .describe('The order that the deposit was for; without it nothing goes back'),
    orderSignature: settlement.orderSignature.optional(),
    ...switches,
  })
  .meta(publishedExample(recoveryExample))

/** Body of `signatures/no-fill-or-refund/v1`. @source rule P-89 */
export const noFillOrRefundRequestSchema = z
  .object({
    solverChainId: chainId.describe('Chain of the solver as its order names it, an EVM chain'),
    solver: evmAddressText.transform(lowerCase),
    orderId: bytes32.describe('The order that the solver will neither fill nor refund'),
    signature: hexText(signatureBytesMax)
      .transform(lowerCase)
      .describe("The solver's EIP-712 signature of `NoFillOrRefund`"),
    ...switches,
  })
  .meta(publishedExample(noFillOrRefundExample))

/** Body of `signatures/nonce-mapping/v2`. @source rule P-89 */
export const nonceMappingRequestSchema = z
  .object({
    walletChainId: chainId.describe('Chain of the transfer, one whose transfers name no order'),
    wallet: evmAddressText.transform(lowerCase).describe('Who makes the transfer, and signs this'),
    nonce: uint64Text.describe('Of the transfer'),
    id: bytes32.describe('The order that the transfer is for'),
    depositor: evmAddressText.transform(lowerCase).describe('Whose deposit it is'),
    signatureChainId: chainId.describe('The EVM chain under whose number the wallet signed'),
    signature: hexText(signatureBytesMax)
      .transform(lowerCase)
      .describe("The wallet's EIP-712 signature of `NonceMapping`"),
    ...switches,
  })
  .meta(publishedExample(nonceMappingExample))

export type DepositsRequest = z.infer<typeof depositsRequestSchema>
export type WithdrawalsRequest = z.infer<typeof withdrawalsRequestSchema>
export type FillsRequest = z.infer<typeof fillsRequestSchema>
export type RefundsRequest = z.infer<typeof refundsRequestSchema>
export type RequestedWithdrawalsRequest = z.infer<typeof requestedWithdrawalsRequestSchema>
export type WithdrawalFlowRequest = z.infer<typeof withdrawalFlowRequestSchema>
export type RecoveryRequest = z.infer<typeof recoveryRequestSchema>
export type NoFillOrRefundRequest = z.infer<typeof noFillOrRefundRequestSchema>
export type NonceMappingRequest = z.infer<typeof nonceMappingRequestSchema>
