// A long history of one key, with values that many, few and one of its requests have.
import type { SqlDatabase } from '@causeway/core'
import { ledgerMigrations } from '@causeway/ledger'
import type { RequestFilter } from '../../src/requests/history/requestFilter.ts'
import { orderMigrations } from '../orderSupport/orders.ts'
import { hashOf, quotedTexts } from './historyRows.ts'

export const historyDirectories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]

export const filledKey = 'longhistor'
const hash = (name: string, place: string) =>
  `'0x' || encode(sha256(convert_to('${name} ' || ${place}, 'UTF8')), 'hex')`
const middle = 777

export const filledValues = {
  user: `0x${'0'.repeat(39)}1`,
  rareUser: `0x${'9'.repeat(40)}`,
  depositAddress: `0x${middle.toString(16).padStart(40, 'd')}`,
  txHash: hashOf(`tx deposit${middle}`),
  fillTxHash: hashOf(`tx fill${middle}`),
  id: hashOf(`request ${middle}`),
  orderId: hashOf(`order ${middle}`),
  term: `0x${'ab'.repeat(32)}`,
} as const

/** Rows of real size; one in a thousand is rare in each way, and one request in four is unpaid. */
export async function fillHistory(database: SqlDatabase, count: number): Promise<void> {
  const { quoted, orderData } = await quotedTexts()
  const rare = 'i % 1000 = 777'
  const indexes = await dropIndexes(database)
  await database.transaction(async (tx) => {
    // No trigger and no look at what a key refers to: they take longer than the rows.
    await tx.query('set local session_replication_role = replica')
    await tx.query(
      `insert into orders (request_id, order_id, user_address, recipient, api_key_id, status, fail_reason, quoted,
         order_data, order_signature, steps_digest, origin_chain_id, destination_chain_id, deposit_address,
         created_at, updated_at, expires_at, deadline, keep_until)
       select sha256(convert_to('request ' || i, 'UTF8')), sha256(convert_to('order ' || i, 'UTF8')),
         case when ${rare} then '${filledValues.rareUser}' else '0x' || lpad(to_hex(i % 3 + 1), 40, '0') end,
         case when ${rare} then '${filledValues.rareUser}' else '0x' || lpad(to_hex(i % 5 + 1), 40, '0') end,
         '${filledKey}', case when i % 4 = 0 then 'waiting' when ${rare} then 'failure' else 'success' end,
         case when ${rare} then 'SLIPPAGE' end,
         case when ${rare} then $3::json else $4::json end, $2::json,
         decode(repeat('ab', 65), 'hex'), decode(repeat('ab', 32), 'hex'),
         case when ${rare} then 137 else 8453 end, case when ${rare} then 137 else 10 end,
         case when i % 10 = 7 then '0x' || lpad(to_hex(i), 40, 'd') end,
         now() - i * interval '1 second', now() - (i - i % 100) * interval '1 second', now(), now(), now() + interval '1 day'
       from generate_series(1, $1::int) i`,
      [
        ...[count, orderData],
        quoted.replace('"operation":"bridge"', '"referrer":"rare.app","operation":"send"'),
        quoted.replace('"operation"', '"referrer":"an.app","operation"'),
      ],
    )
    await tx.query(
      `insert into request_transaction (request_id, role, chain_id, tx_hash, block_number)
       select sha256(convert_to('request ' || i, 'UTF8')), role, 10, ${hash('tx', 'role || i')}, i
       from generate_series(1, $1::int) i, unnest(array['deposit', 'fill']) role where i % 4 > 0`,
      [count],
    )
  })
  for (const index of indexes) await database.query(index)
  await database.query('vacuum analyze orders, request_transaction, deposit_seen')
  // Filling is over when it is on disk: what is read next is not held up by it.
  await database.query('checkpoint')
}

/** Drops what only makes reading faster, and makes filling take ten times as long. Statements that make it again. */
async function dropIndexes(database: SqlDatabase): Promise<readonly string[]> {
  const rows = await database.query<{ name: string; definition: string }>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid in ('orders'::regclass, 'request_transaction'::regclass)
       and not exists (select from pg_constraint where conindid = i.indexrelid)`,
  )
  for (const { name } of rows) await database.query(`drop index ${name}`)
  return rows.map(({ definition }) => definition)
}

const { user, rareUser, depositAddress, txHash, fillTxHash, id, orderId, term } = filledValues

/** Every filter, with a value that many requests have and with one that few have. */
export const filledFilters: Readonly<Record<string, RequestFilter>> = {
  nothing: {},
  id: { id },
  orderId: { orderId },
  user: { user },
  'rare user': { user: rareUser },
  recipient: { recipient: user },
  'rare recipient': { recipient: rareUser },
  status: { status: 'success' },
  'rare status': { status: 'failure' },
  'status that none has': { status: 'pending' },
  failReason: { failReason: 'SLIPPAGE' },
  requestType: { requestType: 'Bridge' },
  'rare requestType': { requestType: 'Send' },
  referrer: { referrer: 'an.app' },
  'rare referrer': { referrer: 'rare.app' },
  chainId: { chainId: 8453 },
  'rare chainId': { chainId: 137 },
  originChainId: { originChainId: 8453 },
  'rare originChainId': { originChainId: 137 },
  destinationChainId: { destinationChainId: 10 },
  'rare destinationChainId': { destinationChainId: 137 },
  txHash: { txHash },
  hash: { hash: txHash },
  depositTxHash: { depositTxHash: txHash },
  fillTxHash: { fillTxHash },
  refundTxHash: { refundTxHash: fillTxHash },
  depositAddress: { depositAddress },
  'term of nothing': { term },
  'term of a user': { term: user },
  'term of a rare user': { term: rareUser },
  'term of a transaction': { term: txHash },
  'term of a deposit address': { term: depositAddress },
  'user and status': { user, status: 'success' },
  'rare user and status': { user: rareUser, status: 'failure' },
  'user and rare status': { user, status: 'failure' },
}
