import { type Hex, isAnyCaseHex32, type SqlDatabase } from '@causeway/core'
import { z } from 'zod'
import { marketBasisSchema } from '../orders/marketBasis.ts'
import { toBytes } from '../orders/orderColumns.ts'
import { readStandingOf } from '../status/readStanding.ts'
import { type RequestStatus, requestStatuses } from '../status/requestProgress.ts'
import { UnknownRequestError } from '../status/requestStatus.ts'
import { workKinds } from '../work/workItem.ts'
import type { Hold, RequestEvent, RequestFacts } from './requestFacts.ts'
import { type Timeline, timelineOf } from './timeline.ts'
import type { CurrencyLookup } from './timelineStep.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** Reads the timeline of a request for routes and operators. */
export interface Timelines {
  /** @throws UnknownRequestError */
  read(requestId: Hex): Promise<Timeline>
}

/** @param options.nowMs default: this machine's clock */
export function createTimelines(options: {
  readonly database: Queries
  readonly nameOf: CurrencyLookup
  readonly nowMs?: () => number
}): Timelines {
  const { database, nameOf, nowMs = Date.now } = options
  return {
    async read(requestId) {
      const facts = await readRequestFacts(database, requestId)
      if (facts === undefined) throw new UnknownRequestError()
      return timelineOf(facts, nowMs(), nameOf)
    },
  }
}

/** A request that an id belongs to, and what kind of id it is. */
export type FoundRequest = { readonly requestId: Hex; readonly by: 'request' | 'order' | 'transaction' }

/** Finds requests by request id, order id or the hash of one of their transactions. */
export async function findRequests(database: Queries, id: string): Promise<readonly FoundRequest[]> {
  const isHash = isAnyCaseHex32(id)
  const rows = await database.query<{ request_id: Buffer; by: FoundRequest['by'] }>(
    `select request_id, 'request' as by from orders where request_id = $1
     union select request_id, 'order' from orders where order_id = $1
     union select request_id, 'transaction' from request_transaction where lower(tx_hash) = lower($2)
     union select request_id, 'transaction' from deposit_seen where tx_hash = any($3)
     union select request_id, 'transaction' from said_transaction where tx_hash = any($3)
     union select request_id, 'transaction' from work_item where tx_hash = any($3) and request_id is not null
     limit 100`,
    // CAST: `isHash` is true for hex only.
    [isHash ? toBytes(id.toLowerCase() as Hex) : null, id, [id, id.toLowerCase()]],
  )
  return rows.map(({ request_id, by }) => ({ requestId: `0x${request_id.toString('hex')}`, by }))
}

const text = z.string()
const chainId = z.number()
const depositSchema = z.object({ chainId, transaction: text, currency: text, amount: text.transform(BigInt) })
const workSchema = z.object({
  kind: z.enum(workKinds),
  chainId,
  transaction: text.nullish().transform((hash) => hash ?? undefined),
  said: text.nullish().transform((report) => report ?? undefined),
})
const transactionSchema = z
  .object({ chainId, transaction: text })
  .transform((evidence) => ({ chainId: evidence.chainId, hash: evidence.transaction }))
/** Only public members of a proof are parsed; an operator's notes in it are not. */
const proofSchema = z.object({
  proof: z
    .object({
      kind: text,
      signatures: z.array(z.object({ signer: text, signature: text })).default([]),
    })
    .nullish()
    .transform((proof) => proof ?? undefined),
})

/** Rows of `request_event`; `evidence` differs by the part of the request that changed. */
const eventSchema = z.discriminatedUnion('part', [
  z.object({
    part: z.literal('deposit'),
    state: z.enum([
      ...(['seen', 'taken', 'refund_due', 'refunded', 'ignored'] as const),
      ...(['orphaned', 'held', 'final', 'lost', 'found'] as const),
    ]),
    evidence: depositSchema,
  }),
  z.object({
    part: z.literal('work'),
    state: z.enum(['open', 'open_again', 'withheld', 'reported', 'reverted', 'done', 'failed', 'cancelled']),
    evidence: workSchema,
  }),
  z.object({
    part: z.literal('stage'),
    state: z.enum(['filling', 'filled', 'refunding', 'settled', 'refunded', 'parked']),
    evidence: proofSchema,
  }),
  z.object({
    part: z.literal('status'),
    state: z.enum(requestStatuses),
  }),
  z.object({
    part: z.literal('transaction'),
    state: z.enum(['deposit', 'fill', 'refund']),
    evidence: transactionSchema,
  }),
  z.object({
    part: z.literal('said'),
    state: z.enum(['said', 'executed', 'reverted', 'other']),
    evidence: transactionSchema,
  }),
  z.object({ part: z.literal('release'), state: z.enum(['release', 'refund']) }),
])

