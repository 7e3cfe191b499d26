import type { Hex, SqlDatabase } from '@causeway/core'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { stepsOf } from './findDeposits.ts'

/** A payment of the fill wallet that no request, claim or booking here explains. */
export type UnknownPayment = {
  /** Its key in the configuration. */
  readonly chain: string
  readonly transactionId: string
  /** The id that the fill contract recorded; a fill has its order's. */
  readonly id: Hex
  /** Order that the transaction names; a refund has an id of its own beside it. */
  readonly orderId: Hex
}

/** Written with what is booked of a fill whose order is not known: it is explained from then on. */
export const bookedAction = 'ledger.fills'

/**
 * Payments of the fill wallet in final blocks of the last seconds, held against what is stored. Writes nothing.
 * @returns undefined where the chain does not list them
 * @throws UpstreamUnavailableError, UpstreamDisagreementError
 */
export async function findUnknownPayments(
  database: Pick<SqlDatabase, 'query'>,
  chain: Pick<SettlementChain, 'chain' | 'finalHeight' | 'paidIds' | 'steps' | 'transaction'>,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<readonly UnknownPayment[] | undefined> {
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
      const input = (await chain.transaction(transactionId, signal))?.input ?? '0x'
      const orderId: Hex = `0x${input.slice(-64)}`
      // A refund is recorded by an id of its own.
      if (orderId !== id && (await readKnown(database, [orderId])).has(orderId)) continue
      payments.push({ chain: chain.chain.key, transactionId, id, orderId })
    }
    from = range.to + 1n
  }
  return payments
}

/** Ids that an order, a claim or a booking here has. */
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
