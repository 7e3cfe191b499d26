import type { SignedTransaction } from '@causeway/families'
import { z } from 'zod'
import { amount, calldata, hex } from '../work/payloadFields.ts'
import { authorizationSchema, orderWords } from '../work/relays.ts'

/** Typed as text, because it is compared with ids of any family. */
const hash = hex(32).transform((value): string => value)

const signedTransaction = z.object({
  raw: calldata,
  hash,
  /** The bid, which a replacement has to exceed. */
  maxFeePerGasWei: amount,
  maxPriorityFeePerGasWei: amount,
  signedAtMs: z.number().int().nonnegative(),
}) satisfies z.ZodType<SignedTransaction>

const recordKinds = ['fill', 'refund', 'claim', 'sweep', 'permit', 'close', 'chore'] as const

/** Members of every record, whatever its chain. Records of older releases lack those with a default. */
const shared = {
  /** Id of the work item, or of the chore. */
  id: z.string(),
  /** Number of the attempt, from 0. The next one begins only after this one has failed for good. */
  attempt: z.number().int().nonnegative(),
  kind: z.enum(recordKinds),
  /** Id by which the payment of a fill, a refund or a claim is known. */
  orderId: hex(32).optional(),
  chainId: z.number().int().positive(),
  /** Unix seconds; a transaction that is not mined by then is given up. */
  deadline: z.number().int().optional(),
  /** Nonce of its transactions; on a chain without nonces a running number, by which records are ordered. */
  nonce: z.number().int().nonnegative(),
  /** Amounts that leave the wallet once it is mined, without gas. */
  payments: z.array(z.object({ currency: z.string(), amount })).default([]),
  /** Keys of the deposits that it was paid for, or that it gives back. */
  deposits: z.array(z.string()).default([]),
  /** True for a refund whose deposit leaves the wallet less than its gas. */
  isUnderpaid: z.boolean().optional(),
  /**
   * Permission to send: `asked` until the service has answered; `refused` if it had closed the item, or the
   * solver gave the record up. Chores and closings, which it does not know, are `given` from the start.
   */
  release: z.enum(['asked', 'given', 'refused']),
  /** Its end by final facts; `open` until then. `lost`: another transaction took its nonce or its output, or its time is over. */
  outcome: z.enum(['open', 'done', 'reverted', 'cancelled', 'lost']),
  /** True once the failure was reported to the service. */
  failureReported: z.boolean(),
}

const recordSchema = z.object({
  ...shared,
  wallet: hex(20),
  /** Content of every one of `transactions`. */
  plan: z.object({
    to: hex(20),
    data: calldata,
    valueWei: amount,
    gas: amount,
    authorizationList: z.array(authorizationSchema).readonly().optional(),
  }),
  /** Transactions of this content with rising fees, oldest first: at most one per nonce is ever mined. */
  transactions: z.array(signedTransaction).min(1),
  /**
   * Hash of the one transaction that the service follows and that is sent: its report was answered. Absent
   * until `release` is `given`, and for chores and closings, of which the newest is sent.
   */
  toldHash: hash.optional(),
  /** Hash that is being reported in place of `toldHash`: kept before the report, removed with the answer. */
  tellingHash: hash.optional(),
  /** Transactions of the same nonce that do nothing: once one of them is mined, the payment never is. */
  cancellations: z.array(signedTransaction).default([]),
})

const text = z.string().min(1).max(200)

/** Program of a token, and its decimals. */
const keptToken = z.object({ program: text, decimals: z.number().int().nonnegative() })

