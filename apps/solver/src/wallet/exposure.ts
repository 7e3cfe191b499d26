import { divideUp, minBigint, type SqlDatabase, type SqlTx } from '@causeway/core'
import type { ExposureLimits } from '@causeway/core/config'
import { type AppFee, keepAppFees, readAppFeesOwed } from './appFees.ts'
import { type AttestationQuestion, serializeQuestion } from './attestationQuestion.ts'
import type { KeptRecord } from './signedRecord.ts'

type Queries = Pick<SqlDatabase, 'query'>

/**
 * A payment as it counts against limits from its signature until oracles attest it. Its row in the table
 * `payment` has a state: `expose` inserts it as `signed`; `settleExposure` makes it `paid` once it is final,
 * or `void` if it failed; the answers of oracles make a paid one `attested` or `refused`, which stay.
 */
export type Exposure = {
  readonly kind: 'fill' | 'refund' | 'claim'
  readonly chainId: number
  /** Worth of the payment when it is signed. */
  readonly microUsd: bigint
  /**
   * Properties such as `calls` or a currency, the most telling first. A payment that oracles refuse for good
   * counts against its first trait alone; a new payment waits if any of its traits is above
   * `limits.refusedMicroUsd`.
   */
  readonly traits: readonly string[]
  /** Undefined for a payment that no oracle attests. */
  readonly asked: AttestationQuestion | undefined
  /** True if the solver has oracles: then a claim waits for attestations of the fills that owe its app fees. */
  readonly hasOracles: boolean
  /** Fees that a fill leaves owed, by wallet; or the one that a claim takes. */
  readonly appFees: readonly AppFee[]
  readonly limits: ExposureLimits
}

/** Too much is paid and not attested: the payment waits until that is less, or until an operator says `go`. */
export class UnattestedError extends Error {
  override readonly name = 'UnattestedError'
}

/** Number of the advisory lock under which exposure is counted, over all chains and processes; any fixed number. */
const exposureLock = 0x0e9d6e75

/**
 * Sums of unattested payments, in micro-USD. `payments`: fills and refunds that oracles are asked about; `claims`, and
 * `others`, which are refunds that no oracle attests; `refused`: what oracles refused for good.
 */
export const figures = ['payments', 'claims', 'others', 'refused'] as const
export type Figure = (typeof figures)[number]

const figureSql = `case when state = 'refused' then 'refused' when kind = 'claim' then 'claims'
  when kind = 'refund' and asked is null then 'others' else 'payments' end`
/** Selects payments that are not attested and that no operator's `go` has taken out of the sums. */
const isCountedSql = `accepted_at is null and state in ('signed', 'paid', 'refused')`

/** The sums by chain id. Chains without unattested payments are left out. */
export type Figures = ReadonlyMap<number, Readonly<Record<Figure, bigint>>>

