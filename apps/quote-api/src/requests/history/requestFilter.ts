import type { Hex } from '@causeway/core'
import { toBytes } from '../orders/orderColumns.ts'
import type { RequestStatus } from '../status/requestProgress.ts'
import type { Keyset } from './cursor.ts'

export const requestTypes = [
  'Bridge',
  'Crosschain Swap',
  'Same-chain Swap',
  'Send',
  'Wrap',
  'Unwrap',
  'Call',
] as const
export type RequestType = (typeof requestTypes)[number]

/** Filter of a list of requests; members that are left out do not restrict it. */
export type RequestFilter = {
  /** API key that the request was made with. */
  readonly apiKeyId?: string | undefined
  readonly id?: Hex | undefined
  readonly orderId?: Hex | undefined
  /** Hex in any case. Requests made without a key are left out, because no index of users has them. */
  readonly user?: string | undefined
  readonly recipient?: string | undefined
  /** Search term: request id, user, deposit address, or hash of any transaction. */
  readonly term?: string | undefined
  readonly status?: RequestStatus | undefined
  /** Matches only requests that failed or were refunded; `UNKNOWN` those without a stored reason. */
  readonly failReason?: string | undefined
  readonly requestType?: RequestType | undefined
  readonly referrer?: string | undefined
  /** Origin or destination. */
  readonly chainId?: number | undefined
  readonly originChainId?: number | undefined
  readonly destinationChainId?: number | undefined
  /** Hash of any transaction of the request; callers may also name it `txHash`. */
  readonly hash?: string | undefined
  readonly txHash?: string | undefined
  readonly depositTxHash?: string | undefined
  readonly fillTxHash?: string | undefined
  readonly refundTxHash?: string | undefined
  readonly depositAddress?: string | undefined
  /** Bounds, both included, of the time by which the list is sorted, in Unix seconds. */
  readonly startSeconds?: number | undefined
  readonly endSeconds?: number | undefined
}

export const sortKeys = ['createdAt', 'updatedAt'] as const
export type SortKey = (typeof sortKeys)[number]

/** One page of a list. */
export type Page = {
  readonly limit: number
  /** Last entry of the page before; undefined for the first page. */
  readonly after: Keyset | undefined
  readonly direction: 'asc' | 'desc'
  readonly sortBy: SortKey
}

/** SQL text and the values of its parameters, from `$1` on. */
export type Sql = { readonly text: string; readonly values: readonly unknown[] }

/** Sort expressions on `orders o`. That of `updatedAt` must be spelled as in its indexes. */
const sortColumns = { createdAt: 'o.created_at', updatedAt: 'coalesce(o.updated_at, o.created_at)' } as const

/** SQL equality that ignores the case of hex only. The first half uses the indexes, which hold lower case. */
const equalsText = (column: string, parameter: string): string =>
  `lower(${column}) = lower(${parameter}) and (${column} = ${parameter} or ${column} like '0x%')`

/** SQL condition. The array makes PostgreSQL find the transaction first, before it reads all requests of a key. */
const hasTransaction = (parameter: string, role?: string): string =>
  `o.request_id = any (array(select request_id from request_transaction
    where ${equalsText('tx_hash', parameter)}${role === undefined ? '' : ` and role = '${role}'`}))`

/** SQL condition that a row of `orders o` belongs to a deposit address. */
export const isAtAddress = (parameter: string): string =>
  `o.deposit_address is not null and lower(o.deposit_address) = lower(${parameter})`

/** A quote is listed as a request once it is paid for, by either of these conditions, each with its own index. */
const paidClauses = [
  `o.status <> 'waiting'`,
  `o.status = 'waiting' and o.request_id = any
    (array(select request_id from deposit_seen where state in ('seen', 'held', 'refund_due')))`,
]

/** A caller who names one of these already knows the request, so unpaid quotes are listed too. */
const lookups = [
  'id',
  'orderId',
  'hash',
  'txHash',
  'depositTxHash',
  'fillTxHash',
  'refundTxHash',
  'depositAddress',
] as const

