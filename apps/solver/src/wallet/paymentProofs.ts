import { type Hex, type SqlDatabase, settlementExecutionKey } from '@causeway/core'
import { type AttestationQuestion, parseQuestion } from './attestationQuestion.ts'

// Readers of payments whose attestation proves to the hub, or to quote-api, what the solver paid.

type Queries = Pick<SqlDatabase, 'query'>

export type SettlementKey = { readonly id: string; readonly attempt: number; readonly key: Hex }

/** Keys under which the hub settles what was paid for an order; what no oracle attests has none. */
export async function readSettlementKeys(database: Queries, orderId: Hex): Promise<readonly SettlementKey[]> {
  const rows = await database.query<{ record_id: string; attempt: number; asked: unknown }>(
    `select p.record_id, p.attempt, p.asked from payment p
     join signed_record r on r.id = p.record_id and r.attempt = p.attempt
     where r.payment_id = $1 and r.outcome = 'done' and p.asked is not null`,
    [orderId],
  )
  return rows.map(({ record_id: id, attempt, asked }) => {
    const onchainIds = parseQuestion(asked).inputs.map((input) => input.onchainId)
    return { id, attempt: Number(attempt), key: settlementExecutionKey({ onchainIds, orderId }) }
  })
}

/** A deposit that the hub moves to the solver, once an attestation of the payment is brought there. */
export type EarnedDeposit = {
  /** Key of the hub's execution that moves it. */
  readonly key: Hex
  readonly chain: string
  /** As the order spells it. */
  readonly currency: string
  readonly amount: bigint
}

/** Reads deposits of final payments that oracles attest, newest first; the hub says which of them it has moved. */
export async function readEarnedDeposits(
  database: Queries,
  limit: number,
): Promise<readonly EarnedDeposit[]> {
  const rows = await database.query<{ order_id: Hex; asked: unknown }>(
    `select r.payment_id as order_id, p.asked from payment p
     join signed_record r on r.id = p.record_id and r.attempt = p.attempt
     where p.asked is not null and p.state in ('paid', 'attested') order by p.created_at desc limit $1`,
    [limit],
  )
  return rows.flatMap(({ order_id: orderId, asked }) => {
    const { order, inputs, deposited } = parseQuestion(asked)
    const payment = order.inputs[0]?.payment
    if (payment === undefined) return []
    const key = settlementExecutionKey({ onchainIds: inputs.map(({ onchainId }) => onchainId), orderId })
    return [{ key, chain: payment.chainId, currency: payment.currency, amount: deposited }]
  })
}

/** A final fill with its proof and the service's note: enough for quote-api to book it after it lost the order. */
export type KeptFill = {
  readonly orderId: Hex
  readonly chainId: number
  readonly transactionId: string
  /** When it was signed. */
  readonly at: Date
  readonly asked: AttestationQuestion
}

/** Final fills that were signed at `since` or later, oldest first. */
export async function readFills(database: Queries, since: Date): Promise<readonly KeptFill[]> {
  const rows = await database.query<{
    order_id: Hex
    chain_id: bigint
    transaction_id: string
    created_at: Date
    asked: unknown
  }>(
    `select r.payment_id as order_id, p.chain_id, p.transaction_id, p.created_at, p.asked from payment p
     join signed_record r on r.id = p.record_id and r.attempt = p.attempt
     where p.kind = 'fill' and p.asked is not null and p.transaction_id is not null
       and p.state in ('paid', 'attested', 'refused') and p.created_at >= $1
     order by p.created_at`,
    [since],
  )
  return rows.map((row) => ({
    orderId: row.order_id,
    chainId: Number(row.chain_id),
    transactionId: row.transaction_id,
    at: row.created_at,
    asked: parseQuestion(row.asked),
  }))
}
