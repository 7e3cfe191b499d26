// A long history of one key, with values that many, few and one of its requests have.
import type { SqlDatabase } from '@causeway/core'
import { ledgerMigrations } from '@causeway/ledger'
import type { RequestFilter } from '../../src/requests/history/requestFilter.ts'
import { orderMigrations } from '../orderSupport/orders.ts'
import { quotedTexts } from './historyRows.ts'

export const historyDirectories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]

export const filledKey = 'longhistor'
const hash = (name: string, place: string) =>
  `'0x' || encode(sha256(convert_to('${name} ' || ${place}, 'UTF8')), 'hex')`
const middle = 777

export const filledValues = {
  user: `0x${'0'.repeat(39)}1`,
  rareUser: `0x${'9'.repeat(40)}`,
  depositAddress: `0x${middle.toString(16).padStart(40, 'd')}`,
  txHash: '0x23d4ef23d21cd1c2ee54c0e1f5f1a2bcb4dbbcb1d6b4e7ff14f7a3ae6b0c55a1',
  term: `0x${'ab'.repeat(32)}`,
} as const

const atOnce = 100_000

/** Rows of real size; one in a thousand is rare in each way, and one request in four is unpaid. */
export async function fillHistory(database: SqlDatabase, count: number): Promise<void> {
  const { quoted, orderData } = await quotedTexts()
  const rare = 'i % 1000 = 777'
  for (let first = 1; first <= count; first += atOnce) {
    const range = [first, Math.min(first + atOnce - 1, count)]
    await database.query(
      `insert into orders (request_id, order_id, user_address, recipient, api_key_id, status, fail_reason, quoted,
         order_data, order_signature, steps_digest, origin_chain_id, destination_chain_id, deposit_address,
         created_at, updated_at, expires_at, deadline, keep_until)
       select sha256(convert_to('request ' || i, 'UTF8')), sha256(convert_to('order ' || i, 'UTF8')),
         case when ${rare} then '${filledValues.rareUser}' else '0x' || lpad(to_hex(i % 3 + 1), 40, '0') end,
         case when ${rare} then '${filledValues.rareUser}' else '0x' || lpad(to_hex(i % 5 + 1), 40, '0') end,
         '${filledKey}', case when i % 4 = 0 then 'waiting' when ${rare} then 'failure' else 'success' end,
         case when ${rare} then 'SLIPPAGE' end,
         case when ${rare} then
             replace(replace($3, '"operation":"bridge"', '"operation":"send"'), '{"operation"', '{"referrer":"rare.app","operation"')
           else replace($3, '{"operation"', '{"referrer":"an.app","operation"') end::json,
         $4::json, decode(repeat('ab', 65), 'hex'), decode(repeat('ab', 32), 'hex'),
         case when ${rare} then 137 else 8453 end, case when ${rare} then 137 else 10 end,
         case when i % 10 = 7 then '0x' || lpad(to_hex(i), 40, 'd') end,
         now() - i * interval '1 second', now() - (i - i % 100) * interval '1 second', now(), now(), now() + interval '1 day'
       from generate_series($1::int, $2::int) i`,
      [...range, quoted, orderData],
    )
    await database.query(
      `insert into request_transaction (request_id, role, chain_id, tx_hash, block_number)
       select sha256(convert_to('request ' || i, 'UTF8')), role, 10, ${hash('tx', 'role || i')}, i
       from generate_series($1::int, $2::int) i, unnest(array['deposit', 'fill']) role where i % 4 > 0`,
      range,
    )
  }
  await database.query('vacuum analyze orders, request_transaction, deposit_seen')
}

const { user, rareUser, depositAddress, txHash, term } = filledValues

/** Every filter, with a value that many requests have and with one that few have. */
export const filledFilters: Readonly<Record<string, RequestFilter>> = {
  nothing: {},
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
  destinationChainId: { destinationChainId: 137 },
  txHash: { txHash },
  depositTxHash: { depositTxHash: txHash },
  depositAddress: { depositAddress },
  term: { term },
  'term of a user': { term: user },
}
