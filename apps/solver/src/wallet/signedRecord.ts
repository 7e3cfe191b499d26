import { join } from 'node:path'
import { z } from 'zod'
import { hexSchema } from '@causeway/localnet'

const rawHex = z
  .string()
  .regex(/^0x([0-9a-f]{2})+$/)
  // CAST: the pattern above is that of Hex.
  .transform((value) => value as `0x${string}`)
const signed = z.object({ raw: rawHex, hash: hexSchema(32) })

const recordSchema = z.object({
  /** Of the work item, or of the chore. */
  id: z.string(),
  /** From 0; the next one begins only after this one can never be mined or has finally failed. */
  attempt: z.number().int().nonnegative(),
  kind: z.enum(['fill', 'refund', 'claim', 'sweep', 'permit', 'chore']),
  orderId: hexSchema(32).optional(),
  chainId: z.number().int().positive(),
  /** Unix seconds after which it must not be mined any more. */
  deadline: z.number().int().optional(),
  nonce: z.number().int().nonnegative(),
  transaction: signed,
  /** Takes the same nonce and does nothing: whichever of the two is mined, the other never is. */
  cancellation: signed.optional(),
  /** Whether it may be sent: the service is asked first, and may have closed the item meanwhile. */
  release: z.enum(['asked', 'given', 'refused']),
  /** Final facts, except `open`. */
  outcome: z.enum(['open', 'done', 'reverted', 'cancelled', 'lost']),
  /** The service was told that the attempt failed. */
  failureReported: z.boolean(),
})

/** One signed transaction of the fill wallet, kept before it is sent. */
export type SignedRecord = z.infer<typeof recordSchema>
export type Signed = z.infer<typeof signed>

/** @throws ZodError when the file is none of this solver's */
export const parseRecord = (json: unknown): SignedRecord => recordSchema.parse(json)

export const recordPath = (directory: string, { id, attempt }: Pick<SignedRecord, 'id' | 'attempt'>) =>
  join(directory, `${id}.${attempt}.json`)
