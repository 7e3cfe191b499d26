// Requests with chosen properties in a real database, and those properties beside it, for tests that compare
// what a list answers with what there is.
import { createHash } from 'node:crypto'
import type { Hex, SqlDatabase } from '@causeway/core'
import { toStoredOrder } from '../../src/requests/orders/storedOrder.ts'
import { testApp } from '../fixtures/app.ts'
import { chainA, chainB, recipient, usdc, user } from '../fixtures/market.ts'
import { linkedKey, testSponsor } from '../fixtures/sponsor.ts'

export type HistoryTransaction = { readonly role: 'deposit' | 'fill' | 'refund'; readonly txHash: string }

export type HistoryRow = {
  readonly requestId: Hex
  readonly orderId: Hex
  readonly apiKeyId: string
  readonly user: string
  readonly recipient: string
  readonly status: string
  readonly failReason: string | undefined
  readonly operation: 'bridge' | 'swap' | 'send'
  readonly hasCalls: boolean
  readonly referrer: string | undefined
  readonly originChainId: number
  readonly destinationChainId: number
  readonly depositAddress: string | undefined
  readonly transactions: readonly HistoryTransaction[]
  /** A deposit was seen that nothing was done about. */
  readonly isSeen: boolean
  readonly createdAtMicros: bigint
  readonly updatedAtMicros: bigint | undefined
}

export const hashOf = (name: string): Hex => `0x${createHash('sha256').update(name).digest('hex')}`

/** Texts of a real quote, so that rows can be read as the service reads them. */
export async function quotedTexts(): Promise<{ quoted: string; orderData: string }> {
  const sponsor = testSponsor(10n ** 12n)
  const app = await testApp({ ...sponsor })
  await app.inject({
    method: 'POST',
    url: '/quote',
    headers: { 'x-api-key': linkedKey },
    payload: {
      user,
      recipient,
      originChainId: chainA,
      destinationChainId: chainB,
      originCurrency: usdc,
      destinationCurrency: usdc,
      amount: '100000000',
      tradeType: 'EXACT_INPUT',
      subsidizeFees: true,
    },
  })
  await app.close()
  const [record] = sponsor.records
  if (record === undefined) throw new Error('a sponsored quote was not stored')
  const { quoted, orderData } = toStoredOrder(record)
  if (orderData === undefined) throw new Error('the quote has no order')
  return { quoted, orderData }
}

export async function storeHistory(database: SqlDatabase, rows: readonly HistoryRow[]): Promise<void> {
  const texts = await quotedTexts()
  const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  for (const row of rows) {
    const { operation, referrer } = row
    const quoted = JSON.stringify({ ...JSON.parse(texts.quoted), operation, referrer })
    const order = JSON.parse(texts.orderData)
    const orderData = JSON.stringify({
      ...order,
      output: { ...order.output, calls: row.hasCalls ? ['0x00'] : [] },
    })
    await database.query(
      `insert into orders (request_id, order_id, user_address, recipient, api_key_id, status, fail_reason, quoted,
         order_data, order_signature, steps_digest, origin_chain_id, destination_chain_id, deposit_address,
         created_at, updated_at, expires_at, deadline, keep_until)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, decode(repeat('ab', 65), 'hex'), decode(repeat('ab', 32), 'hex'),
         $10, $11, $12, timestamptz 'epoch' + $13::bigint * interval '1 microsecond',
         timestamptz 'epoch' + $14::bigint * interval '1 microsecond', now(), now(), now() + interval '1 day'`,
      [
        ...[bytes(row.requestId), bytes(row.orderId), row.user, row.recipient, row.apiKeyId, row.status],
        ...[row.failReason ?? null, quoted, orderData, row.originChainId, row.destinationChainId],
        ...[row.depositAddress ?? null, row.createdAtMicros, row.updatedAtMicros ?? null],
      ],
    )
    for (const { role, txHash } of row.transactions)
      await database.query(
        `insert into request_transaction (request_id, role, chain_id, tx_hash, block_number) values ($1, $2, $3, $4, 1)`,
        [bytes(row.requestId), role, row.originChainId, txHash],
      )
    if (row.isSeen)
      await database.query(
        `insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
           request_id, depositor, currency, amount) values ($1, $2, '0', 1, $2, now(), $3, $4, $5, '0x', 1)`,
        [
          row.originChainId,
          hashOf(`seen ${row.requestId}`),
          bytes(row.orderId),
          bytes(row.requestId),
          row.user,
        ],
      )
  }
}
