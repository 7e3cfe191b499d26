import { addressText, bytes32Text, type Hex, hexText, orderSchema, uint256Text } from '@causeway/core'
import { permitKinds } from '@causeway/families/rules'
import { z } from 'zod'

/** Kinds of work for a solver. */
export const workKinds = ['fill', 'refund', 'permit', 'sweep', 'claim', 'recovery'] as const
export type WorkKind = (typeof workKinds)[number]

const calldataBytesMax = 65_536
const addressBytes = 20
const chainId = z.int().positive()
/** Members of a fill and a refund. */
const target = {
  orderId: bytes32Text,
  chainId,
  fillContract: addressText.optional().describe('The transaction goes here; absent where there is none'),
  deadline: z.int().describe('Unix seconds; nothing may be broadcast after it'),
}
const workCall = z
  .object({ to: addressText, data: hexText(calldataBytesMax), value: uint256Text })
  .meta({ title: 'WorkCall' })
const payment = { recipient: addressText, currency: addressText, amount: uint256Text }
/** The deposit that a sweep makes. */
const deposit = z
  .object({ depository: addressText, orderId: bytes32Text, depositor: addressText })
  .meta({ title: 'SweptDeposit' })

/** Evidence with which a solver checks a payment by itself; absent in items that an older release stored. */
const proof = {
  order: orderSchema.meta({ title: 'Order' }).optional().describe('Its hash is the order id'),
  orderSignature: hexText(65).optional().describe('By the solver of the order'),
  deposits: z
    .array(
      z
        .object({
          chainId,
          transactionId: z.string(),
          onchainIndex: z.string().describe('Tells deposits of one transaction apart'),
        })
        .meta({ title: 'NamedDeposit' }),
    )
    .optional()
    .describe('For the order; of a refund, what it gives back'),
}

/** Pays an order's output in one transaction of the fill contract that ends with the order id. */
export const fillPayloadSchema = z.object({
  ...target,
  payments: z.array(z.object(payment)),
  calls: z.array(workCall).describe('Run by a clone of their own, which the first payment is for'),
  recipient: addressText
    .optional()
    .describe('With calls: gets what they leave over; a part of what the address of their clone is made of'),
  appFees: z
    .array(z.object({ wallet: addressText, amount: uint256Text }))
    .optional()
    .describe('Owed once filled, in the deposit currency'),
  gasCharged: uint256Text.optional().describe('For its gas, in native coin'),
  booking: z.string().optional().describe('Opaque; keep it with the payment'),
  ...proof,
})

/** Refunds a deposit, in the same form as a fill. `replaces`: a sent fill that must never be included any more. */
export const refundPayloadSchema = z.object({
  ...target,
  ...payment,
  replaces: z.string().optional().describe('Transaction of the fill, which must not be broadcast again'),
  endsOrder: z
    .boolean()
    .optional()
    .describe('Nothing is filled for the order any more; otherwise another deposit may still pay for it'),
  ...proof,
})

/** Sends a token owner's permit to the permit router, which makes the order's deposit with it. */
export const permitPayloadSchema = z.object({
  orderId: bytes32Text,
  chainId,
  deadline: z.int().describe('Unix seconds; the signature is worth nothing from then on'),
  permitRouter: addressText.describe('The transaction goes here'),
  permitKind: z.enum(permitKinds),
  token: addressText,
  owner: addressText,
  amount: uint256Text,
  signature: hexText(calldataBytesMax),
  relayer: addressText.optional().describe('Of `permit2`: the only account that can send it'),
  calls: z.array(workCall).optional().describe('Of `permit2`: what the router is told to run'),
})

/** Submits calls that a smart account signed, through the multicall, which has no rights. */
export const executePayloadSchema = z.object({
  orderId: bytes32Text,
  chainId,
  deadline: z.int().describe('Unix seconds; nothing may be broadcast after it'),
  permitKind: z.literal('calls'),
  multicall3: addressText.describe('The transaction goes here, with one call'),
  to: addressText,
  data: hexText(calldataBytesMax),
  authorizationList: z
    .array(
      z.object({
        chainId: z.int().min(0),
        address: addressText,
        nonce: z.int().min(0),
        yParity: z.int().min(0).max(1),
        r: bytes32Text,
        s: bytes32Text,
      }),
    )
    .describe('EIP-7702: empty where the account has its code'),
  /** Gas that the solver is to send along; `createTakeCalls` always names it. */
  gasUnits: uint256Text.optional(),
})

const relayPayloadSchema = z.discriminatedUnion('permitKind', [permitPayloadSchema, executePayloadSchema])

const sweepFields = {
  chainId,
  depositAddress: addressText,
  amount: uint256Text.describe('As it was seen; all of it is swept'),
  deadline: target.deadline,
  deposit,
  orderSignature: hexText(65),
  goesBack: z.boolean().optional().describe('To the depositor; nothing is deposited'),
}

/**
 * Empties a deposit address into the depository, by one call of the contract that derived it. In `swap`, the
 * quote swaps `amountIn` of `tokenIn` for at least `amountOutMin` of `tokenOut`. The sweep swaps `amount`, at
 * most `amountIn`, for which the contract demands `amountOutMin * amount / amountIn`, rounded up, whatever
 * `swapData` has the pools' router do. The order's salt ends with the last 12 bytes of the hash of the first
 * five members, as words in this order: whoever signed the order signed the price with it, and only `amount`
 * and `swapData` are chosen when the address is swept.
 */
