import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import type { KeptRecord } from './signedRecord.ts'

/** App fees of one wallet: what a fill leaves owed, or what a claim takes. In smallest units, above zero. */
export type AppFee = {
  /** Lower case. */
  readonly wallet: Hex
  readonly chainId: number
  /** In its family's canonical spelling. */
  readonly currency: string
  readonly amount: bigint
}

/** Names a record. */
type Attempt = Pick<KeptRecord, 'id' | 'attempt'>

/** Keeps the app fees that a fill owes, or that a claim takes, with its record. */
export async function keepAppFees(
  tx: SqlTx,
  { id, attempt }: Attempt,
  fees: readonly AppFee[],
): Promise<void> {
  for (const { wallet, chainId, currency, amount } of fees)
    await tx.query(
      `insert into app_fee (record_id, attempt, wallet, chain_id, currency, amount)
       values ($1, $2, $3, $4, $5, $6)`,
      [id, attempt, wallet, chainId, currency, amount.toString()],
    )
}

/**
 * Reads fees that fills owe to a wallet and no claim has taken, in smallest units: `attested` by oracles, and `coming`
 * where they have not said so yet.
 */
export async function readAppFeesOwed(
  tx: Pick<SqlTx, 'query'>,
  { wallet, chainId, currency }: Omit<AppFee, 'amount'>,
): Promise<{ readonly attested: bigint; readonly coming: bigint }> {
  const [row] = await tx.query<{ owed: bigint; taken: bigint; coming: bigint }>(
    `select coalesce(sum(amount) filter (where kind = 'fill' and state = 'attested'), 0)::numeric as owed,
       coalesce(sum(amount) filter (where kind = 'claim' and state <> 'void'), 0)::numeric as taken,
       coalesce(sum(amount) filter (where kind = 'fill' and state in ('signed', 'paid')), 0)::numeric as coming
     from app_fee join payment using (record_id, attempt)
     where wallet = $1 and app_fee.chain_id = $2 and currency = $3`,
    [wallet, chainId, currency],
  )
  const { owed = 0n, taken = 0n, coming = 0n } = row ?? {}
  return { attested: owed - taken, coming }
}

/** Sum of app fees that the fills of an order owe, in smallest units of its deposit's currency. */
export async function readAppFeesOf(database: Pick<SqlDatabase, 'query'>, orderId: Hex): Promise<bigint> {
  const [row] = await database.query<{ owed: bigint }>(
    `select coalesce(sum(amount), 0)::numeric as owed
     from app_fee join payment using (record_id, attempt) join signed_record on id = record_id
       and signed_record.attempt = payment.attempt
     where payment_id = $1 and payment.kind = 'fill' and state <> 'void'`,
    [orderId],
  )
  return row?.owed ?? 0n
}
