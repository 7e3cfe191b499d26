import type { SignedTransaction } from '@causeway/families'
import { z } from 'zod'
import { amount, calldata, hex } from '../work/payloadFields.ts'
import { authorizationSchema, orderWords } from '../work/relays.ts'

/** Compared with what chains and the service say, whatever their families. */
const hash = hex(32).transform((value): string => value)

const signedTransaction = z.object({
  raw: calldata,
  hash,
  /** Fees that a replacement has to exceed. */
  maxFeePerGasWei: amount,
  maxPriorityFeePerGasWei: amount,
  signedAtMs: z.number().int().nonnegative(),
}) satisfies z.ZodType<SignedTransaction>

const recordKinds = ['fill', 'refund', 'claim', 'sweep', 'permit', 'close', 'chore'] as const

/** Members of every record, whatever its chain. */
const shared = {
  /** Id of the work item, or of the chore. */
  id: z.string(),
  /** Number of the attempt from 0; the next one begins only after this one can never be mined or has finally failed. */
  attempt: z.number().int().nonnegative(),
  kind: z.enum(recordKinds),
  /** Id by which the payment of a fill, a refund or a claim is known. */
  orderId: hex(32).optional(),
  chainId: z.number().int().positive(),
  /** Unix seconds after which it must not be mined any more. */
  deadline: z.number().int().optional(),
  /** Nonce of the transaction; on a chain without nonces the next number, which is the order of its line. */
  nonce: z.number().int().nonnegative(),
  /** Amounts that leave the wallet when it is mined, without gas. */
  payments: z.array(z.object({ currency: z.string(), amount })).default([]),
  /** Keys of the deposits that it was paid for, or that it gives back. */
  deposits: z.array(z.string()).default([]),
  /** True for a refund whose deposit leaves the wallet less than its gas. */
  isUnderpaid: z.boolean().optional(),
  /** Permission to send: the service is asked first, and may have closed the item meanwhile. */
  release: z.enum(['asked', 'given', 'refused']),
  /** Final facts, except `open`. */
  outcome: z.enum(['open', 'done', 'reverted', 'cancelled', 'lost']),
  /** The service was told that the attempt failed. */
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
  /** The one that the service was told of last. */
  toldHash: hash.optional(),
  /** One that it may have been told of since: kept before it is told, until an answer comes. */
  tellingHash: hash.optional(),
  /** Takes the same nonce and does nothing: whichever of the two is mined, the other never is. */
  cancellations: z.array(signedTransaction).default([]),
})

const text = z.string().min(1).max(200)

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
    makesNoState: z.boolean().optional(),
    payments: z.array(
      z.object({
        ...{ recipient: text, currency: text, amount },
        token: keptToken.optional(),
      }),
    ),
    emptied: z
      .object({
        ...{ address: text, currency: text, token: keptToken.optional() },
        terms: z.object({ orderSigner: hex(20), sweeper: text, depositor: text, nonce: hex(32) }),
        signed: z.object({ order: orderWords, orderSignature: calldata }).optional(),
      })
      .optional(),
  }),
  units: amount,
  rent: amount,
  /** Transactions with these terms, oldest first: all but the last have expired. */
  transactions: z
    .array(
      z.object({
        ...{ raw: calldata, hash: text, lastValidHeight: amount, fee: amount },
        signedAtMs: z.number().int().nonnegative(),
      }),
    )
    .min(1),
  toldHash: text.optional(),
  tellingHash: text.optional(),
})

const place = z.object({ txid: text, vout: z.number().int().nonnegative(), value: amount })

const lineTransaction = z.object({
  ...{ raw: calldata, hash: text },
  /** The place of the wallet's line that it spends, and other outputs that it takes into the line. */
  ...{ parent: place, gathered: z.array(place).default([]) },
  /** Amount of its first output, which continues the line. */
  ...{ left: amount, fee: amount, virtualBytes: z.number().int().positive() },
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
    swept: z.object({ script: calldata, nonce: hex(32), outputs: z.array(place) }).optional(),
  }),
  /** Transactions of this content, oldest first: each for a higher fee, or at a newer place in the line. */
  transactions: z.array(lineTransaction).min(1),
  toldHash: text.optional(),
  tellingHash: text.optional(),
  /** Take the same place and pay nothing. */
  cancellations: z.array(lineTransaction).default([]),
})

/** One nonce of the fill wallet and all that was signed for it, kept before it is sent. */
export type SignedRecord = z.output<typeof recordSchema>
/** One payment or closing of a fill wallet on a chain whose transactions expire, kept before it is sent. */
export type ExpiringRecord = z.output<typeof expiringSchema>
/** One place in the line of a fill wallet on a chain that keeps coins in outputs, kept before it is sent. */
export type LineRecord = z.output<typeof lineSchema>
/** Record of a signed transaction, on any kind of chain. */
export type KeptRecord = SignedRecord | ExpiringRecord | LineRecord

/** @throws ZodError when the row is none of this solver's */
export function parseRecord(json: unknown): KeptRecord {
  const has = (member: string) => typeof json === 'object' && json !== null && member in json
  if (has('line')) return lineSchema.parse(json)
  return has('terms') ? expiringSchema.parse(json) : recordSchema.parse(json)
}

/** Amounts as decimal text, which is how they are parsed. */
export function serializeRecord(record: KeptRecord): string {
  return JSON.stringify(record, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** True if it has no effect and never will: another attempt may begin. */
export const hasFailed = ({ outcome }: Pick<KeptRecord, 'outcome'>): boolean =>
  outcome === 'reverted' || outcome === 'cancelled' || outcome === 'lost'

/** The newest of several: it bids the most, or is the last to expire. */
export function newest<Transaction>(list: readonly Transaction[]): Transaction | undefined {
  return list.at(-1)
}
