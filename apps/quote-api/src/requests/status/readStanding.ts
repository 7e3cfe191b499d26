import type { Hex, SqlDatabase } from '@causeway/core'
import { z } from 'zod'
import { toBytes } from '../orders/orderColumns.ts'
import { endText, type Reason, reasonText } from './reasons.ts'
import { type Standstill, standstillOf, type Waiting } from './standstill.ts'
import { selectWaiting, type WaitingRow } from './waitingRows.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** One entry of the list of standstills: a request, claim or transaction that makes no progress. */
export type ListedStandstill = Pick<Standstill, 'needsOperator'> & {
  /** Undefined for a claim, and for an unreadable transaction. */
  readonly requestId: Hex | undefined
  /** Id of the claim, or hash of the transaction; undefined for a request. */
  readonly subject: string | undefined
  /** True if a refund stands still, so that `reason` is a problem of the refund. */
  readonly isRefund: boolean
  readonly reason: Reason
  /** The reason in one sentence. */
  readonly meaning: string
  /** The event that ends the standstill, in one sentence. */
  readonly endsBy: string
  /** Account that is to be paid, or that paid, where there is only one. */
  readonly account: string | undefined
  readonly tries: number
  /** Last report of the solver or stored reason. */
  readonly report: string | undefined
  readonly transaction: string | undefined
  /** Public status of the request. */
  readonly status: string | undefined
  readonly originChainId: number | undefined
  readonly destinationChainId: number | undefined
  /** Amount that the sponsor would pay; 0n where the user pays. */
  readonly debitMicroUsd: bigint
  /** Start of the time without progress. */
  readonly since: Date
  /** Time at which it came onto the list. */
  readonly listedAt: Date
}

/** Bounds the query; no operator reads more entries. */
const rowsMax = 10_000

/**
 * Lists all standstills, the longest first. If several parts of a request stand still, it appears once, with the part that
 * waits for an operator or else the oldest one.
 */
export async function listStanding(database: Queries): Promise<readonly ListedStandstill[]> {
  // A condition that all rows fulfil; it takes the place of the one for some ids.
  return readList(database, '$1::bytea[] is null', null)
}

/** Reads the standstills of some requests, by request id. */
export async function readStandingOf(
  database: Queries,
  requestIds: readonly Hex[],
): Promise<ReadonlyMap<string, ListedStandstill>> {
  if (requestIds.length === 0) return new Map()
  const entries = await readList(database, 'w.request_id = any($1::bytea[])', requestIds.map(toBytes))
  return new Map(entries.map((entry) => [entry.requestId ?? '', entry]))
}

async function readList(
  database: Queries,
  condition: string,
  ids: readonly Buffer[] | null,
): Promise<readonly ListedStandstill[]> {
  const rows = await database.query<WaitingRow>(selectWaiting(condition), [ids, rowsMax])
  const listed = rows.flatMap((row) => {
    const entry = fromRow(row)
    return entry.needsOperator || entry.listedAt <= row.now ? [entry] : []
  })
  const shownBySubject = new Map<string, ListedStandstill>()
  for (const entry of listed.toSorted(parkedThenOldest)) {
    const subject = entry.requestId ?? entry.subject ?? ''
    if (!shownBySubject.has(subject)) shownBySubject.set(subject, entry)
  }
  return [...shownBySubject.values()].toSorted(oldestFirst)
}

const oldestFirst = (one: ListedStandstill, other: ListedStandstill) =>
  one.since.getTime() - other.since.getTime()
/** Puts entries that only an operator can end before the others. */
const parkedThenOldest = (one: ListedStandstill, other: ListedStandstill) =>
  Number(other.needsOperator) - Number(one.needsOperator) || oldestFirst(one, other)

const motionsSchema = z.array(z.object({ movedAtMs: z.number(), paceMs: z.number() })).nullable()

function fromRow(row: WaitingRow): ListedStandstill {
  const numberOf = (id: bigint | null) => (id === null ? undefined : Number(id))
  const tries = Number(row.tries)
  const report = row.report ?? undefined
  // CAST: the statement writes only combinations of part and state that the type has.
  const waiting = {
    part: row.part,
    state: row.state,
    sinceMs: row.since.getTime(),
    tries,
    report,
    stop: row.stop ?? undefined,
    chains: motionsSchema.parse(row.motions) ?? [],
  } as Waiting
  const { reason, listedAtMs, needsOperator } = standstillOf(waiting, Number(row.limit_seconds) * 1_000)
  return {
    requestId: row.request_id === null ? undefined : `0x${row.request_id.toString('hex')}`,
    subject: row.subject ?? undefined,
    isRefund: row.kind === 'refund' || reason === 'REFUND_FAILED',
    reason,
    meaning: reasonText(reason),
    needsOperator,
    endsBy:
      reason === 'CHAIN_STOPPED' && row.stop !== null
        ? `${endText(reason)} Its reason: ${row.stop}`
        : endText(reason),
    account: row.account ?? undefined,
    tries,
    report,
    transaction: row.transaction ?? undefined,
    status: row.status ?? undefined,
    originChainId: numberOf(row.origin_chain_id),
    destinationChainId: numberOf(row.destination_chain_id),
    debitMicroUsd: row.debit ?? 0n,
    since: row.since,
    listedAt: new Date(listedAtMs),
  }
}
