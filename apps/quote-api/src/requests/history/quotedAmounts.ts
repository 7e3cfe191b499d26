import { sponsoredComponents } from '@causeway/core'
import { z } from 'zod'
import { operations, tradeTypes } from '../../pricing/request.ts'
import { rewardRow } from '../orders/boundRewards.ts'
import {
  feesFromRow,
  feesRowFields,
  storedInteger as integer,
  storedSharesSchema,
} from '../orders/storedFees.ts'

/** A currency's decimals, and the price of one unit in the quote's snapshot. */
const unit = z.object({ decimals: z.number(), usdX18: integer })

/** Amounts are in smallest units; missing members get defaults, because older quotes lack them. */
const quotedRow = z.object({
  operation: z.enum(operations),
  tradeType: z.enum(tradeTypes),
  originCurrency: z.string(),
  destinationCurrency: z.string(),
  amountIn: integer,
  amountOut: integer,
  amountOutMin: integer,
  feeCurrency: z.string(),
  ...feesRowFields,
  /** Part of the fees that a sponsor pays, in smallest units of the fee currency. */
  subsidized: integer,
  appFees: z.array(z.object({ recipient: z.string(), feeBps: z.string(), amount: integer })),
  topupWei: integer,
  /** Gas units of the destination calls. */
  callUnits: integer.default(0n),
  /** Bytes of the destination calls. */
  callBytes: integer.default(0n),
  /** Gas units that the recipient's own code takes. */
  payeeUnits: integer.default(0n),
  /** Charge for the fill's network fee, in the destination's native coin; absent in older quotes. */
  gasCharged: integer.optional(),
  /** Gas that a user's account takes beside its calls; none where the user sends the deposit. */
  originGasOverhead: integer.default(0n),
  slippageBps: z.string(),
  timeEstimateSeconds: z.number(),
  units: z.object({ in: unit, out: unit, fee: unit }),
  /** Present where the quote earns a reward for evening out inventory. */
  reward: rewardRow.optional(),
  referrer: z.string().optional(),
  referrerAddress: z.string().optional(),
})

/** Shape of column `orders.quoted`, which `toStoredOrder` writes: what a quote promised, with its fees. */
export const quotedAmountsSchema = quotedRow.transform((row) => {
  const appFeesTotal = row.appFees.reduce((sum, { amount }) => sum + amount, 0n)
  return { ...row, fees: feesFromRow(row, appFeesTotal) }
})

export type QuotedAmounts = z.output<typeof quotedAmountsSchema>

/** Shape of column `request_sponsorship.quoted`, which `toStoredSponsorship` writes: how a sponsor shares the fees. */
export const quotedSponsorshipSchema = z.object({
  selected: z.array(z.enum(sponsoredComponents)),
  capMicroUsd: integer.optional(),
  capHit: z.boolean(),
  reason: z.string().optional(),
  fees: storedSharesSchema,
  sponsored: storedSharesSchema,
})

export type QuotedSponsorship = z.output<typeof quotedSponsorshipSchema>