/**
 * SQL that selects the request ids of a page, and one more if there is a next page, each with its sort time `at`. A filter
 * that no single index answers becomes a union of lists, each sorted and as long as the page, whose first entries are
 * taken. The text never contains anything that the caller sent. Pure.
 * @param changedBeforeMicros for a list by `updatedAt`: a time that all future changes are later than, so that a page skips
 * no row whose transaction is not committed yet
 */
export function pageSql(filter: RequestFilter, page: Page, changedBeforeMicros?: bigint): Sql {
  const { values, clauses, alternatives } = clausesOf(filter, page, changedBeforeMicros)
  const { direction } = page
  const sort = sortColumns[page.sortBy]
  const limit = `limit $${values.push(page.limit + 1)}`
  const order = (at: string, id: string) => `order by ${at} ${direction}, ${id} ${direction} ${limit}`
  const lists = alternatives.map(
    (alternative) => `(select o.request_id, ${sort} as at from orders o
      where ${[...clauses, ...alternative].join(' and ')} ${order(sort, 'o.request_id')})`,
  )
  return {
    text: `select distinct request_id, at from (${lists.join(' union all ')}) found ${order('at', 'request_id')}`,
    values,
  }
}

/** SQL that counts requests, up to `most`. Pure. */
export function countSql(filter: RequestFilter, page: Page, most: number): Sql {
  const { values, clauses, alternatives } = clausesOf(filter, { ...page, after: undefined })
  const limit = `limit $${values.push(most)}`
  const lists = alternatives.map(
    (alternative) =>
      `(select o.request_id from orders o where ${[...clauses, ...alternative].join(' and ')} ${limit})`,
  )
  return {
    text: `select count(*) from (select distinct request_id from (${lists.join(' union all ')}) found ${limit}) counted`,
    values,
  }
}

type Clauses = {
  readonly values: unknown[]
  /** Conditions that all listed requests fulfil. */
  readonly clauses: string[]
  /** Groups of conditions of which each listed request fulfils one. */
  readonly alternatives: readonly (readonly string[])[]
}

/** Conditions of a filter; values are pushed in the order of their parameters. */
function clausesOf(filter: RequestFilter, page: Page, changedBeforeMicros?: bigint): Clauses {
  const values: unknown[] = []
  const clauses: string[] = ['true']
  const add = (clause: (parameter: string) => string, value: unknown): void => {
    if (value !== undefined) clauses.push(clause(`$${values.push(value)}`))
  }
  add((p) => `o.api_key_id = ${p}`, filter.apiKeyId)
  add((p) => `o.request_id = ${p}`, filter.id && toBytes(filter.id))
  add((p) => `o.order_id = ${p}`, filter.orderId && toBytes(filter.orderId))
  add((p) => `o.api_key_id is not null and ${equalsText('o.user_address', p)}`, filter.user)
  add((p) => equalsText('o.recipient', p), filter.recipient)
  add((p) => `o.status = ${p}`, filter.status)
  add(
    (p) => `o.status in ('failure', 'refund') and coalesce(o.fail_reason, 'UNKNOWN') = ${p}`,
    filter.failReason,
  )
  add(
    (p) => `request_type(o.quoted, o.order_data, o.origin_chain_id, o.destination_chain_id) = ${p}`,
    filter.requestType,
  )
  add((p) => `o.quoted ->> 'referrer' = ${p}`, filter.referrer)
  add((p) => `o.origin_chain_id = ${p}`, filter.originChainId)
  add((p) => `o.destination_chain_id = ${p}`, filter.destinationChainId)
  add((p) => hasTransaction(p), filter.hash)
  add((p) => hasTransaction(p), filter.txHash)
  add((p) => hasTransaction(p, 'deposit'), filter.depositTxHash)
  add((p) => hasTransaction(p, 'fill'), filter.fillTxHash)
  add((p) => hasTransaction(p, 'refund'), filter.refundTxHash)
  add(isAtAddress, filter.depositAddress)
  const sort = sortColumns[page.sortBy]
  const { fromMicros, after, beforeMicros } = boundsOf(filter, page, changedBeforeMicros)
  add((p) => `${sort} >= ${timeOf(p)}`, fromMicros)
  add((p) => `${sort} < ${timeOf(p)}`, beforeMicros)
  if (after !== undefined) {
    const id = `$${values.push(toBytes(after.id))}`
    const sign = page.direction === 'desc' ? '<' : '>'
    add((p) => `(${sort}, o.request_id) ${sign} (${timeOf(p)}, ${id}::bytea)`, after.atMicros)
  }
  return { values, clauses, alternatives: alternativesOf(filter, values) }
}

