import type { Hex } from '@causeway/core'
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

/** Which requests; members that are left out do not restrict. */
export type RequestFilter = {
  /** Made with this key. */
  readonly apiKeyId?: string | undefined
  readonly id?: Hex | undefined
  readonly orderId?: Hex | undefined
  /** In hex any case. Lists requests that were made with some key. */
  readonly user?: string | undefined
  readonly recipient?: string | undefined
  /** Id, user, deposit address, or hash of any transaction. */
  readonly term?: string | undefined
  readonly status?: RequestStatus | undefined
  /** Chosen among requests that failed or were given back. */
  readonly failReason?: string | undefined
  readonly requestType?: RequestType | undefined
  readonly referrer?: string | undefined
  /** Origin or destination. */
  readonly chainId?: number | undefined
  readonly originChainId?: number | undefined
  readonly destinationChainId?: number | undefined
  /** Hash of any transaction of the request; the other name of `txHash`. */
  readonly hash?: string | undefined
  readonly txHash?: string | undefined
  readonly depositTxHash?: string | undefined
  readonly fillTxHash?: string | undefined
  readonly refundTxHash?: string | undefined
  readonly depositAddress?: string | undefined
  /** Unix seconds of what the list is sorted by, both included. */
  readonly startSeconds?: number | undefined
  readonly endSeconds?: number | undefined
}

export const sortKeys = ['createdAt', 'updatedAt'] as const
export type SortKey = (typeof sortKeys)[number]

export type Page = {
  readonly limit: number
  readonly after: Keyset | undefined
  readonly direction: 'asc' | 'desc'
  readonly sortBy: SortKey
}

/** SQL whose values stand apart, as parameters from `$1` on. */
export type Sql = { readonly text: string; readonly values: readonly unknown[] }

/** Columns of `orders o`; the indexes of `updatedAt` have the same words. */
const sortColumns = { createdAt: 'o.created_at', updatedAt: 'coalesce(o.updated_at, o.created_at)' } as const

/** Indexes hold lower case, so both sides are folded for them; only hex may then differ in its case. */
const isSpelled = (column: string, parameter: string): string =>
  `lower(${column}) = lower(${parameter}) and (${column} = ${parameter} or ${column} like '0x%')`

/** An array is read first; the planner may leave a subselect for last, after all requests of the key. */
const hasTransaction = (parameter: string, role?: string): string =>
  `o.request_id = any (array(select request_id from request_transaction
    where ${isSpelled('tx_hash', parameter)}${role === undefined ? '' : ` and role = '${role}'`}))`

/** Condition on `orders o`. */
export const isAtAddress = (parameter: string): string =>
  `o.deposit_address is not null and lower(o.deposit_address) = lower(${parameter})`

/** Conditions of a paid quote, which is a request; two, because each has its own index. */
const paid = [
  `o.status <> 'waiting'`,
  `o.status = 'waiting' and o.request_id = any
    (array(select request_id from deposit_seen where state in ('seen', 'held', 'refund_due')))`,
]

/** A caller who names one of these knows the request, so quotes are listed too. */
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
 * Ids of the requests of a page, and one more than it holds, with `at`, the time that they are sorted by. What
 * no single index answers is several lists, each in order and as long as the page, of which the first are taken.
 * The texts are a closed list: nothing of the caller is in them. Pure.
 * @param changedBeforeMicros of a list by `updatedAt`: nothing that is changed from now on has an earlier time
 */
export function pageSql(filter: RequestFilter, page: Page, changedBeforeMicros?: bigint): Sql {
  const { values, clauses, alternatives } = clausesOf(filter, page, changedBeforeMicros)
  const { direction } = page
  const sort = sortColumns[page.sortBy]
  const limit = `limit $${values.push(page.limit + 1)}`
  const order = (at: string, id: string) => `order by ${at} ${direction}, ${id} ${direction} ${limit}`
  const lists = alternatives.map(
    (more) => `(select o.request_id, ${sort} as at from orders o
      where ${[...clauses, ...more].join(' and ')} ${order(sort, 'o.request_id')})`,
  )
  return {
    text: `select distinct request_id, at from (${lists.join(' union all ')}) found ${order('at', 'request_id')}`,
    values,
  }
}

