import { type Hex, hex32Pattern, orderSchema } from '@causeway/core'
import { z } from 'zod'
import type { Proof } from '../judge/signedOrder.ts'
import { amount, calldata, hex, spelled, transactionId } from './payloadFields.ts'
import { type ProgramSweep, permitSchema, type Relay, type ScriptSweep, sweepSchema } from './relays.ts'

/** Each is read from a chain, so that their number is bounded. */
const depositsMax = 4
const appFeesMax = 10
/** Characters that the service may have kept for it. */
const bookingMax = 1_000

/** Fields that a fill and a refund share. */
const order = {
  orderId: hex(32),
  chainId: z.coerce.number().int().positive(),
  /** Absent on chains that have none. */
  fillContract: hex(20).optional(),
  deadline: z.coerce.number().int().nonnegative(),
}

type ProofFields = z.output<z.ZodObject<typeof proof>>

/** Whole or not at all: half of it proves nothing. */
function toProof({ order, orderSignature, deposits }: ProofFields): Proof | undefined {
  if (order === undefined || orderSignature === undefined || deposits === undefined) return undefined
  return { order, orderSignature, deposits }
}
/** Evidence that is checked before any payment; a claim has none. */
const proof = {
  order: orderSchema.optional(),
  orderSignature: z.string().optional(),
  deposits: z
    .array(
      z.object({
        chainId: z.number().int().positive(),
        transactionId: z.string().min(1).max(200),
        onchainIndex: z.string().max(200),
      }),
    )
    .max(depositsMax)
    .optional(),
}
/** Which spellings are a chain's own, its codec says once the chain is known. */
const payment = { recipient: spelled, currency: spelled, amount }

const payloads = {
  fill: z
    .object({
      ...order,
      payments: z.array(z.object(payment)),
      calls: z.array(z.object({ to: hex(20), data: calldata, value: amount })).default([]),
      recipient: hex(20).optional(),
      appFees: z
        .array(z.object({ wallet: hex(20), amount }))
        .max(appFeesMax)
        .optional(),
      gasCharged: amount.optional(),
      booking: z.string().max(bookingMax).optional(),
      ...proof,
    })
    .transform(
      ({ order: ordered, orderSignature, deposits, ...fill }): PaidOrder => ({
        kind: 'fill',
        ...fill,
        proof: toProof({ order: ordered, orderSignature, deposits }),
      }),
    ),
  refund: z
    .object({
      ...order,
      ...payment,
      replaces: transactionId.optional(),
      endsOrder: z.boolean().optional(),
      ...proof,
    })
    .transform(
      ({
        recipient,
        currency,
        amount: refunded,
        order: ordered,
        orderSignature,
        deposits,
        ...rest
      }): PaidOrder => ({
        kind: 'refund',
        ...rest,
        payments: [{ recipient, currency, amount: refunded }],
        calls: [],
        proof: toProof({ order: ordered, orderSignature, deposits }),
      }),
    ),
  claim: z
    .object({
      claimId: hex(32),
      chainId: order.chainId,
      fillContract: order.fillContract,
      deadline: order.deadline,
      wallet: hex(20).optional(),
      ...payment,
      gasCharged: amount.optional(),
    })
    .transform(
      ({ claimId, wallet, recipient, currency, amount: claimed, ...rest }): PaidOrder => ({
        kind: 'claim',
        orderId: claimId,
        ...rest,
        appFees: wallet === undefined ? [] : [{ wallet, amount: claimed }],
        payments: [{ recipient, currency, amount: claimed }],
        calls: [],
        proof: undefined,
      }),
    ),
} as const

const recoverySchema = z
  .object({ orderId: hex(32), chainId: order.chainId, promise: hex(65).optional(), ...proof })
  .transform(({ order: ordered, orderSignature, deposits, ...rest }, context): RecoveryRequest => {
    const proven = toProof({ order: ordered, orderSignature, deposits })
    if (proven !== undefined) return { ...rest, proof: proven }
    context.addIssue({ code: 'custom', path: ['order'], message: 'a recovery needs its order' })
    return z.NEVER
  })

const relays = { sweep: sweepSchema, permit: permitSchema } as const