/** One alternative for each side that the chain may be on, and each meaning of the term or way to be paid for. */
function alternativesOf(filter: RequestFilter, values: unknown[]): Clauses['alternatives'] {
  const { chainId, term } = filter
  const chainParameter = chainId === undefined ? undefined : `$${values.push(chainId)}`
  const sideClauses =
    chainParameter === undefined
      ? ['true']
      : [
          `o.origin_chain_id = ${chainParameter}`,
          `o.destination_chain_id = ${chainParameter} and o.origin_chain_id <> ${chainParameter}`,
        ]
  const isLookup = lookups.some((name) => filter[name] !== undefined)
  const paymentClauses = isLookup ? ['true'] : paidClauses
  const termClauses = term === undefined ? paymentClauses : termClausesOf(term, `$${values.push(term)}`)
  return sideClauses.flatMap((side) => termClauses.map((clause) => [side, clause]))
}

/**
 * Range of times of a page. Where the cursor and a bound of the filter both limit where the page begins, only the narrower
 * one is kept: with two, PostgreSQL may start at the wider one and read everything between them. Pure.
 */
function boundsOf(
  filter: RequestFilter,
  { direction, after }: Page,
  changedBeforeMicros: bigint | undefined,
) {
  const { startSeconds, endSeconds } = filter
  const fromMicros = startSeconds === undefined ? undefined : BigInt(startSeconds) * secondMicros
  // The whole last second belongs to the range.
  const endMicros = endSeconds === undefined ? undefined : (BigInt(endSeconds) + 1n) * secondMicros
  const upperBounds = [endMicros, changedBeforeMicros].filter((end) => end !== undefined)
  const [beforeMicros] = upperBounds.toSorted((one, other) => (one < other ? -1 : 1))
  const bounds = { fromMicros, after, beforeMicros }
  if (after === undefined) return bounds
  if (direction === 'desc') {
    const isCursorNarrower = beforeMicros === undefined || after.atMicros < beforeMicros
    return { ...bounds, ...(isCursorNarrower ? { beforeMicros: undefined } : { after: undefined }) }
  }
  const isCursorNarrower = fromMicros === undefined || after.atMicros >= fromMicros
  return { ...bounds, ...(isCursorNarrower ? { fromMicros: undefined } : { after: undefined }) }
}

/**
 * One condition for each meaning that a search term may have, each with its own index. A user's requests are
 * listed only if they are paid; any other term names a request, so that unpaid quotes are found too.
 */
function termClausesOf(term: string, parameter: string): readonly string[] {
  const isId = /^0x[0-9a-f]{64}$/i.test(term)
  return [
    ...(isId ? [`o.request_id = decode(substr(lower(${parameter}), 3), 'hex')`] : []),
    isAtAddress(parameter),
    hasTransaction(parameter),
    ...paidClauses.map(
      (clause) => `o.api_key_id is not null and ${equalsText('o.user_address', parameter)} and ${clause}`,
    ),
  ]
}

const secondMicros = 1_000_000n

const timeOf = (micros: string): string =>
  `timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`
