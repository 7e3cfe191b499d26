import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import type { AddressPayments, LargestTransfer, largestTransfers, sumPayments } from '@causeway/families'
import type { DepositAddress, DepositAddressTerms } from '@causeway/families/rules'
import type { BlockCursor } from '../../chainReadings/blockCursor.ts'
import { type DepositSwap, depositSwapToJson } from '../draft/depositAddress.ts'
import { toBytes } from '../orders/orderColumns.ts'
import type { Screening } from '../screening/screenedRequest.ts'

type Queries = Pick<SqlDatabase, 'query'>

/**
 * Priority classes in which deposit addresses wait for their next look, the most urgent first. Stored in the column
 * `lane`. A stranger cannot delay paid addresses by asking for many quotes, or by sending dust.
 */
export const lanes = {
  /** A block paid at least half of the quoted amount, or a sweep ended. */
  paid: 0,
  /** Quoted with a key, and used within the hour. */
  keyed: 1,
  /** A block names the address without such a payment: a token moved there, a call mentions it, or it got dust. */
  named: 2,
  /** Quoted without a key, and used within the hour. */
  unpaid: 3,
  /** Unused for longer than an hour. */
  idle: 4,
} as const

export const lanesInOrder: readonly number[] = Object.values(lanes)
/** The lanes that are read on chains whose blocks show every payment. */
export const paidLanes: readonly number[] = [lanes.paid, lanes.named]

/** Addresses that each lane may look at in a pass whatever the others need, by lane; their sum is a pass at most. */
const guaranteedPlaces: readonly number[] = [120, 60, 30, 20, 20]

/** Addresses whose balances one pass reads; the rest are due in the next pass. */
export const addressesPerPass = 250

/**
 * Shares the places of a pass: each lane gets its guaranteed ones, and the rest go to the lanes by priority.
 * @param due how many are due, by lane @returns how many are looked at, by lane. Pure.
 */
export function shareOut(due: readonly number[]): readonly number[] {
  const guaranteed = due.map((count, lane) => Math.min(count, guaranteedPlaces[lane] ?? 0))
  let remaining = addressesPerPass - guaranteed.reduce((sum, count) => sum + count, 0)
  return guaranteed.map((count, lane) => {
    const more = Math.min((due[lane] ?? 0) - count, remaining)
    remaining -= more
    return count + more
  })
}

/** A deposit address as the table `deposit_address` keeps it. */
export type StoredAddress = DepositAddress & {
  readonly chainId: number
  /** The newest request that payments are for. */
  readonly requestId: Hex
  /** Quoted currency, in canonical spelling. */
  readonly currency: string
  readonly isStrict: boolean
  /** Work item of the sweep under way; undefined without one. */
  readonly sweepId: string | undefined
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

/** Makes a newer request the one that payments to the address are for; an older unpaid one points to it. */
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
  const ofLane = (lane: number) =>
    `(select ${columns}, lane from deposit_address where chain_id = $1 and lane = ${lane}
        and look_at <= statement_timestamp() and sweep_id is null order by look_at limit ${addressesPerPass})`
  const rows = await database.query<AddressRow & { readonly lane: bigint }>(
    lanesToRead.map(ofLane).join(' union all '),
    [chainId],
  )
  const byLane = lanesInOrder.map((lane) => rows.filter((row) => Number(row.lane) === lane))
  const places = shareOut(byLane.map(({ length }) => length))
  return byLane.flatMap((due, lane) => due.slice(0, places[lane])).map(fromRow)
}

/** Addresses of one statement: few enough for PostgreSQL to use the index instead of scanning the table. */
const addressesPerStatement = 500

/**
 * Locks the addresses until the transaction ends. Every transaction that changes several locks them in this order, so that
 * two never deadlock. @returns those of the addresses that are ours @source F-53
 */
async function lockAddresses(tx: SqlTx, addresses: readonly string[]): Promise<readonly string[]> {
  const rows = await tx.query<{ address: string }>(
    'select address from deposit_address where address = any($1) order by address collate "C" for update',
    [addresses],
  )
  return rows.map(({ address }) => address)
}

/**
 * Moves the addresses that blocks pay or name to a more urgent lane. Less than half of the quoted amount, or another
 * currency, may be a stranger's dust: such an address stays behind the paid ones.
 * @param mentioned.paid paid amounts by address and currency; other addresses of the chain are ignored
 * @returns the number of our addresses among them
 */