/** Counts requests, up to `most`. Pure. */
export function countSql(filter: RequestFilter, page: Page, most: number): Sql {
  const { values, clauses, alternatives } = clausesOf(filter, { ...page, after: undefined })
  const limit = `limit $${values.push(most)}`
  const lists = alternatives.map(
    (more) => `(select o.request_id from orders o where ${[...clauses, ...more].join(' and ')} ${limit})`,
  )
  return {
    text: `select count(*) from (select distinct request_id from (${lists.join(' union all ')}) found ${limit}) counted`,
    values,
  }
}

type Clauses = {
  readonly values: unknown[]
  /** All requests fulfil these. */
  readonly clauses: string[]
  /** Each request fulfils one of these. */
  readonly alternatives: readonly (readonly string[])[]
}

function clausesOf(filter: RequestFilter, page: Page, changedBeforeMicros?: bigint): Clauses {
  const values: unknown[] = []
  const clauses: string[] = ['true']
  const add = (clause: (parameter: string) => string, value: unknown): void => {
    if (value !== undefined) clauses.push(clause(`$${values.push(value)}`))
  }
  add((p) => `o.api_key_id = ${p}`, filter.apiKeyId)
  add((p) => `o.request_id = ${p}`, filter.id && toBytes(filter.id))
  add((p) => `o.order_id = ${p}`, filter.orderId && toBytes(filter.orderId))
  add((p) => `o.api_key_id is not null and ${isSpelled('o.user_address', p)}`, filter.user)
  add((p) => isSpelled('o.recipient', p), filter.recipient)
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

  const isLookup = lookups.some((name) => filter[name] !== undefined)
  const whenPaid = isLookup ? ['true'] : paid
  const { chainId, term } = filter
  const chain = chainId === undefined ? undefined : `$${values.push(chainId)}`
  const sides =
    chain === undefined
      ? ['true']
      : [
          `o.origin_chain_id = ${chain}`,
          `o.destination_chain_id = ${chain} and o.origin_chain_id <> ${chain}`,
        ]
  const termClauses = term === undefined ? whenPaid : termCases(term, `$${values.push(term)}`)
  return { values, clauses, alternatives: sides.flatMap((side) => termClauses.map((one) => [side, one])) }
}

/**
 * Range of times that a page lies in. Its beginning has one bound: with two an index may begin at the wider one, and
 * read everything between them. Pure.
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
  const ends = [endMicros, changedBeforeMicros].filter((end) => end !== undefined)
  const [beforeMicros] = ends.toSorted((one, other) => (one < other ? -1 : 1))
  const bounds = { fromMicros, after, beforeMicros }
  if (after === undefined) return bounds
  if (direction === 'desc') {
    const isWithin = beforeMicros === undefined || after.atMicros < beforeMicros
    return { ...bounds, ...(isWithin ? { beforeMicros: undefined } : { after: undefined }) }
  }
  const isWithin = fromMicros === undefined || after.atMicros >= fromMicros
  return { ...bounds, ...(isWithin ? { fromMicros: undefined } : { after: undefined }) }
}

/** Cases that a term may name, each with its index. */
function termCases(term: string, parameter: string): readonly string[] {
  const isId = /^0x[0-9a-f]{64}$/i.test(term)
  return [
    ...(isId ? [`o.request_id = decode(substr(lower(${parameter}), 3), 'hex')`] : []),
    isAtAddress(parameter),
    hasTransaction(parameter),
    ...paid.map((one) => `o.api_key_id is not null and ${isSpelled('o.user_address', parameter)} and ${one}`),
  ]
}

const secondMicros = 1_000_000n

const timeOf = (micros: string): string =>
  `timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`

function toBytes(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