const quotedSchema = z.object({
  originCurrency: text,
  destinationCurrency: text,
  amountIn: text.transform(BigInt),
  amountOut: text.transform(BigInt),
  units: z.object({
    in: z.object({ decimals: z.number(), usdX18: text.transform(BigInt) }),
    out: z.object({ decimals: z.number(), usdX18: text.transform(BigInt) }),
  }),
  market: marketBasisSchema.optional(),
})

const msOf = (column: string) => `floor(extract(epoch from ${column}) * 1000)::bigint`

type OrderRow = {
  readonly order_id: Buffer | null
  readonly status: RequestStatus
  readonly quoted: unknown
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly created_at: bigint
  readonly deadline: bigint
  readonly newer_id: Buffer | null
  readonly newer_at: bigint | null
  /** Last use of the address, after which its money was left there. */
  readonly left_at: bigint | null
  readonly left_reason: string | null
  readonly entered_at: bigint | null
  readonly recoverable_at: bigint | null
}

/** Reads all facts of which a timeline is made; `undefined` for an unknown request. */
async function readRequestFacts(database: Queries, requestId: Hex): Promise<RequestFacts | undefined> {
  const id = toBytes(requestId)
  const [row] = await database.query<OrderRow>(
    `select o.order_id, o.status, o.quoted, o.origin_chain_id, o.destination_chain_id,
       ${msOf('o.created_at')} as created_at, ${msOf('o.deadline')} as deadline,
       n.request_id as newer_id, ${msOf('n.created_at')} as newer_at,
       ${msOf('a.active_at')} as left_at, a.left_reason,
       ${msOf('v.entered_at')} as entered_at, ${msOf('v.recoverable_at')} as recoverable_at
     from orders o left join orders n on n.request_id = o.superseded_by
     left join deposit_address a on a.request_id = o.request_id and a.left_reason is not null
     left join order_recovery v on v.request_id = o.request_id
     where o.request_id = $1 limit 1`,
    [id],
  )
  if (row === undefined) return undefined
  const quoted = quotedSchema.parse(row.quoted)
  return {
    requestId,
    orderId: row.order_id === null ? undefined : `0x${row.order_id.toString('hex')}`,
    status: row.status,
    createdAtMs: Number(row.created_at),
    deadlineMs: Number(row.deadline),
    origin: {
      chainId: Number(row.origin_chain_id),
      currency: quoted.originCurrency,
      amount: quoted.amountIn,
      ...quoted.units.in,
    },
    destination: {
      chainId: Number(row.destination_chain_id),
      currency: quoted.destinationCurrency,
      amount: quoted.amountOut,
      ...quoted.units.out,
    },
    market: quoted.market,
    supersededBy:
      row.newer_id === null
        ? undefined
        : { requestId: `0x${row.newer_id.toString('hex')}`, atMs: Number(row.newer_at) },
    holds: await readHolds(database, id),
    events: await readEvents(database, id),
    standing: (await readStandingOf(database, [requestId])).get(requestId),
    recoverable:
      row.entered_at === null
        ? undefined
        : { atMs: Number(row.entered_at), fromMs: Number(row.recoverable_at) },
    left: row.left_reason === null ? undefined : { atMs: Number(row.left_at), reason: row.left_reason },
  }
}

async function readHolds(database: Queries, id: Buffer): Promise<readonly Hold[]> {
  const rows = await database.query<{
    state: Hold['state']
    amount: bigint
    posted_amount: bigint | null
    created_at: bigint
    resolved_at: bigint | null
  }>(
    `select state, amount, posted_amount, ${msOf('created_at')} as created_at, ${msOf('resolved_at')} as resolved_at
     from hold where request_id = $1 order by attempt`,
    [id],
  )
  return rows.map((row) => ({
    state: row.state,
    amountMicroUsd: row.amount,
    postedMicroUsd: row.posted_amount ?? undefined,
    createdAtMs: Number(row.created_at),
    resolvedAtMs: row.resolved_at === null ? undefined : Number(row.resolved_at),
  }))
}

async function readEvents(database: Queries, id: Buffer): Promise<readonly RequestEvent[]> {
  const rows = await database.query<{
    at: bigint
    part: string
    state: string
    reason: string | null
    evidence: unknown
  }>(
    `select ${msOf('at')} as at, part, state, reason, evidence from request_event where request_id = $1
     order by request_event.at, id`,
    [id],
  )
  return rows.map(({ at, reason, ...row }) => {
    const eventFields = { atMs: Number(at), reason: reason ?? undefined }
    const event = eventSchema.parse(row)
    switch (event.part) {
      case 'deposit':
        return { ...eventFields, part: event.part, state: event.state, deposit: event.evidence }
      case 'work':
        return { ...eventFields, part: event.part, state: event.state, work: event.evidence }
      case 'stage':
        return { ...eventFields, part: event.part, state: event.state, proof: event.evidence.proof }
      case 'transaction':
        return { ...eventFields, part: event.part, state: event.state, transaction: event.evidence }
      case 'said':
        return { ...eventFields, part: event.part, state: event.state, transaction: event.evidence }
      default:
        return { ...eventFields, ...event }
    }
  })
}