const expiringSchema = z.object({
  ...shared,
  wallet: text,
  /** Content and mark of every one of `transactions`: at most one per id ever has an effect. */
  terms: z.object({
    id: hex(32),
    mark: z.enum(['paid', 'closed', 'allowed']),
    orderId: hex(32).optional(),
    allowance: z.object({ currency: text, amount }).optional(),
    deadlineSeconds: z.number().int().nonnegative().optional(),
    /** True: it must create no account, because nobody was charged for the rent. */
    makesNoState: z.boolean().optional(),
    payments: z.array(
      z.object({
        recipient: text,
        currency: text,
        amount,
        token: keptToken.optional(),
      }),
    ),
    emptied: z
      .object({
        address: text,
        currency: text,
        token: keptToken.optional(),
        terms: z.object({ orderSigner: hex(20), sweeper: text, depositor: text, nonce: hex(32) }),
        signed: z.object({ order: orderWords, orderSignature: calldata }).optional(),
      })
      .optional(),
  }),
  /** Units of execution that it may use, and native coin that it locks for ever in state that it creates. */
  units: amount,
  rent: amount,
  /** Transactions with these terms, oldest first: all but the last have expired. */
  transactions: z
    .array(
      z.object({
        raw: calldata,
        hash: text,
        /** Once a final block is higher than this, the transaction can have no effect any more. */
        lastValidHeight: amount,
        fee: amount,
        signedAtMs: z.number().int().nonnegative(),
      }),
    )
    .min(1),
  toldHash: text.optional(),
  tellingHash: text.optional(),
})

/** An output of a transaction, and its amount. */
const outputSchema = z.object({ txid: text, vout: z.number().int().nonnegative(), value: amount })

const lineTransaction = z.object({
  raw: calldata,
  hash: text,
  /** The place of the wallet's line that it spends, and other outputs that it takes into the line. */
  parent: outputSchema,
  gathered: z.array(outputSchema).default([]),
  /** Amount of its first output, which continues the line. */
  left: amount,
  fee: amount,
  virtualBytes: z.number().int().positive(),
  signedAtMs: z.number().int().nonnegative(),
})

const lineSchema = z.object({
  ...shared,
  wallet: text,
  /** Content and mark of every one of `transactions`: at most one per id is ever mined. */
  line: z.object({
    mark: z.object({ kind: z.enum(['paid', 'closed']), id: hex(32) }).optional(),
    orderId: hex(32).optional(),
    payments: z.array(z.object({ recipient: text, amount })),
    swept: z.object({ script: calldata, nonce: hex(32), outputs: z.array(outputSchema) }).optional(),
  }),
  /** Transactions of this content, oldest first: each for a higher fee, or at a newer place in the line. */
  transactions: z.array(lineTransaction).min(1),
  toldHash: text.optional(),
  tellingHash: text.optional(),
  /** Transactions that spend the same place and pay nothing. */
  cancellations: z.array(lineTransaction).default([]),
})

/** Record on a chain with nonces: one nonce of the fill wallet and all transactions that were signed for it. */
export type SignedRecord = z.output<typeof recordSchema>
/** Record on a chain whose transactions expire: one payment or other work, and all that was signed for it. */
export type ExpiringRecord = z.output<typeof expiringSchema>
/** Record on a chain that keeps coins in outputs: one step of the wallet's line, and all transactions signed for it. */
export type LineRecord = z.output<typeof lineSchema>
/** A record of any kind of chain. Kept before anything of it is sent. */
export type KeptRecord = SignedRecord | ExpiringRecord | LineRecord

/** Reads a row's JSON; its members tell the kind of chain. @throws ZodError when no solver wrote it */
export function parseRecord(json: unknown): KeptRecord {
  const has = (member: string) => typeof json === 'object' && json !== null && member in json
  if (has('line')) return lineSchema.parse(json)
  return has('terms') ? expiringSchema.parse(json) : recordSchema.parse(json)
}

/** JSON of a record, with amounts as decimal text. */
export function serializeRecord(record: KeptRecord): string {
  return JSON.stringify(record, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** True if none of its transactions has an effect or ever will: another attempt may begin. */
export const hasFailed = ({ outcome }: Pick<KeptRecord, 'outcome'>): boolean =>
  outcome === 'reverted' || outcome === 'cancelled' || outcome === 'lost'

/** The last of a record's transactions: it bids the most, expires last, or spends the newest place. */
export function newest<Transaction>(list: readonly Transaction[]): Transaction | undefined {
  return list.at(-1)
}