export async function markPaid(
  tx: SqlTx,
  chainId: number,
  {
    paid,
    named,
    transfers = new Map(),
  }: Pick<AddressPayments, 'named'> & {
    readonly paid: ReturnType<typeof sumPayments>
    readonly transfers?: ReturnType<typeof largestTransfers>
  },
): Promise<number> {
  // One row per address, because an `update ... from` with two would apply an arbitrary one.
  const mentions = [
    ...[...paid].map(([address, amounts]) => {
      return { address, amounts: toJson(amounts), transfers: transfersToJson(transfers.get(address)) }
    }),
    ...named
      .filter((address) => !paid.has(address))
      .map((address) => ({ address, amounts: '{}', transfers: '{}' })),
  ].toSorted((one, other) => (one.address < other.address ? -1 : 1))
  const paidAmount = 'coalesce((p.amounts ->> d.currency)::numeric, 0)'
  let markedCount = 0
  for (let next = 0; next < mentions.length; next += addressesPerStatement) {
    const batch = mentions.slice(next, next + addressesPerStatement)
    const own = new Set(
      await lockAddresses(
        tx,
        batch.map(({ address }) => address),
      ),
    )
    if (own.size === 0) continue
    const ownMentions = batch.filter(({ address }) => own.has(address))
    const rows = await tx.query(
      `update deposit_address d set active_at = clock_timestamp(),
         look_at = case when d.is_keyed and ${paidAmount} < d.asked / 2 then '-infinity' else clock_timestamp() end,
         lane = least(d.lane, case when ${paidAmount} > 0 and ${paidAmount} >= d.asked / 2 then ${lanes.paid}
           when d.is_keyed then ${lanes.keyed} else ${lanes.named} end),
         ${setLargerTransfer('p.transfers -> d.currency')}
       from unnest($2::text[], $3::jsonb[], $4::jsonb[]) as p (address, amounts, transfers)
       where d.address = p.address and d.chain_id = $1 returning 1`,
      [
        ...[chainId, ownMentions.map(({ address }) => address), ownMentions.map(({ amounts }) => amounts)],
        ownMentions.map((mention) => mention.transfers),
      ],
    )
    markedCount += rows.length
  }
  return markedCount
}

/** SQL that replaces the stored transfer of `deposit_address d` where the one of a JSON expression is larger. */
function setLargerTransfer(other: string): string {
  const set = (column: string, value: string) =>
    `${column} = case when (${other} ->> 'amount')::numeric > coalesce(d.transfer_amount, 0)
      then ${value} else d.${column} end`
  return [
    set('transfer_hash', `${other} ->> 'transactionHash'`),
    set('transfer_from', `${other} ->> 'from'`),
    set('transfer_amount', `(${other} ->> 'amount')::numeric`),
  ].join(', ')
}

/** Stores the transfer that brought most of an address's balance, on chains whose blocks do not show transfers. */
export async function noteTransfer(
  database: Queries,
  address: string,
  transfer: LargestTransfer,
): Promise<void> {
  await database.query(`update deposit_address d set ${setLargerTransfer('$2::jsonb')} where address = $1`, [
    address,
    transferToJson(transfer),
  ])
}

/** Marks the addresses that a denied account has paid, so that their money waits for an operator. */
export async function markDenied(
  tx: SqlTx,
  chainId: number,
  payers: ReadonlyMap<string, ReadonlySet<string>>,
  screening: Pick<Screening, 'isDenied'>,
): Promise<void> {
  const paidAddresses = [...payers.keys()]
  for (let next = 0; next < paidAddresses.length; next += addressesPerStatement) {
    const own = await tx.query<{ address: string; api_key_id: string | null }>(
      `select d.address, o.api_key_id from unnest($2::text[]) as p (address)
       join deposit_address d on d.address = p.address and d.chain_id = $1
       join orders o on o.request_id = d.request_id`,
      [chainId, paidAddresses.slice(next, next + addressesPerStatement)],
    )
    const denied = own.filter(({ address, api_key_id }) =>
      [...(payers.get(address) ?? [])].some((payer) =>
        screening.isDenied(chainId, payer, api_key_id ?? undefined),
      ),
    )
    if (denied.length > 0)
      await tx.query('update deposit_address set is_sender_denied = true where address = any($1)', [
        denied.map(({ address }) => address),
      ])
  }
}

