import { DomainError, isAnyCaseHex32, type SqlDatabase } from '@causeway/core'
import { toBytes } from '../orders/orderColumns.ts'
import { endStatuses, type RequestStatus } from './requestProgress.ts'
import { readShown, type ShownRow, sentHashes, shownColumns, shownReasons } from './shownReasons.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** No request has this id. */
export class UnknownRequestError extends DomainError {
  readonly code = 'REQUEST_NOT_FOUND'
  readonly kind = 'not_found'

  constructor() {
    super('There is no request with this id.')
  }
}

/** Status of a request as its client polls it. */
export type StatusRecord = {
  readonly status: RequestStatus
  readonly failReason: string | undefined
  readonly refundFailReason: string | undefined
  /** Hashes of deposits, permits and sweeps. */
  readonly inTxHashes: readonly string[]
  /** Hashes of the fill, or of the refund where one came instead, whether only sent or in a block. */
  readonly txHashes: readonly string[]
  readonly originChainId: number
  readonly destinationChainId: number
  readonly createdAtMs: number
  /** End of the quoted price. */
  readonly expiresAtMs: number
  readonly updatedAtMs: number
}

/** Reads the status that every client of a running request polls. */
export interface RequestStatuses {
  /**
   * Status by request id, or by the hash of a deposit transaction that belongs to only one request.
   * @throws UnknownRequestError
   */
  read(identifier: string): Promise<StatusRecord>
}

const select = `
  select o.request_id, o.superseded_by, ${shownColumns}, o.origin_chain_id, o.destination_chain_id,
    floor(extract(epoch from o.created_at) * 1000)::bigint as created_at,
    floor(extract(epoch from o.expires_at) * 1000)::bigint as expires_at,
    floor(extract(epoch from coalesce(o.updated_at, o.created_at)) * 1000)::bigint as updated_at,
    (select json_agg(json_build_array(t.role, t.tx_hash) order by t.seen_at, t.tx_hash)
      from request_transaction t where t.request_id = o.request_id) as transactions
  from orders o where o.request_id = $1`

export function createRequestStatuses({ database }: { database: Queries }): RequestStatuses {
  return {
    async read(identifier) {
      const byId = isAnyCaseHex32(identifier) ? await newestRow(database, toBytes(identifier)) : undefined
      const row = byId ?? (await rowByDeposit(database, identifier))
      if (row === undefined) throw new UnknownRequestError()
      const hashesOf = (wantedRole: string) =>
        (row.transactions ?? []).filter(([role]) => role === wantedRole).map(([, hash]) => hash)
      const standing = await readShown(database, [row])
      const [fills, refunds] = [hashesOf('fill'), hashesOf('refund')]
      // A successful request may also have a refund of its surplus.
      const shownHashes = row.status === 'success' || refunds.length === 0 ? fills : refunds
      return {
        status: row.status,
        ...shownReasons(row, [...standing.values()][0]),
        inTxHashes: [...new Set([...hashesOf('deposit'), ...sentHashes(row, ['permit', 'sweep'])])],
        txHashes: [
          ...new Set([
            ...shownHashes,
            ...(endStatuses.has(row.status) ? [] : sentHashes(row, ['fill', 'refund'])),
          ]),
        ],
        originChainId: Number(row.origin_chain_id),
        destinationChainId: Number(row.destination_chain_id),
        createdAtMs: Number(row.created_at),
        expiresAtMs: Number(row.expires_at),
        updatedAtMs: Number(row.updated_at),
      }
    },
  }
}

/** Row of a request; if a newer one replaced it before it was paid, the row of the newer one, and so on. */
async function newestRow(database: Queries, requestId: Buffer): Promise<StatusRow | undefined> {
  const [row] = await database.query<StatusRow>(select, [requestId])
  const newer = row?.status === 'waiting' ? row.superseded_by : null
  return newer === null ? row : newestRow(database, newer)
}

/** Row by deposit transaction, whose hash older clients send as the id; hex in any case. @source Q-106 */
async function rowByDeposit(database: Queries, txHash: string): Promise<StatusRow | undefined> {
  const rows = await database.query<{ request_id: Buffer }>(
    `select distinct request_id from request_transaction
     where lower(tx_hash) = lower($1) and (tx_hash = $1 or tx_hash ~ '^(0x)?[0-9a-f]+$') and role = 'deposit' limit 2`,
    [txHash],
  )
  const [match, secondMatch] = rows
  return match === undefined || secondMatch !== undefined ? undefined : newestRow(database, match.request_id)
}

type StatusRow = ShownRow & {
  readonly request_id: Buffer
  readonly superseded_by: Buffer | null
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly created_at: bigint
  readonly expires_at: bigint
  readonly updated_at: bigint
  readonly transactions: readonly (readonly [string, string])[] | null
}
