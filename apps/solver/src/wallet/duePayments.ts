import type { Hex, SqlDatabase } from '@causeway/core'
import { type AttestationQuestion, parseQuestion } from './attestationQuestion.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** A final payment that oracles are to be asked about; `startAttesting` works through these. */
export type DuePayment = {
  readonly id: string
  readonly attempt: number
  readonly kind: 'fill' | 'refund'
  readonly chainId: number
  readonly transactionId: string
  /** Worth of the payment when it was signed. */
  readonly microUsd: bigint
  /** Key of the deposit that it was paid for, or that it gives back. */
  readonly deposit: string | undefined
  readonly asked: AttestationQuestion
}

/** Payments of the chains that oracles are to be asked about now, longest waiting first. */
export async function readDuePayments(
  database: Queries,
  { chainIds, limit }: { readonly chainIds: readonly number[]; readonly limit: number },
): Promise<readonly DuePayment[]> {
  const rows = await database.query<{
    record_id: string
    attempt: number
    kind: 'fill' | 'refund'
    chain_id: bigint
    transaction_id: string
    micro_usd: bigint
    deposit: string | null
    asked: unknown
  }>(
    `select p.record_id, p.attempt, p.kind, p.chain_id, p.transaction_id, p.micro_usd, p.asked,
       r.record -> 'deposits' ->> 0 as deposit
     from payment p left join signed_record r on r.id = p.record_id and r.attempt = p.attempt
     where p.state = 'paid' and p.asked is not null and p.transaction_id is not null
       and p.next_at <= clock_timestamp() and p.chain_id = any($1)
     order by p.next_at limit $2`,
    [chainIds, limit],
  )
  return rows.map((row) => ({
    id: row.record_id,
    attempt: Number(row.attempt),
    kind: row.kind,
    chainId: Number(row.chain_id),
    transactionId: row.transaction_id,
    microUsd: row.micro_usd,
    deposit: row.deposit ?? undefined,
    asked: parseQuestion(row.asked),
  }))
}

/** Keeps the new id of a deposit that a reorganization has moved; oracles are asked again at once. @source rule L-27 */
export async function keepMoved(
  database: Queries,
  { id, attempt }: Pick<DuePayment, 'id' | 'attempt'>,
  onchainId: Hex,
): Promise<void> {
  await database.query(
    `update payment set asked = jsonb_set(asked::jsonb, '{inputs,0,onchainId}', to_jsonb($3::text))::json,
       refusals = 0, next_at = clock_timestamp()
     where record_id = $1 and attempt = $2 and state = 'paid'`,
    [id, attempt, onchainId],
  )
}

/** The answer of all oracles together about one payment. */
export type JointAnswer =
  | { readonly kind: 'attested' }
  /** So many oracles refused it that the others are fewer than the threshold. */
  | { readonly kind: 'refused'; readonly code: string }
  /** Neither enough signatures nor enough refusals. */
  | { readonly kind: 'open'; readonly code: string }

/**
 * The pause before a payment is asked about again, which doubles from `firstMs` to `maxMs`; and the number of
 * refusals in a row that makes the last one final.
 */
const retry = { firstMs: 1_000, maxMs: 600_000, refusalsMax: 3 }

/**
 * Keeps the oracles' answer about a payment. A refusal becomes final only when it was repeated, because an oracle whose node
 * restarts refuses too.
 * @returns the payment's state
 */
export async function keepAnswer(
  database: Queries,
  { id, attempt }: Pick<DuePayment, 'id' | 'attempt'>,
  answer: JointAnswer,
): Promise<'attested' | 'refused' | 'open'> {
  const isAttested = answer.kind === 'attested'
  const isRefusal = answer.kind === 'refused'
  const said = isAttested ? 'attested' : answer.code
  // A refusal adds to `refusals`, any other answer sets them to 0. Each try doubles the next pause up to the
  // maximum, which is reached long before the 20th.
  const [row] = await database.query<{ state: string }>(
    `update payment set
       state = case when $3 then 'attested' when $4 and refusals + 1 >= $6 then 'refused' else state end,
       refusals = case when $4 then refusals + 1 else 0 end, said = $5, tries = tries + 1,
       next_at = clock_timestamp() + least($7 * 2 ^ least(tries, 20), $8) * interval '1 millisecond'
     where record_id = $1 and attempt = $2 and state = 'paid' returning state`,
    [id, attempt, isAttested, isRefusal, said, retry.refusalsMax, retry.firstMs, retry.maxMs],
  )
  if (row?.state === 'attested' || row?.state === 'refused') return row.state
  // The state is still `paid`, or there is no row because the payment had its end already.
  return 'open'
}