/** Marks an address whose payers cannot be known: its money waits for an operator, as that of a denied payer. */
export async function markSenderUnknown(tx: SqlTx, address: string): Promise<void> {
  await tx.query('update deposit_address set is_sender_denied = true where address = $1', [address])
}

const transferToJson = (transfer: LargestTransfer): string =>
  JSON.stringify({ ...transfer, amount: String(transfer.amount) })

function transfersToJson(transfers: ReadonlyMap<string, LargestTransfer> = new Map()): string {
  return `{${[...transfers].map(([currency, transfer]) => `${JSON.stringify(currency)}:${transferToJson(transfer)}`).join(',')}}`
}

/** Amounts by currency, as text: JSON numbers would lose digits. */
function toJson(amounts: ReadonlyMap<string, bigint>): string {
  return JSON.stringify(
    Object.fromEntries([...amounts].map(([currency, amount]) => [currency, String(amount)])),
  )
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

/** Height up to which payments to addresses of a chain were read; the hash of that block shows a reorganization. */
export type ScanCursor = BlockCursor & { readonly scannedHash: string | undefined }

export async function readScanCursor(database: Queries, chainId: number): Promise<ScanCursor | undefined> {
  const [row] = await database.query<{ scanned_to: bigint; scanned_hash: string | null; final_to: bigint }>(
    `select scanned_to, scanned_hash, coalesce(final_to, scanned_to) as final_to from deposit_address_cursor
     where chain_id = $1`,
    [chainId],
  )
  if (row === undefined) return undefined
  const { scanned_to: scannedTo, scanned_hash: scannedHash, final_to: finalTo } = row
  return { scannedTo, finalTo, scannedHash: scannedHash ?? undefined }
}

export async function moveScanCursor(tx: SqlTx, chainId: number, cursor: ScanCursor): Promise<void> {
  await tx.query(
    `insert into deposit_address_cursor (chain_id, scanned_to, scanned_hash, final_to) values ($1, $2, $3, $4)
     on conflict (chain_id) do update set scanned_to = $2, scanned_hash = $3, final_to = $4`,
    [chainId, cursor.scannedTo, cursor.scannedHash ?? null, cursor.finalTo],
  )
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

/** The next look comes after the time since the last use divided by this: seldom at addresses long unused. */
const idleDivisor = 20
const pauseMaxMs = 900_000

/** Age of the last use from which an address belongs to the idle lane. */
const idleAfter = `interval '1 hour'`

/** SQL of the lane of an address without money. */
const laneOfUnpaid = `case when active_at < clock_timestamp() - ${idleAfter} then ${lanes.idle}
  when is_keyed then ${lanes.keyed} else ${lanes.unpaid} end`

/**
 * Schedules the next look at addresses: soon at those in use, seldom at the others. Money at an address keeps it in its
 * lane; without money it falls back to the lane of unpaid ones.
 * @param pauses.leastMs shortest time to the next look
 * @param pauses.keepsMs time since its last use for which an empty one keeps its lane, as nodes may list its money late
 */
export async function recheckAddressesAfter(
  tx: SqlTx,
  addresses: readonly { readonly address: string; readonly isEmpty: boolean }[],
  pauses: { readonly leastMs: number; readonly keepsMs: number },
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
      pauses.keepsMs,
    ],
  )
}

/** Notes the sweep under way for a request, and moves the stored transfer to that request, which shows it. */
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

/** Notes why the money stays at the address, and takes its priority away. @returns true if the reason is new */
export async function setLeft(tx: SqlTx, address: string, reason: string): Promise<boolean> {
  const [row] = await tx.query<{ is_news: boolean }>(
    `update deposit_address d set left_reason = $2, held_since = null, deep_since = null, lane = ${laneOfUnpaid}
     from (select left_reason from deposit_address where address = $1) before
     where address = $1 returning before.left_reason is distinct from $2 as is_news`,
    [address, reason],
  )
  return row?.is_news === true
}

/** Marks that the balance of an address is deep enough to be acted on. */
export async function markDeep(database: Queries, address: string): Promise<void> {
  await database.query(
    'update deposit_address set deep_since = clock_timestamp() where address = $1 and deep_since is null',
    [address],
  )
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
 * @param swap how the sweep's swap ended; `none` where there was none, or nobody began the sweep
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

function toHex(bytes: Buffer): Hex {
  return `0x${bytes.toString('hex')}`
}
