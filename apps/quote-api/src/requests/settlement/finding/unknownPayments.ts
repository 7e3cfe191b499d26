import type { Hex, SqlDatabase } from '@causeway/core'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { stepsOf } from './listBlocks.ts'

/** A payment of the fill wallet that no stored order, claim or booking explains. */
export type UnknownPayment = {
  /** Chain key. */
  readonly chain: string
  readonly transactionId: string
  /** Id that the fill contract recorded: the order id of a fill, or a refund's or claim's own id. */
  readonly id: Hex
  /** Order id that the transaction names, which a refund has beside its own id; `id` if no endpoint shows the transaction. */
  readonly orderId: Hex
}

/** Name of the operator action that books a fill of an unknown order; it explains the payment from then on. */
export const bookedAction = 'ledger.fills'

/**
 * Finds payments of the fill wallet in recent final blocks that nothing stored explains, for an operator's report. Reads only.
 * @param options.seconds how far back
 * @returns undefined where the chain cannot list payments
 * @throws UpstreamUnavailableError, UpstreamDisagreementError
 */
export async function findUnknownPayments(
  database: Pick<SqlDatabase, 'query'>,
  chain: Pick<SettlementChain, 'chain' | 'finalHeight' | 'paidIds' | 'steps' | 'transaction'>,
  options: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<readonly UnknownPayment[] | undefined> {
  const { seconds, signal } = options
  const { paidIds } = chain
  if (paidIds === undefined) return undefined
  const to = await chain.finalHeight(signal)
  const blocks = BigInt(Math.ceil((seconds * 1_000) / chain.chain.config.blockTimeMs))
  const { rangeBlocks } = stepsOf(chain)
  const payments: UnknownPayment[] = []
  for (let from = to > blocks ? to - blocks : 0n; from <= to; ) {
    const last = from + rangeBlocks - 1n
    const range = { from, to: last < to ? last : to }
    const paid = await paidIds(range, signal)
    const knownIds = await readKnown(
      database,
      paid.map(({ id }) => id),
    )
    for (const { id, transactionId } of paid) {
      if (knownIds.has(id)) continue
      // The last 32 bytes of the calldata are the order id.
      const transaction = await chain.transaction(transactionId, signal)
      const orderId: Hex = transaction === undefined ? id : `0x${transaction.input.slice(-64)}`
      // A refund of a known order has an id of its own.
      if (orderId !== id && (await readKnown(database, [orderId])).has(orderId)) continue
      payments.push({ chain: chain.chain.key, transactionId, id, orderId })
    }
    from = range.to + 1n
  }
  return payments
}

/** Those of the ids that belong to a stored order, claim or booking. */
export async function readKnown(
  database: Pick<SqlDatabase, 'query'>,
  ids: readonly Hex[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await database.query<{ id: string }>(
    `select '0x' || encode(order_id, 'hex') as id from orders where order_id = any($1)
     union select '0x' || encode(claim_id, 'hex') from app_fee_claim where claim_id = any($1)
     union select subject from admin_action where subject = any($2) and action = $3 and outcome = 'done'`,
    [ids.map((id) => Buffer.from(id.slice(2), 'hex')), ids, bookedAction],
  )
  return new Set(rows.map(({ id }) => id))
}
