import type { DepositAddressTerms, Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { toBytes } from '../orders/orderColumns.ts'
import type { DepositAddress } from '../quoting/depositAddress.ts'

type Queries = Pick<SqlDatabase, 'query'>

export type StoredAddress = DepositAddress & {
  readonly chainId: number
  /** The newest request that payments are for. */
  readonly requestId: Hex
  readonly sweepId: string | undefined
  readonly sweeps: number
}

/** Keeps a new address with the request that it was quoted for. */
export async function insertAddress(
  tx: SqlTx,
  { address, terms }: DepositAddress,
  request: { readonly requestId: Hex; readonly chainId: number },
): Promise<void> {
  await tx.query(
    `insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      address,
      request.chainId,
      terms.orderSigner,
      terms.sweeper,
      terms.depositor,
      toBytes(terms.nonce),
      toBytes(request.requestId),
    ],
  )
}

/** Names the address with the request, so that it can be looked up by it. */
export async function nameAddress(tx: SqlTx, address: Hex, requestId: Hex): Promise<void> {
  await tx.query('update orders set deposit_address = $2 where request_id = $1', [
    toBytes(requestId),
    address,
  ])
}

/** Payments of the address are for a newer request from now on; one that nobody paid points to it. */
export async function supersede(tx: SqlTx, { address, requestId }: StoredAddress, newer: Hex): Promise<void> {
  await tx.query('update deposit_address set request_id = $2 where address = $1', [address, toBytes(newer)])
  await tx.query(
    `update orders set superseded_by = $2, updated_at = clock_timestamp() where request_id = $1
       and status = 'waiting' and not exists (select 1 from settlement s where s.request_id = $1)`,
    [toBytes(requestId), toBytes(newer)],
  )
}

const columns = 'address, chain_id, order_signer, sweeper, depositor, nonce, request_id, sweep_id, sweeps'

/** Addresses that are to be looked at now; those with a sweep under way are not. */
export async function listDueAddresses(
  database: Queries,
  chainId: number,
  limit: number,
): Promise<readonly StoredAddress[]> {
  const rows = await database.query<AddressRow>(
    `select ${columns} from deposit_address
     where chain_id = $1 and look_at <= clock_timestamp() and sweep_id is null order by look_at limit $2`,
    [chainId, limit],
  )
  return rows.map(fromRow)
}

/** The address, locked until the transaction ends. */
export async function lockAddress(tx: SqlTx, address: Hex): Promise<StoredAddress | undefined> {
  const [row] = await tx.query<AddressRow>(
    `select ${columns} from deposit_address where address = $1 for update`,
    [address],
  )
  return row === undefined ? undefined : fromRow(row)
}

/** An address that was used long ago is looked at after this part of that time. */
const idlePart = 20
const pauseMaxMs = 900_000

/** Looks at addresses again: soon at those in use, seldom at the others. */
export async function lookLater(tx: SqlTx, addresses: readonly Hex[], pauseMinMs: number): Promise<void> {
  await tx.query(
    `update deposit_address set look_at = clock_timestamp() + least(interval '1 millisecond' * $3,
       greatest(interval '1 millisecond' * $2, (clock_timestamp() - active_at) / ${idlePart}))
     where address = any($1)`,
    [addresses, Math.ceil(pauseMinMs), pauseMaxMs],
  )
}

export async function setSweep(tx: SqlTx, address: Hex, sweepId: string): Promise<void> {
  await tx.query(
    `update deposit_address set sweep_id = $2, sweeps = sweeps + 1, left_reason = null,
       active_at = clock_timestamp() where address = $1`,
    [address, sweepId],
  )
}

/** What arrived stays where it is. @returns true when that is news */
export async function setLeft(tx: SqlTx, address: Hex, reason: string): Promise<boolean> {
  const rows = await tx.query(
    `update deposit_address set left_reason = $2 where address = $1 and left_reason is distinct from $2
     returning 1`,
    [address, reason],
  )
  return rows.length > 0
}

/** Addresses whose sweep ended, or was not begun in time. */
export async function listEndedSweeps(database: Queries, limit: number): Promise<readonly Hex[]> {
  const rows = await database.query<{ address: Hex }>(
    `select d.address from deposit_address d join work_item w on w.id = d.sweep_id
     where w.state in ('done', 'failed', 'cancelled') or (w.state = 'open'
       and (w.payload ->> 'deadline')::numeric < extract(epoch from clock_timestamp()))
     order by w.updated_at limit $1`,
    [limit],
  )
  return rows.map(({ address }) => address)
}

/** The sweep ended: look at what lies there now. */
export async function clearSweep(tx: SqlTx, address: Hex): Promise<void> {
  await tx.query(
    `update deposit_address set sweep_id = null, active_at = clock_timestamp(), look_at = clock_timestamp()
     where address = $1`,
    [address],
  )
}

type AddressRow = {
  readonly address: Hex
  readonly chain_id: bigint
  readonly order_signer: Hex
  readonly sweeper: Hex
  readonly depositor: Hex
  readonly nonce: Buffer
  readonly request_id: Buffer
  readonly sweep_id: string | null
  readonly sweeps: number
}

function fromRow(row: AddressRow): StoredAddress {
  const { order_signer: orderSigner, sweeper, depositor } = row
  const terms: DepositAddressTerms = { orderSigner, sweeper, depositor, nonce: toHex(row.nonce) }
  return {
    address: row.address,
    terms,
    chainId: Number(row.chain_id),
    requestId: toHex(row.request_id),
    sweepId: row.sweep_id ?? undefined,
    sweeps: Number(row.sweeps),
  }
}

function toHex(bytes: Buffer): Hex {
  return `0x${bytes.toString('hex')}`
}
