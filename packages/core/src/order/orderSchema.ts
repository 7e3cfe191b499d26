import { z } from 'zod'
import { chainKey } from '../config/scalars.ts'
import type { Hex } from '../hex.ts'
import type { Order } from './order.ts'

/** Most elements of any list of an order: work per order stays bounded. @source design.md 7.2 */
export const orderListMax = 32
const extraDataBytesMax = 1_024
const callBytesMax = 16_384
/** Longest address of any family (a segwit address) with room to spare. */
const addressLengthMax = 128

const uint256MaxText = (2n ** 256n - 1n).toString()
// Compared as text: refinements also run on what the pattern has refused already.
const uint256Text = z
  .string()
  .regex(/^[0-9]{1,78}$/, 'expected a decimal integer')
  .refine(
    (text) => text.length < uint256MaxText.length || text <= uint256MaxText,
    'expected at most 2^256 - 1',
  )
const saltText = z.union([uint256Text, z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, 'expected a uint256')])
const unixSeconds = z.number().int().min(0).max(0xffff_ffff)
const addressText = z.string().min(1).max(addressLengthMax)
const evmAddressText = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'expected 0x and 40 hex digits')

function hexData(bytesMax: number) {
  return z
    .string()
    .max(2 + 2 * bytesMax)
    .regex(/^0x(?:[0-9a-fA-F]{2})*$/, 'expected 0x and whole bytes in hex')
    .transform((text): Hex => `0x${text.slice(2)}`)
}

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
  deadline: unixSeconds,
  extraData: hexData(extraDataBytesMax),
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
 * @source oracle-protocol.md 1.5
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
    calls: list(hexData(callBytesMax)),
    deadline: unixSeconds,
    extraData: hexData(extraDataBytesMax),
  }),
  fees: list(feeSchema),
}) satisfies z.ZodType<Order>