const contractSweepSchema = z.object({
  ...sweepFields,
  contract: addressText,
  currency: addressText.describe('Swept beside the native coin'),
  terms: z
    .object({ orderSigner: addressText, sweeper: addressText, depositor: addressText, nonce: bytes32Text })
    .describe('What the address is derived from'),
  order: z
    .object({
      version: bytes32Text,
      solverChainId: bytes32Text,
      solver: bytes32Text,
      salt: bytes32Text,
      inputs: bytes32Text,
      output: bytes32Text,
      fees: bytes32Text,
    })
    .describe("Words of the order's struct after its type hash"),
  swap: z
    .object({
      tokenIn: addressText,
      amountIn: uint256Text,
      tokenOut: addressText,
      amountOutMin: uint256Text,
      nonce: bytes32Text,
      amount: uint256Text.describe('Of tokenIn, spent now; the least that it must give is its share'),
      swapData: hexText(calldataBytesMax).describe("For the pools' router"),
    })
    .optional()
    .describe("Swapped before it is deposited; the order's salt commits to all but the last two members"),
})

/** Sweep of an address that is the hash of a script: its outputs are spent by the key that the script names. */
const scriptSweepSchema = z.object({
  ...sweepFields,
  terms: z
    .object({ orderSigner: addressText, sweeper: hexText(33), depositor: addressText, nonce: bytes32Text })
    .describe('What the address is derived from'),
  order: orderSchema.meta({ title: 'Order' }).describe('Its salt begins with 20 bytes that name the address'),
})

export const sweepPayloadSchema = z.union([contractSweepSchema, scriptSweepSchema])

/** Pays app fees out, in the form of a fill whose calldata ends with the claim's id. */
export const claimPayloadSchema = z.object({
  claimId: bytes32Text,
  chainId,
  fillContract: hexText(addressBytes).optional(),
  deadline: target.deadline,
  wallet: addressText.optional(),
  ...payment,
  gasCharged: uint256Text.optional(),
})

/** Gives an order up and brings its deposit, and the promise that it is given up, to the hub. */
const recoveryPayloadSchema = z.object({
  orderId: bytes32Text,
  chainId,
  promise: hexText(65).optional().describe('`NoFillOrRefund`; absent at first'),
  ...proof,
})

export const workPayloadSchemas = {
  fill: fillPayloadSchema,
  refund: refundPayloadSchema,
  permit: relayPayloadSchema,
  sweep: sweepPayloadSchema,
  claim: claimPayloadSchema,
  recovery: recoveryPayloadSchema,
} as const

export type FillPayload = z.output<typeof fillPayloadSchema>
export type ClaimPayload = z.output<typeof claimPayloadSchema>
export type SweepPayload = z.output<typeof sweepPayloadSchema>
export type RefundPayload = z.output<typeof refundPayloadSchema>
export type PermitPayload = z.output<typeof permitPayloadSchema>
export type ExecutePayload = z.output<typeof executePayloadSchema>
export type WorkPayload = { [Kind in WorkKind]: z.output<(typeof workPayloadSchemas)[Kind]> }[WorkKind]

/** Deadline, which permits and submitted calls share. */
export const relayDeadlineSchema = z.object({ deadline: z.int() })

const item = {
  id: z.uuid().meta({ title: 'WorkId' }),
  requestId: bytes32Text.optional().describe('Absent for claims'),
  orderId: bytes32Text.optional(),
  chainId,
  createdAt: z.string().describe('ISO 8601'),
}

/** One open item in the answer to a solver. */
export const openWorkItemSchema = z.discriminatedUnion('kind', [
  z.object({ ...item, kind: z.literal('fill'), payload: fillPayloadSchema }),
  z.object({ ...item, kind: z.literal('refund'), payload: refundPayloadSchema }),
  z.object({ ...item, kind: z.literal('permit'), payload: relayPayloadSchema }),
  z.object({ ...item, kind: z.literal('sweep'), payload: sweepPayloadSchema }),
  z.object({ ...item, kind: z.literal('claim'), payload: claimPayloadSchema }),
  z.object({ ...item, kind: z.literal('recovery'), payload: recoveryPayloadSchema }),
])

/**
 * `open`: offered; `reported`: a solver named its transaction; `done`: that has done it for good; `failed`:
 * given up after a report or the last attempt; `cancelled`: not needed any more.
 */
export type WorkState = 'open' | 'reported' | 'done' | 'failed' | 'cancelled'

/** A stored work item: something that a solver is asked to pay, send or sweep. */
export type WorkItem = {
  readonly id: string
  readonly kind: WorkKind
  readonly requestId: Hex | undefined
  /** Tells items of one kind and request apart, for example the id of the refunded deposit; may be empty. */
  readonly subject: string
  readonly chainId: number
  readonly payload: unknown
  readonly state: WorkState
  /** Reported transaction id, in its canonical spelling. */
  readonly txHash: string | undefined
  /** Unix time after which the reported transaction can have no effect; undefined if no such time was reported. */
  readonly validUntilSeconds: number | undefined
  /** Last reason of a failure or wait. */
  readonly reason: string | undefined
  readonly attempts: number
  /** True if it is not offered, because it would pay a denied account, until an operator releases it. */
  readonly isWithheld: boolean
  /** True if a block has the reported transaction, which pays the item. */
  readonly isIncluded: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
}
