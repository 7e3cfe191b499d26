import {
  divideUp,
  type Hex,
  type InputEntry,
  minBigint,
  type Order,
  orderSchema,
  type SqlDatabase,
  type SqlTx,
  settlementExecutionKey,
} from '@causeway/core'
import type { ExposureLimits } from '@causeway/core/config'
import { z } from 'zod'
import { hex } from '../work/payloadFields.ts'
import { type AppFee, keepAppFees, readAppFeesOwed } from './appFees.ts'
import type { KeptRecord } from './signedRecord.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** What oracles are asked about a payment, without its transaction id. Kept as JSON in `payment.asked`. */
export type AttestationQuestion = {
  readonly order: Order
  readonly orderSignature: Hex
  readonly inputs: readonly InputEntry[]
  /** Amount of the deposit that it was paid for, or that it gives back. */
  readonly deposited: bigint
  /** Index of the option of the order's input that a refund pays; absent for a fill. */
  readonly refundIndex?: number | undefined
  /** Note that the service has the solver keep with a fill; not part of the question. */
  readonly booking?: string | undefined
}

/** A payment as it counts against limits from its signature until oracles attest it. */
export type Exposure = {
  readonly kind: 'fill' | 'refund' | 'claim'
  readonly chainId: number
  /** Worth of the payment when it is signed. */
  readonly microUsd: bigint
  /**
   * Properties such as `calls` or a currency. When oracles refuse a payment for good, later payments with its first trait
   * are stopped.
   */
  readonly traits: readonly string[]
  /** Undefined for a payment that no oracle attests. */
  readonly asked: AttestationQuestion | undefined
  /** True if the solver has oracles: then a claim waits for attestations of the fills that owe its app fees. */
  readonly hasOracles: boolean
  /** Fees that a fill leaves owed, or that a claim takes. */
  readonly appFees: readonly AppFee[]
  readonly limits: ExposureLimits
}

/** Too much is paid and not attested: the payment waits until that is less, or until an operator says `go`. */
export class UnattestedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnattestedError'
  }
}

/** Number of the advisory lock under which exposure is counted, over all chains and processes; any fixed number. */
const exposureLock = 0x0e9d6e75

/**
 * Sums of unattested payments, in micro-USD. `payments`: fills and refunds that oracles are asked about; `claims`, and
 * `others`, which are refunds that no oracle attests; `refused`: what oracles refused for good.
 */
export const figures = ['payments', 'claims', 'others', 'refused'] as const
export type Figure = (typeof figures)[number]

const figureOf = `case when state = 'refused' then 'refused' when kind = 'claim' then 'claims'
  when kind = 'refund' and asked is null then 'others' else 'payments' end`
const isCounted = `accepted_at is null and state in ('signed', 'paid', 'refused')`

/** The sums by chain id. Chains without unattested payments are left out. */
export type Figures = ReadonlyMap<number, Readonly<Record<Figure, bigint>>>

export async function readFigures(database: Queries): Promise<Figures> {
  const rows = await database.query<{ chain_id: bigint; figure: Figure; sum: bigint }>(
    `select chain_id, ${figureOf} as figure, sum(micro_usd)::numeric as sum from payment
     where ${isCounted} group by 1, 2`,
  )
  const sumsByChain = new Map<number, Record<Figure, bigint>>()
  for (const { chain_id: chainId, figure, sum } of rows) {
    const chainSums = sumsByChain.get(Number(chainId)) ?? {
      payments: 0n,
      claims: 0n,
      others: 0n,
      refused: 0n,
    }
    chainSums[figure] = sum
    sumsByChain.set(Number(chainId), chainSums)
  }
  return sumsByChain
}

/** Share of a limit from which nothing new is sold: the rest is for orders that were sold before. */
const sellingShare = { numerator: 4n, denominator: 5n }

/** Ids of chains on which nothing new is to be sold, because too much is paid and not attested. Pure. */
export function fullChains(
  sums: Figures,
  chains: readonly { readonly chainId: number; readonly limits: ExposureLimits }[],
): readonly number[] {
  const totalMicroUsd = sumOf(sums, 'payments')
  const isFull = (sum: bigint, limit: bigint) =>
    sum * sellingShare.denominator >= limit * sellingShare.numerator
  return chains
    .filter(
      ({ chainId, limits }) =>
        isFull(totalMicroUsd, limits.allMicroUsd) ||
        isFull(sums.get(chainId)?.payments ?? 0n, limits.chainMicroUsd),
    )
    .map(({ chainId }) => chainId)
}

/** Unattested payments and their limit, for each chain, and for all chains together as chain 0. Pure. */
export function exposureOf(
  sums: Figures,
  chains: readonly { readonly chainId: number; readonly limits: ExposureLimits }[],
): readonly { readonly chainId: number; readonly paidMicroUsd: bigint; readonly maxMicroUsd: bigint }[] {
  const totalExposure = chains.slice(0, 1).map(({ limits }) => ({
    chainId: 0,
    paidMicroUsd: sumOf(sums, 'payments'),
    maxMicroUsd: limits.allMicroUsd,
  }))
  const chainExposures = chains.map(({ chainId, limits }) => ({
    chainId,
    paidMicroUsd: sums.get(chainId)?.payments ?? 0n,
    maxMicroUsd: limits.chainMicroUsd,
  }))
  return [...totalExposure, ...chainExposures]
}