/** Payment of one transaction. Amounts in smallest units, deadline in Unix seconds. */
export type PaidOrder = {
  readonly kind: 'fill' | 'refund' | 'claim'
  /** Order that the transaction names; for a claim the claim's id. */
  readonly orderId: Hex
  readonly chainId: number
  /** Absent on chains that have none. */
  readonly fillContract?: Hex | undefined
  readonly deadline: number
  readonly payments: readonly {
    readonly recipient: string
    readonly currency: string
    readonly amount: bigint
  }[]
  readonly calls: readonly { readonly to: Hex; readonly data: Hex; readonly value: bigint }[]
  /** With calls: gets what they leave over. */
  readonly recipient?: Hex | undefined
  /** The fill that a refund replaces, which must never be mined. */
  readonly replaces?: string | undefined
  readonly proof: Proof | undefined
  /** Fees that a fill leaves owed in the currency of its deposit, or that a claim takes. */
  readonly appFees?: readonly { readonly wallet: Hex; readonly amount: bigint }[] | undefined
  /** Network fee that a fill or a claim was charged, in smallest units of the native coin there. */
  readonly gasCharged?: bigint | undefined
  /** The note that the service wants kept with a fill, and shown after it lost its own records. */
  readonly booking?: string | undefined
  /** True for a refund after which the service offers no fill of the order any more, for whatever deposit. */
  readonly endsOrder?: boolean | undefined
}

/** An order to give up, so that the owner of its deposit can recover it. */
export type RecoveryRequest = {
  readonly orderId: Hex
  /** Chain of the deposit. */
  readonly chainId: number
  /** Signature by the order's signer; absent until nothing can be paid any more. */
  readonly promise?: Hex | undefined
  readonly proof: Proof
}

/** For the log alone; what is none is left out. */
const toldId = z.string().regex(hex32Pattern).optional().catch(undefined)

/** An item's id names files, so it is nothing but letters, digits and hyphens. */
const itemSchema = z.object({
  id: z.string().regex(/^[0-9a-zA-Z-]{1,64}$/),
  kind: z.string(),
  requestId: toldId,
  orderId: toldId,
  payload: z.unknown(),
})
/** For the log alone: what the service says that it and this solver differ in. */
export const differencesSchema = z.array(z.string().max(1_000)).max(50).default([]).catch([])
export const workSchema = z.object({ items: z.array(itemSchema), differences: differencesSchema })
export type WorkItem = z.infer<typeof itemSchema>

/** The word of a service that holds questions, which it is told with the next one, in a URL. */
const known = z
  .string()
  .max(4_000)
  .regex(/^[\w-]*$/)
export const offeredSchema = workSchema.extend({
  known: known.optional().catch(undefined),
})

const hanging = z
  .object({ chainId: z.coerce.number(), deposits: z.array(z.object({ chainId: z.number() })).catch([]) })
  .partial()

/** Chains whose next block may decide what an item waits for: where it is paid, and where its deposits are. */
export function chainsOf({ payload }: WorkItem): readonly number[] {
  const { chainId, deposits = [] } = hanging.catch({}).parse(payload)
  return [...(chainId === undefined ? [] : [chainId]), ...deposits.map((deposit) => deposit.chainId)]
}

/** `other`: a kind that this solver has no part in; `broken`: a payload that cannot be paid as it is. */
export type ReadItem =
  | { readonly kind: 'order'; readonly order: PaidOrder }
  | { readonly kind: 'relay'; readonly relay: Relay }
  | { readonly kind: 'sweep'; readonly sweep: ScriptSweep | ProgramSweep }
  | { readonly kind: 'recovery'; readonly recovery: RecoveryRequest }
  | { readonly kind: 'other' }
  | { readonly kind: 'broken'; readonly reason: string }

export function readItem({ kind, payload }: WorkItem): ReadItem {
  if (kind === 'sweep' || kind === 'permit')
    return read<Relay | ScriptSweep | ProgramSweep>(relays[kind].safeParse(payload), (relay) =>
      'transaction' in relay ? { kind: 'relay', relay } : { kind: 'sweep', sweep: relay },
    )
  if (kind === 'recovery')
    return read(recoverySchema.safeParse(payload), (recovery) => ({ kind: 'recovery', recovery }))
  if (kind !== 'fill' && kind !== 'refund' && kind !== 'claim') return { kind: 'other' }
  return read<PaidOrder>(payloads[kind].safeParse(payload), (order) => ({ kind: 'order', order }))
}

function read<Payload>(
  parsed: z.ZodSafeParseResult<Payload>,
  toItem: (payload: Payload) => ReadItem,
): ReadItem {
  if (parsed.success) return toItem(parsed.data)
  const fields = parsed.error.issues.map(({ path }) => path.join('.'))
  return { kind: 'broken', reason: `the payload is wrong at ${fields.join(', ')}` }
}
