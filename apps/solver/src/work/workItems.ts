import { type Hex, hex32Pattern, orderSchema } from '@causeway/core'
import { z } from 'zod'
import type { Proof } from '../judge/signedOrder.ts'
import { amount, calldata, hex, spelled } from './payloadFields.ts'
import { type ProgramSweep, permitSchema, type Relay, type ScriptSweep, sweepSchema } from './relays.ts'

/** A fill, refund or claim that a work item asks for: one transaction. Amounts in smallest units. */
export type PaidOrder = {
  readonly kind: 'fill' | 'refund' | 'claim'
  /** Order that the transaction names; for a claim the claim's id. */
  readonly orderId: Hex
  readonly chainId: number
  /** Absent on chains that have none. */
  readonly fillContract?: Hex | undefined
  /** Unix seconds. */
  readonly deadline: number
  readonly payments: readonly {
    readonly recipient: string
    readonly currency: string
    readonly amount: bigint
  }[]
  readonly calls: readonly { readonly to: Hex; readonly data: Hex; readonly value: bigint }[]
  /** With calls: gets what they leave over. */
  readonly recipient?: Hex | undefined
  /** Absent for a claim. A fill or refund without one is refused. */
  readonly proof: Proof | undefined
  /** Fees that a fill leaves owed in the currency of its deposit, or that a claim takes. */
  readonly appFees?: readonly { readonly wallet: Hex; readonly amount: bigint }[] | undefined
  /** Network fee charged for a fill or claim, which bounds its cost; in smallest units of the native coin. */
  readonly gasCharged?: bigint | undefined
  /** Note that the service has the solver keep with a fill, to be shown if the service loses its own records. */
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

/** Each deposit that an item names is read from a chain, so their number is bounded. */
const depositsMax = 4
const appFeesMax = 10
/** Most characters of the note that the service may have kept with a fill. */
const bookingMax = 1_000

/** Fields that a fill and a refund share. */
const orderFields = {
  orderId: hex(32),
  chainId: z.coerce.number().int().positive(),
  /** Absent on chains that have none. */
  fillContract: hex(20).optional(),
  deadline: z.coerce.number().int().nonnegative(),
}

/** Evidence that is checked before any payment; a claim has none. */
const proofFields = {
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
type ProofFields = z.output<z.ZodObject<typeof proofFields>>

/** The proof, or undefined where a field of it is missing: half of it proves nothing. */
function toProof({ order, orderSignature, deposits }: ProofFields): Proof | undefined {
  if (order === undefined || orderSignature === undefined || deposits === undefined) return undefined
  return { order, orderSignature, deposits }
}

/** Spellings are compared with the chain's codec later, once the chain is known. */
const paymentFields = { recipient: spelled, currency: spelled, amount }

const payloads = {
  fill: z
    .object({
      ...orderFields,
      payments: z.array(z.object(paymentFields)),
      calls: z.array(z.object({ to: hex(20), data: calldata, value: amount })).default([]),
      recipient: hex(20).optional(),
      appFees: z
        .array(z.object({ wallet: hex(20), amount }))
        .max(appFeesMax)
        .optional(),
      gasCharged: amount.optional(),
      booking: z.string().max(bookingMax).optional(),
      ...proofFields,
    })
    .transform(
      ({ order, orderSignature, deposits, ...fill }): PaidOrder => ({
        kind: 'fill',
        ...fill,
        proof: toProof({ order, orderSignature, deposits }),
      }),
    ),
  refund: z
    .object({
      ...orderFields,
      ...paymentFields,
      endsOrder: z.boolean().optional(),
      ...proofFields,
    })
    .transform(
      ({ recipient, currency, amount: refunded, order, orderSignature, deposits, ...rest }): PaidOrder => ({
        kind: 'refund',
        ...rest,
        payments: [{ recipient, currency, amount: refunded }],
        calls: [],
        proof: toProof({ order, orderSignature, deposits }),
      }),
    ),
  claim: z
    .object({
      claimId: hex(32),
      chainId: orderFields.chainId,
      fillContract: orderFields.fillContract,
      deadline: orderFields.deadline,
      wallet: hex(20).optional(),
      ...paymentFields,
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
  .object({ orderId: hex(32), chainId: orderFields.chainId, promise: hex(65).optional(), ...proofFields })
  .transform(({ order, orderSignature, deposits, ...rest }, context): RecoveryRequest => {
    const proven = toProof({ order, orderSignature, deposits })
    if (proven !== undefined) return { ...rest, proof: proven }
    context.addIssue({ code: 'custom', path: ['order'], message: 'a recovery needs its order' })
    return z.NEVER
  })

const relays = { sweep: sweepSchema, permit: permitSchema } as const

/** For the log alone; other text is left out. */
const loggedId = z.string().regex(hex32Pattern).optional().catch(undefined)

/** A work item as the service lists it. Its id becomes part of URLs and ids of records, so its characters are few. */
const itemSchema = z.object({
  id: z.string().regex(/^[0-9a-zA-Z-]{1,64}$/),
  kind: z.string(),
  requestId: loggedId,
  orderId: loggedId,
  payload: z.unknown(),
})
/** Sentences about settings in which the service and this solver differ; for the log alone. */
export const differencesSchema = z.array(z.string().max(1_000)).max(50).default([]).catch([])
export const workSchema = z.object({ items: z.array(itemSchema), differences: differencesSchema })
export type WorkItem = z.infer<typeof itemSchema>

/** Cursor of a long poll: opaque text that the next request hands back in its URL. */
const known = z
  .string()
  .max(4_000)
  .regex(/^[\w-]*$/)
export const offeredSchema = workSchema.extend({
  known: known.optional().catch(undefined),
})

const awaitedChains = z
  .object({ chainId: z.coerce.number(), deposits: z.array(z.object({ chainId: z.number() })).catch([]) })
  .partial()

/** Chains whose next block may decide what an item waits for: where it is paid, and where its deposits are. */
export function chainsOf({ payload }: WorkItem): readonly number[] {
  const { chainId, deposits = [] } = awaitedChains.catch({}).parse(payload)
  return [...(chainId === undefined ? [] : [chainId]), ...deposits.map((deposit) => deposit.chainId)]
}

/** A parsed work item. `other`: a kind that this solver does not work on; `broken`: a payload with wrong fields. */
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
  return { kind: 'broken', reason: `the payload is wrong at ${fieldsIn(parsed.error.issues).join(', ')}` }
}

/** Fields of issues; where a value is none of several forms, those of the form that it misses least. */
function fieldsIn(issues: readonly z.core.$ZodIssue[]): readonly string[] {
  return issues.flatMap((issue) => {
    const place = issue.path.join('.')
    const forms = issue.code === 'invalid_union' ? issue.errors : []
    const [nearest] = forms.toSorted((one, other) => one.length - other.length)
    if (nearest === undefined) return [place]
    return fieldsIn(nearest).map((field) => (place === '' ? field : `${place}.${field}`))
  })
}