const sumOf = (sums: Figures, figure: Figure): bigint =>
  [...sums.values()].reduce((sum, chainSums) => sum + chainSums[figure], 0n)

/**
 * Counts a payment, in the transaction that keeps its signed record. Refunds are counted and never wait, because they
 * return the depositor's own money.
 * @throws UnattestedError
 */
export async function expose(
  tx: SqlTx,
  { id, attempt }: Pick<KeptRecord, 'id' | 'attempt'>,
  exposure: Exposure,
): Promise<void> {
  const { kind, chainId, traits, asked } = exposure
  if (kind !== 'refund') await tx.query('select pg_advisory_xact_lock($1)', [exposureLock])
  const { microUsd, appFees } = kind === 'claim' ? await coverClaim(tx, exposure) : exposure
  if (kind !== 'refund') await requireRoom(tx, { ...exposure, microUsd })
  await tx.query(
    `insert into payment (record_id, attempt, kind, chain_id, micro_usd, traits, asked)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, attempt, kind, chainId, microUsd.toString(), traits, asked === undefined ? null : serialize(asked)],
  )
  await keepAppFees(tx, { id, attempt }, appFees)
}

/**
 * Takes a claim's app fees from what attested fills owe, so that only the rest of it counts as unattested.
 * @throws UnattestedError while fills that are not attested yet would cover the rest
 */
async function coverClaim(
  tx: SqlTx,
  { microUsd, appFees, hasOracles }: Exposure,
): Promise<Pick<Exposure, 'microUsd' | 'appFees'>> {
  const [claimedFee] = appFees
  // An item that an older release stored does not tell whose fees it takes.
  if (claimedFee === undefined) return { microUsd, appFees: [] }
  const { attested, coming } = await readAppFeesOwed(tx, claimedFee)
  const amount = minBigint(claimedFee.amount, attested)
  const uncovered = claimedFee.amount - amount
  if (hasOracles && uncovered > 0n && uncovered <= coming)
    throw new UnattestedError('oracles have not attested yet the fills that owe these app fees')
  return {
    microUsd: divideUp(microUsd * uncovered, claimedFee.amount),
    appFees: amount > 0n ? [{ ...claimedFee, amount }] : [],
  }
}

/** @throws UnattestedError where a limit would be passed, with the oracles' reason */
async function requireRoom(tx: SqlTx, exposure: Exposure): Promise<void> {
  const { chainId } = exposure
  const refused = await tx.query<{ trait: string; said: string | null; sum: bigint }>(
    `select traits[1] as trait, max(said) as said, sum(micro_usd)::numeric as sum from payment
     where ${isCounted} and state = 'refused' and chain_id = $1 group by 1`,
    [chainId],
  )
  const full = fullLimit(exposure, {
    sums: await readFigures(tx),
    refused: new Map(refused.map(({ trait, sum }) => [trait, sum])),
  })
  if (full === undefined) return
  if (full.of === 'kind') {
    const refusalReason = refused.find(({ trait }) => trait === full.trait)?.said
    throw new UnattestedError(
      `oracles refused payments of this kind on chain ${chainId} (${full.trait}: ${refusalReason})`,
    )
  }
  const isClaim = exposure.kind === 'claim'
  const name = isClaim ? 'claims that no attestation covers' : 'payments that are not attested yet'
  const scope = full.of === 'chain' ? `on chain ${chainId}` : 'on all chains'
  const reason = await reasonOf(tx, full.of === 'chain' ? chainId : undefined)
  throw new UnattestedError(`${name} ${scope} are at their limit${reason}`)
}

/** The limit that a payment would pass, by what it counts: payments of a refused `trait`, of its chain, or of all chains. */
export type FullLimit =
  | { readonly of: 'kind'; readonly trait: string }
  | { readonly of: 'chain' }
  | { readonly of: 'all' }

/**
 * The limit that a payment would pass; undefined where it passes none. Pure.
 * @param counted.refused micro-USD that oracles refused on the payment's chain, by first trait
 * @source rules L-21, L-22
 */
export function fullLimit(
  {
    kind,
    chainId,
    microUsd,
    traits,
    limits,
  }: Pick<Exposure, 'kind' | 'chainId' | 'microUsd' | 'traits' | 'limits'>,
  { sums, refused }: { readonly sums: Figures; readonly refused: ReadonlyMap<string, bigint> },
): FullLimit | undefined {
  const trait = traits.find((one) => (refused.get(one) ?? 0n) > limits.refusedMicroUsd)
  if (trait !== undefined) return { of: 'kind', trait }
  const figure = kind === 'claim' ? 'claims' : 'payments'
  if ((sums.get(chainId)?.[figure] ?? 0n) + microUsd > limits.chainMicroUsd) return { of: 'chain' }
  return sumOf(sums, figure) + microUsd > limits.allMicroUsd ? { of: 'all' } : undefined
}

/** The newest answer of oracles about an unattested payment, as the end of an error message. */
async function reasonOf(tx: SqlTx, chainId: number | undefined): Promise<string> {
  const [row] = await tx.query<{ said: string }>(
    `select said from payment where state = 'paid' and said is not null and ($1::bigint is null or chain_id = $1)
     order by next_at desc limit 1`,
    [chainId ?? null],
  )
  return row === undefined ? '' : `; oracles said last: ${row.said}`
}

/** Newest answer of the oracles by chain id, which tells an operator why payments are not attested. */
export async function readSaid(database: Queries): Promise<ReadonlyMap<number, string>> {
  const rows = await database.query<{ chain_id: bigint; said: string }>(
    `select distinct on (chain_id) chain_id, said from payment
     where ${isCounted} and said is not null order by chain_id, next_at desc`,
  )
  return new Map(rows.map(({ chain_id: chainId, said }) => [Number(chainId), said]))
}

/**
 * Follows a record's outcome, in the transaction that saves it: a failed one paid nothing (`void`), and oracles can be
 * asked about a final one (`paid`). Does nothing for records that are no payments.
 */
export async function settleExposure(
  tx: SqlTx,
  { id, attempt, outcome, toldHash, transactions }: KeptRecord,
): Promise<void> {
  const transactionId = toldHash ?? transactions.at(-1)?.hash ?? null
  const state = outcome === 'open' ? 'signed' : outcome === 'done' ? 'paid' : 'void'
  await tx.query(
    `update payment set state = $3, transaction_id = $4, next_at = clock_timestamp()
     where record_id = $1 and attempt = $2 and state in ('signed', 'paid', 'void')
       and state <> $3`,
    [id, attempt, state, transactionId],
  )
}

const askedSchema = z.object({
  order: orderSchema,
  orderSignature: z.string().transform((text): Hex => `0x${text.replace(/^0x/, '')}`),
  inputs: z.array(z.object({ transactionId: z.string(), onchainId: hex(32), inputIndex: z.number() })),
  deposited: z.string().transform(BigInt),
  refundIndex: z.number().optional(),
  booking: z.string().optional(),
})

function serialize(question: AttestationQuestion): string {
  return JSON.stringify(question, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

export type SettlementKey = { readonly id: string; readonly attempt: number; readonly key: Hex }

/** Keys under which the hub settles what was paid for an order; what no oracle attests has none. */
export async function readSettlementKeys(
  database: Pick<SqlDatabase, 'query'>,
  orderId: Hex,
): Promise<readonly SettlementKey[]> {
  const rows = await database.query<{ record_id: string; attempt: number; asked: unknown }>(
    `select p.record_id, p.attempt, p.asked from payment p
     join signed_record r on r.id = p.record_id and r.attempt = p.attempt
     where r.payment_id = $1 and r.outcome = 'done' and p.asked is not null`,
    [orderId],
  )
  return rows.map(({ record_id: id, attempt, asked }) => {
    const onchainIds = askedSchema.parse(asked).inputs.map((input) => input.onchainId)
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
    const { order, inputs, deposited } = askedSchema.parse(asked)
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
    asked: askedSchema.parse(row.asked),
  }))
}

/** A final payment that oracles are to be asked about. */
export type DuePayment = {
  readonly id: string
  readonly attempt: number
  readonly kind: 'fill' | 'refund'
  readonly chainId: number
  readonly transactionId: string
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
    asked: askedSchema.parse(row.asked),
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
  | { readonly kind: 'open'; readonly code: string }

/** Pause before a payment is asked about again, doubled from `firstMs`; and how often in a row oracles refuse for good. */
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
  const isRefusal = answer.kind === 'refused'
  const [row] = await database.query<{ state: string }>(
    `update payment set
       state = case when $3 then 'attested' when $4 and refusals + 1 >= $6 then 'refused' else state end,
       refusals = case when $4 then refusals + 1 else 0 end, said = $5, tries = tries + 1,
       next_at = clock_timestamp() + least($7 * 2 ^ least(tries, 20), $8) * interval '1 millisecond'
     where record_id = $1 and attempt = $2 and state = 'paid' returning state`,
    [
      ...[id, attempt, answer.kind === 'attested', isRefusal],
      ...[answer.kind === 'attested' ? 'attested' : answer.code, retry.refusalsMax],
      ...[retry.firstMs, retry.maxMs],
    ],
  )
  if (row?.state === 'attested' || row?.state === 'refused') return row.state
  return 'open'
}

/**
 * Takes the present unattested payments out of the sums, on an operator's `go`. Later answers of oracles about them change
 * nothing.
 * @param chainId undefined for all chains @returns number of payments
 */
export async function acceptExposure(tx: SqlTx, chainId: number | undefined): Promise<number> {
  const rows = await tx.query(
    `update payment set accepted_at = clock_timestamp()
     where ${isCounted} and ($1::bigint is null or chain_id = $1) returning 1`,
    [chainId ?? null],
  )
  return rows.length
}
