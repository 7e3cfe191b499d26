import type { Hex } from '@causeway/core'
import type { RequestStatus } from '../status/requestProgress.ts'
import type { Keyset } from './cursor.ts'

/** Which requests; members that are left out do not restrict. */
export type RequestFilter = {
  /** Made with this key. */
  readonly apiKeyId?: string | undefined
  /** Without quotes that nobody paid. */
  readonly isPaid?: boolean
  readonly id?: Hex | undefined
  readonly orderId?: Hex | undefined
  /** In hex any case. Lists requests that were made with some key. */
  readonly user?: string | undefined
  readonly recipient?: string | undefined
  readonly status?: RequestStatus | undefined
  readonly originChainId?: number | undefined
  readonly destinationChainId?: number | undefined
  /** Hash of any transaction of the request. */
  readonly txHash?: string | undefined
  readonly depositAddress?: string | undefined
  /** Unix seconds, both included. */
  readonly startSeconds?: number | undefined
  readonly endSeconds?: number | undefined
}

export type Page = {
  readonly limit: number
  readonly after: Keyset | undefined
  readonly direction: 'asc' | 'desc'
}

/** A `where` clause whose values stand apart, as parameters from `$1` on. */
export type Where = { readonly text: string; readonly values: readonly unknown[] }

/** Indexes fold everything; only what is written in hex is the same in either case. */
const isSpelled = (column: string, parameter: string): string =>
  `(lower(${column}) = lower(${parameter}) and (${column} = ${parameter} or ${column} like '0x%'))`

/** Condition on `orders o`. */
export const depositAddressIs = (parameter: string): string =>
  `(o.deposit_address is not null and lower(o.deposit_address) = lower(${parameter}))`

/** Condition on `orders o`: somebody paid, or signed what pays. @source Q-102 */
const wasPaid = `(o.status <> 'waiting' or exists (select from deposit_seen where request_id = o.request_id)
  or exists (select from work_item where request_id = o.request_id))`

/** The SQL of a filter over `orders o`. The texts are a closed list: nothing of the caller is in them. */
export function whereOf(filter: RequestFilter, { after, direction }: Page): Where {
  const clauses: string[] = []
  const values: unknown[] = []
  const add = (clause: (parameter: string) => string, value: unknown) => {
    if (value === undefined) return
    values.push(value)
    clauses.push(clause(`$${values.length}`))
  }
  add((p) => `o.api_key_id = ${p}`, filter.apiKeyId)
  add((p) => `o.request_id = ${p}`, filter.id && toBytes(filter.id))
  add((p) => `o.order_id = ${p}`, filter.orderId && toBytes(filter.orderId))
  add((p) => `o.api_key_id is not null and ${isSpelled('o.user_address', p)}`, filter.user)
  add((p) => isSpelled('o.recipient', p), filter.recipient)
  add((p) => `o.status = ${p}`, filter.status)
  add((p) => `o.origin_chain_id = ${p}`, filter.originChainId)
  add((p) => `o.destination_chain_id = ${p}`, filter.destinationChainId)
  add(
    (p) => `o.request_id in (select request_id from request_transaction where ${isSpelled('tx_hash', p)})`,
    filter.txHash,
  )
  add(depositAddressIs, filter.depositAddress)
  add((p) => `o.created_at >= to_timestamp(${p}::bigint)`, filter.startSeconds)
  // The whole last second belongs to the range.
  add((p) => `o.created_at < to_timestamp(${p}::bigint + 1)`, filter.endSeconds)
  if (filter.isPaid === true) clauses.push(wasPaid)
  if (after !== undefined) {
    values.push(after.atMicros, toBytes(after.id))
    const [at, id] = [`$${values.length - 1}`, `$${values.length}`]
    const place = `(timestamptz 'epoch' + ${at}::bigint * interval '1 microsecond', ${id}::bytea)`
    clauses.push(`(o.created_at, o.request_id) ${direction === 'desc' ? '<' : '>'} ${place}`)
  }
  return { text: clauses.length === 0 ? 'true' : clauses.join(' and '), values }
}

function toBytes(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
