import type { Hex, SqlTx } from '@causeway/core'
import { usdcAssetId } from '../transfers/accounts.ts'
import { hexToBuffer } from '../transfers/transfers.ts'
import type { TopUpAccount } from './cursor.ts'

/** One stored transfer to custody, as it was seen in one block. */
export type TopUpEvent = {
  readonly id: bigint
  readonly chainId: number
  readonly transactionHash: Hex
  /** Index of the log in its block. */
  readonly logIndex: number
  /** Index of the log in its transaction. */
  readonly ordinal: number
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly from: Hex
  /** Smallest units of the token. */
  readonly value: bigint
  /**
   * Result of reading the credited wallet from the calldata: `ok`, `ok_trailing` (more calldata follows the
   * wallet), or why the money is suspended.
   */
  readonly parse: string
  /** Wallet that the transfer named; undefined for suspended money. */
  readonly creditedOwner: Hex | undefined
  /** Wallet to which suspended money was given since. */
  readonly claimedOwner: Hex | undefined
  readonly state: 'seen' | 'final' | 'orphaned' | 'reversed'
  readonly seenAt: Date
}

/** Top-ups whose block is not final yet, the oldest block first. */
export async function listSeenTopUps(tx: SqlTx, account: TopUpAccount): Promise<readonly TopUpEvent[]> {
  return listEvents(tx, `${isAccount} and state = 'seen' order by block_number, id`, accountValues(account))
}

/** Final top-ups of blocks from `from` to `to`, the newest block first. */
export async function listFinalTopUps(
  tx: SqlTx,
  account: TopUpAccount,
  range: { from: bigint; to: bigint; limit: number },
): Promise<readonly TopUpEvent[]> {
  return listEvents(
    tx,
    `${isAccount} and state = 'final' and block_number between $4 and $5
     order by block_number desc, id desc limit $6`,
    [...accountValues(account), range.from, range.to, range.limit],
  )
}

/** Suspended top-ups that no wallet was given yet, the oldest first, after the event id `after`. */
export async function listSuspendedTopUps(
  tx: SqlTx,
  page: { after?: bigint; limit: number },
): Promise<readonly TopUpEvent[]> {
  return listEvents(
    tx,
    `state = 'final' and credited_owner is null and claimed_owner is null and id > $1 order by id limit $2`,
    [page.after ?? 0n, page.limit],
  )
}

/** The live events of one transaction, in receipt order. */
export async function findTopUps(
  tx: SqlTx,
  transaction: { chainId: number; transactionHash: Hex },
): Promise<readonly TopUpEvent[]> {
  return listEvents(
    tx,
    `chain_id = $1 and tx_hash = $2 and state in ('seen', 'final') order by tx_log_ordinal`,
    [transaction.chainId, hexToBuffer(transaction.transactionHash)],
  )
}

/**
 * The newest top-ups of a wallet: those that wait for a final block, and those that were credited, even if they were
 * reversed since.
 * @param owner lower case
 */
export async function listWalletTopUps(
  tx: SqlTx,
  owner: string,
  limit: number,
): Promise<readonly TopUpEvent[]> {
  // Credited ones are found through the wallet's account, because final events have no index by owner. Their
  // transfers all have `credit_after`, which the index on transfers demands.
  return listEvents(
    tx,
    `id in (
       (select id from chain_event where credited_owner = $1 and state = 'seen' order by id desc limit $2)
       union
       (select t.chain_event_id from account own
          join transfer t on t.credit_account = own.id and t.credit_after is not null
        where own.kind = 'sponsor' and own.owner = $1 and own.asset_id = $3
          and t.code in ('deposit_post', 'suspense_claim')
        order by t.seq desc limit $2)
     ) order by id desc limit $2`,
    [owner, limit, usdcAssetId],
  )
}

const isAccount = 'chain_id = $1 and to_addr = $2 and token = $3'

function accountValues({ chainId, custody, token }: TopUpAccount): readonly unknown[] {
  return [chainId, hexToBuffer(custody), hexToBuffer(token)]
}

type EventRow = {
  readonly id: bigint
  readonly chain_id: bigint
  readonly tx_hash: Hex
  readonly log_index: number
  readonly tx_log_ordinal: number
  readonly block_number: bigint
  readonly block_hash: Hex
  readonly from_addr: Hex
  readonly value: bigint
  readonly parse: string
  readonly credited_owner: Hex | null
  readonly claimed_owner: Hex | null
  readonly state: TopUpEvent['state']
  readonly seen_at: Date
}

async function listEvents(
  tx: SqlTx,
  condition: string,
  values: readonly unknown[],
): Promise<readonly TopUpEvent[]> {
  const rows = await tx.query<EventRow>(
    `select id, chain_id, '0x' || encode(tx_hash, 'hex') as tx_hash, log_index, tx_log_ordinal, block_number,
       '0x' || encode(block_hash, 'hex') as block_hash, '0x' || encode(from_addr, 'hex') as from_addr, value,
       parse, credited_owner, claimed_owner, state, seen_at
     from chain_event where ${condition}`,
    values,
  )
  return rows.map((row) => ({
    id: row.id,
    chainId: Number(row.chain_id),
    transactionHash: row.tx_hash,
    logIndex: row.log_index,
    ordinal: row.tx_log_ordinal,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    from: row.from_addr,
    value: row.value,
    parse: row.parse,
    creditedOwner: row.credited_owner ?? undefined,
    claimedOwner: row.claimed_owner ?? undefined,
    state: row.state,
    seenAt: row.seen_at,
  }))
}
