import { type Hex, type InputEntry, type Order, orderSchema } from '@causeway/core'
import { z } from 'zod'
import { hex } from '../work/payloadFields.ts'

/**
 * Content of the request by which oracles attest a payment, without its transaction id. It is kept as JSON in the column
 * `payment.asked`, so that it can be sent once the payment is final.
 */
export type AttestationQuestion = {
  readonly order: Order
  readonly orderSignature: Hex
  readonly inputs: readonly InputEntry[]
  /** Amount of the deposit that it was paid for, or that it gives back. */
  readonly deposited: bigint
  /** Index of the option of the order's input that a refund pays; absent for a fill. */
  readonly refundIndex?: number | undefined
  /** Note that the service has the solver keep with a fill; not part of the question. */
  readonly booking?: string | undefined
}

const questionSchema = z.object({
  order: orderSchema,
  // It is only typed as hex: the solver has verified the signature before it stored it.
  orderSignature: z.string().transform((text): Hex => `0x${text.replace(/^0x/, '')}`),
  inputs: z.array(z.object({ transactionId: z.string(), onchainId: hex(32), inputIndex: z.number() })),
  deposited: z.string().transform(BigInt),
  refundIndex: z.number().optional(),
  booking: z.string().optional(),
})

/** Reads the column `payment.asked`. @throws ZodError when no solver wrote it */
export const parseQuestion = (json: unknown): AttestationQuestion => questionSchema.parse(json)

export function serializeQuestion(question: AttestationQuestion): string {
  return JSON.stringify(question, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}
