import { z } from 'zod'
import { chainKey } from '../config/scalars.ts'
import { addressText, evmAddressText, hexText, uint32Number, uint256Text } from '../wireScalars.ts'
import type { Order } from './order.ts'

/** Most elements of any list of an order: work per order stays bounded. */
export const orderListMax = 32
const extraDataBytesMax = 1_024
const callBytesMax = 16_384
const saltText = z.union([
  uint256Text,
  z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, 'must be 0x and 1 to 64 hex digits'),
])

function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).max(orderListMax)
}

const paymentSchema = z.object({
  chainId: chainKey,
  currency: addressText,
  amount: uint256Text,
  weight: uint256Text,
})

const refundSchema = z.object({
  chainId: chainKey,
  recipient: addressText,
  currency: addressText,
  minimumAmount: uint256Text,
  deadline: uint32Number,
  extraData: hexText(extraDataBytesMax),
})

const outputPaymentSchema = z.object({
  recipient: addressText,
  currency: addressText,
  minimumAmount: uint256Text,
  expectedAmount: uint256Text,
})

const feeSchema = z.object({
  recipientChainId: chainKey,
  recipient: addressText,
  currencyChainId: chainKey,
  currency: addressText,
  amount: uint256Text,
})

/**
 * An order as it arrives from outside. Spelling is kept, because the order is echoed; unknown fields
 * are dropped. Addresses are checked where their family is known: `orderId` throws for a wrong one,
 * and for nothing else that passes this schema but an unknown chain.
 * @source rule P-89
 */
export const orderSchema = z.object({
  version: z.literal('v1'),
  solverChainId: chainKey,
  solver: evmAddressText,
  salt: saltText,
  inputs: list(z.object({ payment: paymentSchema, refunds: list(refundSchema) })).min(1),
  output: z.object({
    chainId: chainKey,
    payments: list(outputPaymentSchema),
    calls: list(hexText(callBytesMax)),
    deadline: uint32Number,
    extraData: hexText(extraDataBytesMax),
  }),
  fees: list(feeSchema),
}) satisfies z.ZodType<Order>
