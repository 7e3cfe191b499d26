import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import type { DepositAddress, DepositAddressTerms } from '@causeway/families/rules'
import { type DepositSwap, depositSwapToJson } from '../draft/depositAddress.ts'
import { toBytes, toHex } from '../orders/orderColumns.ts'
import { addressesPerPass, laneOfUnpaid, lanes, lanesInOrder, shareOut } from './addressLanes.ts'

type Queries = Pick<SqlDatabase, 'query'>

/**
 * A deposit address as the table `deposit_address` keeps it. Further columns say when and why it is looked
 * at:
 * - `lane`, `look_at`: its priority class (see addressLanes.ts), and the time from which it is due there;
 * - `active_at`: its last use: a quote, a payment, or begin or end of a sweep;
 * - `held_since`, `deep_since`: since when money waits there, and is deep enough; null while none waits;
 * - `left_reason`: why the money stays there, until more arrives or an operator acts;
 * - `transfer_hash`, `transfer_from`, `transfer_amount`: the largest transfer to it since its last sweep.
 */
export type StoredAddress = DepositAddress & {
  readonly chainId: number
  /** The newest request that payments are for. */
  readonly requestId: Hex
  /** Quoted currency, in canonical spelling. */
  readonly currency: string
  /** True for an address of a single use: all money that arrives belongs to its one order. */
  readonly isStrict: boolean
  /** Work item of the sweep under way; undefined without one. */
  readonly sweepId: string | undefined
  /** Number of sweeps so far. */
  readonly sweeps: number
  /** Failed swaps since the last sweep that did not fail. */
  readonly failedSwaps: number
}