export async function readFigures(database: Queries): Promise<Figures> {
  const rows = await database.query<{ chain_id: bigint; figure: Figure; sum: bigint }>(
    `select chain_id, ${figureSql} as figure, sum(micro_usd)::numeric as sum from payment
     where ${isCountedSql} group by 1, 2`,
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

type ChainLimits = { readonly chainId: number; readonly limits: ExposureLimits }

/** Share of a limit from which nothing new is sold: the rest is for orders that were sold before. */
const sellingShare = { numerator: 4n, denominator: 5n }

/** Ids of chains on which nothing new is to be sold, because too much is paid and not attested. Pure. */
export function fullChains(sums: Figures, chains: readonly ChainLimits[]): readonly number[] {
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

/** Unattested payments of a chain and their limit. Chain 0 stands for all chains together. */
export type ChainExposure = {
  readonly chainId: number
  readonly paidMicroUsd: bigint
  readonly maxMicroUsd: bigint
}

/** The exposure of all chains together and of each chain. Pure. */
export function chainExposures(sums: Figures, chains: readonly ChainLimits[]): readonly ChainExposure[] {
  // The limit of all chains together is one setting, which every entry repeats.
  const totalExposure = chains.slice(0, 1).map(({ limits }) => ({
    chainId: 0,
    paidMicroUsd: sumOf(sums, 'payments'),
    maxMicroUsd: limits.allMicroUsd,
  }))
  const exposureByChain = chains.map(({ chainId, limits }) => ({
    chainId,
    paidMicroUsd: sums.get(chainId)?.payments ?? 0n,
    maxMicroUsd: limits.chainMicroUsd,
  }))
  return [...totalExposure, ...exposureByChain]
}

const sumOf = (sums: Figures, figure: Figure): bigint =>
  [...sums.values()].reduce((sum, chainSums) => sum + chainSums[figure], 0n)

/**
 * Counts a payment, in the transaction that keeps its signed record. Fills and claims take the lock first, so
 * that two payments cannot pass a limit together: the sums are read and the row is inserted under it. Refunds
 * are counted and never wait, because they return the depositor's own money; so they need no lock.
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
    [
      id,
      attempt,
      kind,
      chainId,
      microUsd.toString(),
      traits,
      asked === undefined ? null : serializeQuestion(asked),
    ],
  )
  await keepAppFees(tx, { id, attempt }, appFees)
}

/**
 * Takes a claim's app fees from what attested fills owe, so that only the rest of it counts as unattested.
 * The result replaces two members of the claim's exposure: `microUsd` is the worth of that rest, `appFees`
 * are those taken.
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
  const covered = minBigint(claimedFee.amount, attested)
  const uncovered = claimedFee.amount - covered
  if (hasOracles && uncovered > 0n && uncovered <= coming)
    throw new UnattestedError('oracles have not attested yet the fills that owe these app fees')
  return {
    microUsd: divideUp(microUsd * uncovered, claimedFee.amount),
    appFees: covered > 0n ? [{ ...claimedFee, amount: covered }] : [],
  }
}

/** @throws UnattestedError where a limit would be passed, with the oracles' reason */
async function requireRoom(tx: SqlTx, exposure: Exposure): Promise<void> {
  const { chainId } = exposure
  // SQL counts from 1: `traits[1]` is the first trait.
  const refused = await tx.query<{ trait: string; said: string | null; sum: bigint }>(
    `select traits[1] as trait, max(said) as said, sum(micro_usd)::numeric as sum from payment
     where ${isCountedSql} and state = 'refused' and chain_id = $1 group by 1`,
    [chainId],
  )
  const full = fullLimit(exposure, {
    sums: await readFigures(tx),
    refused: new Map(refused.map(({ trait, sum }) => [trait, sum])),
  })
  if (full === undefined) return
  if (full.scope === 'kind') {
    const refusalReason = refused.find(({ trait }) => trait === full.trait)?.said
    throw new UnattestedError(
      `oracles refused payments of this kind on chain ${chainId} (${full.trait}: ${refusalReason})`,
    )
  }
  const isClaim = exposure.kind === 'claim'
  const name = isClaim ? 'claims that no attestation covers' : 'payments that are not attested yet'
  const fullChainId = full.scope === 'chain' ? chainId : undefined
  const place = fullChainId === undefined ? 'on all chains' : `on chain ${fullChainId}`
  const reason = await readLastReason(tx, fullChainId)
  throw new UnattestedError(`${name} ${place} are at their limit${reason}`)
}

/** A limit that a payment would pass: on payments with a refused `trait`, on those of its chain, or on all. */
export type FullLimit =
  | { readonly scope: 'kind'; readonly trait: string }
  | { readonly scope: 'chain' }
  | { readonly scope: 'all' }

/**
 * The limit that a payment would pass; undefined where it passes none. Pure.
 * @param counted.refused micro-USD that oracles refused on the payment's chain, by first trait
 * @source rules L-21, L-22
 */
export function fullLimit(
  exposure: Pick<Exposure, 'kind' | 'chainId' | 'microUsd' | 'traits' | 'limits'>,
  { sums, refused }: { readonly sums: Figures; readonly refused: ReadonlyMap<string, bigint> },
): FullLimit | undefined {
  const { kind, chainId, microUsd, traits, limits } = exposure
  const trait = traits.find((one) => (refused.get(one) ?? 0n) > limits.refusedMicroUsd)
  if (trait !== undefined) return { scope: 'kind', trait }
  const figure = kind === 'claim' ? 'claims' : 'payments'
  if ((sums.get(chainId)?.[figure] ?? 0n) + microUsd > limits.chainMicroUsd) return { scope: 'chain' }
  return sumOf(sums, figure) + microUsd > limits.allMicroUsd ? { scope: 'all' } : undefined
}

/** The newest answer of oracles about an unattested payment, as the end of an error message. */
async function readLastReason(tx: SqlTx, chainId: number | undefined): Promise<string> {
  const [row] = await tx.query<{ said: string }>(
    `select said from payment where state = 'paid' and said is not null and ($1::bigint is null or chain_id = $1)
     order by next_at desc limit 1`,
    [chainId ?? null],
  )
  return row === undefined ? '' : `; oracles said last: ${row.said}`
}

/** Newest answer of the oracles by chain id, which tells an operator why payments are not attested. */
export async function readLastAnswers(database: Queries): Promise<ReadonlyMap<number, string>> {
  const rows = await database.query<{ chain_id: bigint; said: string }>(
    `select distinct on (chain_id) chain_id, said from payment
     where ${isCountedSql} and said is not null order by chain_id, next_at desc`,
  )
  return new Map(rows.map(({ chain_id: chainId, said }) => [Number(chainId), said]))
}

/**
 * Follows a record's outcome, in the transaction that saves it: a failed one paid nothing (`void`), and oracles can be
 * asked about a final one (`paid`). Does nothing for records that are no payments, and for
 * payments that oracles have attested, or refused for good.
 */
export async function settleExposure(
  tx: SqlTx,
  { id, attempt, outcome, toldHash, transactions }: KeptRecord,
): Promise<void> {
  // A `done` record's `toldHash` is the mined transaction's: until that was told, the record stays open.
  const transactionId = toldHash ?? transactions.at(-1)?.hash ?? null
  const endState = outcome === 'done' ? 'paid' : 'void'
  const state = outcome === 'open' ? 'signed' : endState
  await tx.query(
    `update payment set state = $3, transaction_id = $4, next_at = clock_timestamp()
     where record_id = $1 and attempt = $2 and state in ('signed', 'paid', 'void')
       and state <> $3`,
    [id, attempt, state, transactionId],
  )
}

/**
 * Takes the present unattested payments out of the sums, on an operator's `go`. Later answers of oracles about them change
 * nothing.
 * @param chainId undefined for all chains @returns number of payments
 */
export async function acceptExposure(tx: SqlTx, chainId: number | undefined): Promise<number> {
  const rows = await tx.query(
    `update payment set accepted_at = clock_timestamp()
     where ${isCountedSql} and ($1::bigint is null or chain_id = $1) returning 1`,
    [chainId ?? null],
  )
  return rows.length
}
