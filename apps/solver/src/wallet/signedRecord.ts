import { z } from 'zod'
import { amount, calldata, hex } from '../work/payloadFields.ts'

const signed = z.object({
  raw: calldata,
  hash: hex(32),
  /** What a replacement has to bid above. */
  maxFeePerGasWei: amount,
  maxPriorityFeePerGasWei: amount,
  signedAtMs: z.number().int().nonnegative(),
})

const recordKinds = ['fill', 'refund', 'claim', 'sweep', 'permit', 'close', 'chore'] as const

const recordSchema = z.object({
  /** Of the work item, or of the chore. */
  id: z.string(),
  /** From 0; the next one begins only after this one can never be mined or has finally failed. */
  attempt: z.number().int().nonnegative(),
  kind: z.enum(recordKinds),
  /** Of a fill, a refund and a claim: what its payment is known by. */
  orderId: hex(32).optional(),
  chainId: z.number().int().positive(),
  wallet: hex(20),
  /** Unix seconds after which it must not be mined any more. */
  deadline: z.number().int().optional(),
  nonce: z.number().int().nonnegative(),
  /** What every one of `transactions` does. */
  plan: z.object({ to: hex(20), data: calldata, valueWei: amount, gas: amount }),
  /** The same work with rising fees, oldest first: at most one of one nonce is ever mined. */
  transactions: z.array(signed).min(1),
  /** The one that the service was told of last. */
  toldHash: hex(32).optional(),
  /** One that it may have been told of since: kept before it is told, until an answer comes. */
  tellingHash: hex(32).optional(),
  /** Takes the same nonce and does nothing: whichever of the two is mined, the other never is. */
  cancellations: z.array(signed).default([]),
  /** What leaves the wallet when it is mined, gas apart. */
  payments: z.array(z.object({ currency: hex(20), amount })).default([]),
  /** Keys of the deposits that it was paid for, or that it gives back. */
  deposits: z.array(z.string()).default([]),
  /** Whether it may be sent: the service is asked first, and may have closed the item meanwhile. */
  release: z.enum(['asked', 'given', 'refused']),
  /** Final facts, except `open`. */
  outcome: z.enum(['open', 'done', 'reverted', 'cancelled', 'lost']),
  /** The service was told that the attempt failed. */
  failureReported: z.boolean(),
})

/** One nonce of the fill wallet and all that was signed for it, kept before it is sent. */
export type SignedRecord = z.output<typeof recordSchema>
export type Signed = z.output<typeof signed>

/** @throws ZodError when the row is none of this solver's */
export const parseRecord = (json: unknown): SignedRecord => recordSchema.parse(json)

/** Amounts as decimal text, which is how they are parsed. */
export function serializeRecord(record: SignedRecord): string {
  return JSON.stringify(record, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** It has no effect and never will: another attempt may begin. */
export const hasFailed = ({ outcome }: Pick<SignedRecord, 'outcome'>): boolean =>
  outcome === 'reverted' || outcome === 'cancelled' || outcome === 'lost'

/** The newest of several, which bids the most. */
export function newest(list: readonly Signed[]): Signed | undefined {
  return list.at(-1)
}
