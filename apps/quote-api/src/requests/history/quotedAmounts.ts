import { sponsoredComponents } from '@causeway/core'
import { z } from 'zod'
import { operations, tradeTypes } from '../../pricing/request.ts'

const integer = z
  .string()
  .regex(/^-?[0-9]+$/)
  .transform(BigInt)

/** A currency's unit and its price in the quote's snapshot. */
const unit = z.object({ decimals: z.number(), usdX18: integer })

/** Column `orders.quoted`: what a quote promised. Written by `toStoredOrder`. */
export const quotedAmountsSchema = z.object({
  operation: z.enum(operations),
  tradeType: z.enum(tradeTypes),
  originCurrency: z.string(),
  destinationCurrency: z.string(),
  amountIn: integer,
  amountOut: integer,
  amountOutMin: integer,
  feeCurrency: z.string(),
  relayerGas: integer,
  relayerService: integer,
  execution: integer,
  swap: integer,
  subsidized: integer,
  appFees: z.array(z.object({ recipient: z.string(), feeBps: z.string(), amount: integer })),
  topupWei: integer,
  /** Gas units of the destination calls; quotes before it was kept count none. */
  callUnits: integer.default(0n),
  slippageBps: z.string(),
  timeEstimateSeconds: z.number(),
  units: z.object({ in: unit, out: unit, fee: unit }),
})

export type QuotedAmounts = z.output<typeof quotedAmountsSchema>

const shares = z.object({ execution: integer, swap: integer, relay: integer, rent: integer })

/** Column `request_sponsorship.quoted`. Written by `toStoredSponsorship`. */
export const quotedSponsorshipSchema = z.object({
  selected: z.array(z.enum(sponsoredComponents)),
  capMicroUsd: integer.optional(),
  capHit: z.boolean(),
  reason: z.string().optional(),
  fees: shares,
  sponsored: shares,
})

export type QuotedSponsorship = z.output<typeof quotedSponsorshipSchema>
