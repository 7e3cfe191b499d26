import type { SqlDatabase, SqlTx } from '@causeway/core'
import type { AddressPayments, LargestTransfer, largestTransfers, sumPayments } from '@causeway/families'
import type { BlockCursor } from '../../../chainReadings/blockCursor.ts'
import type { Screening } from '../../screening/screenedRequest.ts'
import { lanes } from '../addressLanes.ts'
import { lockAddresses } from '../addressStore.ts'

type Queries = Pick<SqlDatabase, 'query'>

/**
 * Heights up to which payments to addresses of a chain were read, and read again in final blocks. The hash of
 * the block `scannedTo` shows a reorganization; undefined where none is known to compare with.
 */
export type ScanCursor = BlockCursor & { readonly scannedHash: string | undefined }

/** `final_to` is null if an older release wrote the row; it then counts as equal to `scanned_to`. */
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

/** Addresses that blocks, or a look at balances, show as paid or named; addresses that are not ours are ignored. */
type SeenAddresses = Pick<AddressPayments, 'named'> & {
  /** Paid amounts by address and currency. */
  readonly paid: ReturnType<typeof sumPayments>
  /** Largest transfer by address and currency; absent where only balances are known. */
  readonly transfers?: ReturnType<typeof largestTransfers>
}

/**
 * Moves the addresses that are paid or named to a more urgent lane. Less than half of the quoted amount, or another
 * currency, may be a stranger's dust: such an address stays behind the paid ones.
 * @returns the number of our addresses among them
 */
export async function markPaid(tx: SqlTx, chainId: number, seen: SeenAddresses): Promise<number> {
  let markedCount = 0
  for (const batch of inBatches(mentionsIn(seen))) {
    const ownAddresses = new Set(
      await lockAddresses(
        tx,
        batch.map(({ address }) => address),
      ),
    )
    const ownMentions = batch.filter(({ address }) => ownAddresses.has(address))
    if (ownMentions.length > 0) markedCount += await raiseLanes(tx, chainId, ownMentions)
  }
  return markedCount
}

/** An address that was paid or named; amounts and transfers by currency, as JSON, both empty if it was only named. */
type Mention = { readonly address: string; readonly amounts: string; readonly transfers: string }

/** One mention per address, because an `update ... from` with two would apply an arbitrary one; in the order of locks. */
function mentionsIn({ paid, named, transfers = new Map() }: SeenAddresses): readonly Mention[] {
  const paidMentions = [...paid].map(([address, amounts]) => ({
    address,
    amounts: toJson(amounts),
    transfers: transfersToJson(transfers.get(address)),
  }))
  const namedMentions = named
    .filter((address) => !paid.has(address))
    .map((address) => ({ address, amounts: '{}', transfers: '{}' }))
  return [...paidMentions, ...namedMentions].toSorted((one, other) => (one.address < other.address ? -1 : 1))
}

/**
 * Raises the lanes of locked addresses; none gets a less urgent one. In the keyed lane, those that were
 * mentioned come before all others.
 */
async function raiseLanes(tx: SqlTx, chainId: number, mentions: readonly Mention[]): Promise<number> {
  const paidAmount = 'coalesce((p.amounts ->> d.currency)::numeric, 0)'
  const rows = await tx.query(
    `update deposit_address d set active_at = clock_timestamp(),
       look_at = case when d.is_keyed and ${paidAmount} < d.asked / 2 then '-infinity' else clock_timestamp() end,
       lane = least(d.lane, case when ${paidAmount} > 0 and ${paidAmount} >= d.asked / 2 then ${lanes.paid}
         when d.is_keyed then ${lanes.keyed} else ${lanes.named} end),
       ${setLargerTransfer('p.transfers -> d.currency')}
     from unnest($2::text[], $3::jsonb[], $4::jsonb[]) as p (address, amounts, transfers)
     where d.address = p.address and d.chain_id = $1 returning 1`,
    [
      chainId,
      mentions.map(({ address }) => address),
      mentions.map(({ amounts }) => amounts),
      mentions.map(({ transfers }) => transfers),
    ],
  )
  return rows.length
}

/**
 * SQL that replaces the stored transfer of `deposit_address d` if `transfer`, a JSON expression, is larger.
 * It is null where no transfer is known, and then nothing is replaced.
 */
function setLargerTransfer(transfer: string): string {
  const set = (column: string, value: string) =>
    `${column} = case when (${transfer} ->> 'amount')::numeric > coalesce(d.transfer_amount, 0)
      then ${value} else d.${column} end`
  return [
    set('transfer_hash', `${transfer} ->> 'transactionHash'`),
    set('transfer_from', `${transfer} ->> 'from'`),
    set('transfer_amount', `(${transfer} ->> 'amount')::numeric`),
  ].join(', ')
}

/** Stores the transfer that brought most of an address's balance, on chains whose blocks do not show transfers. */
export async function noteTransfer(tx: SqlTx, address: string, transfer: LargestTransfer): Promise<void> {
  await tx.query(`update deposit_address d set ${setLargerTransfer('$2::jsonb')} where address = $1`, [
    address,
    transferToJson(transfer),
  ])
}

/**
 * Marks the addresses that a denied account has paid, so that their money waits for an operator.
 * @param payers accounts that paid, by address; other addresses of the chain are ignored
 */
export async function markDenied(
  tx: SqlTx,
  chainId: number,
  payers: ReadonlyMap<string, ReadonlySet<string>>,
  screening: Pick<Screening, 'isDenied'>,
): Promise<void> {
  for (const batch of inBatches([...payers.keys()])) {
    const own = await tx.query<{ address: string; api_key_id: string | null }>(
      `select d.address, o.api_key_id from unnest($2::text[]) as p (address)
       join deposit_address d on d.address = p.address and d.chain_id = $1
       join orders o on o.request_id = d.request_id`,
      [chainId, batch],
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

/** Addresses of one statement: few enough for PostgreSQL to use the index instead of scanning the table. */
const addressesPerStatement = 500

function inBatches<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const starts = Array.from(
    { length: Math.ceil(items.length / addressesPerStatement) },
    (_, index) => index * addressesPerStatement,
  )
  return starts.map((start) => items.slice(start, start + addressesPerStatement))
}

function transfersToJson(transfers: ReadonlyMap<string, LargestTransfer> = new Map()): string {
  return `{${[...transfers].map(([currency, transfer]) => `${JSON.stringify(currency)}:${transferToJson(transfer)}`).join(',')}}`
}

/** Amounts by currency, as text: JSON numbers would lose digits. */
function toJson(amounts: ReadonlyMap<string, bigint>): string {
  return JSON.stringify(
    Object.fromEntries([...amounts].map(([currency, amount]) => [currency, String(amount)])),
  )
}

const transferToJson = (transfer: LargestTransfer): string =>
  JSON.stringify({ ...transfer, amount: String(transfer.amount) })