/** Keeps a new address with the request that it was quoted for. */
export async function insertAddress(
  tx: SqlTx,
  { address, terms }: DepositAddress,
  request: {
    readonly requestId: Hex
    readonly chainId: number
    readonly currency: string
    /** True for an address of a single use. */
    readonly isStrict: boolean
    /** Quoted amount, in smallest units. */
    readonly askedAmount: bigint
    /** True if the quote was asked for with an API key. */
    readonly isKeyed: boolean
  },
): Promise<void> {
  await tx.query(
    `insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id,
       asked, is_keyed, lane, currency, is_strict)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      address,
      request.chainId,
      terms.orderSigner,
      terms.sweeper,
      terms.depositor,
      toBytes(terms.nonce),
      toBytes(request.requestId),
      request.askedAmount,
      request.isKeyed,
      request.isKeyed ? lanes.keyed : lanes.unpaid,
      request.currency,
      request.isStrict,
    ],
  )
}

/** Stores the address and its swap with the request, so that a payment can find the request by its address. */
export async function nameAddress(
  tx: SqlTx,
  address: string,
  { requestId, depositSwap }: { readonly requestId: Hex; readonly depositSwap: DepositSwap | undefined },
): Promise<void> {
  await tx.query('update orders set deposit_address = $2, deposit_swap = $3 where request_id = $1', [
    toBytes(requestId),
    address,
    depositSwap === undefined ? null : depositSwapToJson(depositSwap),
  ])
}

/** Makes a newer request the one that payments to the address are for; the former, if unpaid, names it. */
export async function supersede(tx: SqlTx, { address, requestId }: StoredAddress, newer: Hex): Promise<void> {
  await tx.query('update deposit_address set request_id = $2 where address = $1', [address, toBytes(newer)])
  // An operator's release covers the money at the address, so it moves on to the request that replaces this one.
  await tx.query(
    `insert into deny_release (request_id, resolution)
     select $2, resolution from deny_release where request_id = $1 on conflict do nothing`,
    [toBytes(requestId), toBytes(newer)],
  )
  await tx.query(
    `update orders set superseded_by = $2, updated_at = clock_timestamp() where request_id = $1
       and status = 'waiting' and not exists (select 1 from settlement s where s.request_id = $1)`,
    [toBytes(requestId), toBytes(newer)],
  )
}

const columns =
  'address, chain_id, order_signer, sweeper, depositor, nonce, request_id, currency, is_strict, sweep_id, sweeps, failed_swaps'

/**
 * Addresses that are to be looked at in this pass, without those that have a sweep under way. Reads at most
 * `addressesPerPass` rows of each lane, however many addresses there are.
 */
export async function listDueAddresses(
  database: Queries,
  chainId: number,
  lanesToRead: readonly number[],
): Promise<readonly StoredAddress[]> {
  // `statement_timestamp()` can be looked up in an index, which `clock_timestamp()` cannot.
  const dueInLane = (lane: number) =>
    `(select ${columns}, lane from deposit_address where chain_id = $1 and lane = ${lane}
        and look_at <= statement_timestamp() and sweep_id is null order by look_at limit ${addressesPerPass})`
  const rows = await database.query<AddressRow & { readonly lane: bigint }>(
    lanesToRead.map(dueInLane).join(' union all '),
    [chainId],
  )
  const byLane = lanesInOrder.map((lane) => rows.filter((row) => Number(row.lane) === lane))
  const places = shareOut(byLane.map(({ length }) => length))
  return byLane.flatMap((dueRows, index) => dueRows.slice(0, places[index])).map(fromRow)
}

/** True if any address of the chain may be paid, however long ago it was quoted. */
export async function hasAddresses(database: Queries, chainId: number): Promise<boolean> {
  // Ordered like the index of due addresses, so that PostgreSQL does not scan those of other chains.
  const rows = await database.query(
    `(select 1 from deposit_address where chain_id = $1 and sweep_id is null order by lane, look_at limit 1)
     union all (select 1 from deposit_address where chain_id = $1 and sweep_id is not null limit 1)`,
    [chainId],
  )
  return rows.length > 0
}

/** Locks the request of an address and then the address, which is the order of all who lock both. */
export async function lockAddress(tx: SqlTx, address: string): Promise<StoredAddress | undefined> {
  await tx.query(
    'select 1 from orders where request_id = (select request_id from deposit_address where address = $1) for update',
    [address],
  )
  const [row] = await tx.query<AddressRow>(
    `select ${columns} from deposit_address where address = $1 for update`,
    [address],
  )
  return row === undefined ? undefined : fromRow(row)
}

/**
 * Locks the addresses until the transaction ends. Every transaction that changes several locks them in this order, so that
 * two never deadlock. @returns those of the addresses that are ours @source F-53
 */
export async function lockAddresses(tx: SqlTx, addresses: readonly string[]): Promise<readonly string[]> {
  const rows = await tx.query<{ address: string }>(
    'select address from deposit_address where address = any($1) order by address collate "C" for update',
    [addresses],
  )
  return rows.map(({ address }) => address)
}

/** The pause is the time since the last use divided by this: addresses long unused are looked at seldom. */
const idleDivisor = 20
const pauseMaxMs = 900_000

/**
 * Schedules the next look at addresses: soon at those in use, seldom at the others. Money at an address keeps
 * it in its lane; without money it falls back to `laneOfUnpaid`, which its key and its last use decide.
 * `held_since` is when money was first found there, and `deep_since` when it was deep enough.
 * @param pauses.leastMs shortest time to the next look
 * @param pauses.keepsLaneMs time after its last use in which an empty address keeps the lane that a block
 * gave it, because balances may lack money that is not final yet
 */
export async function recheckAddressesAfter(
  tx: SqlTx,
  addresses: readonly { readonly address: string; readonly isEmpty: boolean }[],
  pauses: { readonly leastMs: number; readonly keepsLaneMs: number },
): Promise<void> {
  await lockAddresses(
    tx,
    addresses.map(({ address }) => address),
  )
  await tx.query(
    `update deposit_address set look_at = clock_timestamp() + least(interval '1 millisecond' * $3,
       greatest(interval '1 millisecond' * $2, (clock_timestamp() - active_at) / ${idleDivisor})),
       held_since = case when address <> all($4) then coalesce(held_since, clock_timestamp()) end,
       deep_since = case when address <> all($4) then deep_since end,
       lane = case when address = any($4) and active_at <= clock_timestamp() - interval '1 millisecond' * $5
         then ${laneOfUnpaid} else lane end
     where address = any($1)`,
    [
      addresses.map(({ address }) => address),
      Math.ceil(pauses.leastMs),
      pauseMaxMs,
      addresses.filter(({ isEmpty }) => isEmpty).map(({ address }) => address),
      pauses.keepsLaneMs,
    ],
  )
}

/** Marks that the balance of an address is deep enough to be acted on. */
export async function markDeep(tx: SqlTx, address: string): Promise<void> {
  await tx.query(
    'update deposit_address set deep_since = clock_timestamp() where address = $1 and deep_since is null',
    [address],
  )
}

/** Notes the sweep under way for a request, and moves the stored transfer to it, if it has none yet. */
export async function setSweep(
  tx: SqlTx,
  address: string,
  { sweepId, requestId }: { readonly sweepId: string; readonly requestId: Hex },
): Promise<void> {
  await tx.query(
    `insert into address_transfer (request_id, tx_hash, sender)
     select $2, transfer_hash, transfer_from from deposit_address where address = $1 and transfer_hash is not null
     on conflict (request_id) do nothing`,
    [address, toBytes(requestId)],
  )
  await tx.query(
    `update deposit_address set sweep_id = $2, sweeps = sweeps + 1, left_reason = null, transfer_hash = null,
       transfer_from = null, transfer_amount = null, active_at = clock_timestamp() where address = $1`,
    [address, sweepId],
  )
}

/**
 * Notes why the money stays at the address, takes its priority away, and no longer counts it as waiting.
 * @returns true if the reason is new
 */
export async function setLeft(tx: SqlTx, address: string, reason: string): Promise<boolean> {
  const [row] = await tx.query<{ is_news: boolean }>(
    `update deposit_address d set left_reason = $2, held_since = null, deep_since = null, lane = ${laneOfUnpaid}
     from (select left_reason from deposit_address where address = $1) before
     where address = $1 returning before.left_reason is distinct from $2 as is_news`,
    [address, reason],
  )
  return row?.is_news === true
}

/** Puts an address whose money was left there back into the first lane, due at once. */
export async function takeLeftAgain(tx: SqlTx, requestId: Hex): Promise<void> {
  await tx.query(
    `update deposit_address set left_reason = null, lane = ${lanes.paid}, look_at = clock_timestamp(),
       active_at = clock_timestamp() where request_id = $1 and left_reason is not null`,
    [toBytes(requestId)],
  )
}

/** Addresses whose sweep ended, or was not begun before its deadline. */
export async function listEndedSweeps(database: Queries, limit: number): Promise<readonly string[]> {
  const rows = await database.query<{ address: string }>(
    `select d.address from deposit_address d join work_item w on w.id = d.sweep_id
     where d.sweep_id is not null and (w.state in ('done', 'failed', 'cancelled') or (w.state = 'open'
       and (w.payload ->> 'deadline')::numeric < extract(epoch from clock_timestamp())))
     order by w.updated_at limit $1`,
    [limit],
  )
  return rows.map(({ address }) => address)
}

/** Pause after a failed swap, times their number: the market may return to the quoted price. */
const pauseAfterSwap = `interval '5 seconds'`

/**
 * Frees an address after its sweep and schedules a look at what lies there: at once, or later after each failed swap.
 * @param swap `done` if the sweep succeeded, with or without a swap; `failed` if its swap failed; else `none`
 */
export async function clearSweep(
  tx: SqlTx,
  address: string,
  swap: 'failed' | 'done' | 'none',
): Promise<void> {
  await tx.query(
    `update deposit_address set sweep_id = null, active_at = clock_timestamp(), lane = ${lanes.paid},
       held_since = case $2 when 'done' then null else held_since end,
       deep_since = case $2 when 'done' then null else deep_since end,
       failed_swaps = case $2 when 'failed' then failed_swaps + 1 when 'done' then 0 else failed_swaps end,
       look_at = clock_timestamp() + case $2 when 'failed' then ${pauseAfterSwap} * (failed_swaps + 1)
         else interval '0' end
     where address = $1`,
    [address, swap],
  )
}

type AddressRow = {
  readonly address: string
  readonly chain_id: bigint
  readonly order_signer: Hex
  readonly sweeper: string
  readonly depositor: string
  readonly nonce: Buffer
  readonly request_id: Buffer
  readonly currency: string
  readonly is_strict: boolean
  readonly sweep_id: string | null
  readonly sweeps: number
  readonly failed_swaps: number
}

function fromRow(row: AddressRow): StoredAddress {
  const { order_signer: orderSigner, sweeper, depositor } = row
  const terms: DepositAddressTerms = { orderSigner, sweeper, depositor, nonce: toHex(row.nonce) }
  return {
    address: row.address,
    terms,
    chainId: Number(row.chain_id),
    requestId: toHex(row.request_id),
    currency: row.currency,
    isStrict: row.is_strict,
    sweepId: row.sweep_id ?? undefined,
    sweeps: Number(row.sweeps),
    failedSwaps: Number(row.failed_swaps),
  }
}
