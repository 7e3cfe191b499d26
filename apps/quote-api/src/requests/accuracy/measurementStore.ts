import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { toBytes } from '../orders/orderColumns.ts'
import type { FillMeasurement } from './measureFill.ts'

type Queries = Pick<SqlDatabase, 'query'>

/** Fills older than this are no longer tried, so that none is tried for ever. */
const measuredWithin = '1 day'

/** Settled requests without a measurement, in random order, so that unmeasurable ones do not block the others. */
export async function listUnmeasured(database: Queries, limit: number): Promise<readonly Hex[]> {
  const rows = await database.query<{ request_id: Buffer }>(
    `select s.request_id from settlement s
     where s.stage = 'settled' and s.fill_tx is not null
       and s.updated_at > statement_timestamp() - $1::interval
       and not exists (select 1 from fill_measurement m where m.request_id = s.request_id)
     order by random() limit $2`,
    [measuredWithin, limit],
  )
  return rows.map(({ request_id }): Hex => `0x${request_id.toString('hex')}`)
}

/** Transaction that the solver sent for a request: its fill, or before that a permit or a sweep. */
export type SolverTransaction = { readonly chainId: number; readonly txHash: string }

/** Reads the facts of a measurement that the order lacks: Unix time of the deposit's block, and the solver's transactions. */
export async function readFillFacts(
  database: Queries,
  requestId: Hex,
): Promise<
  { readonly depositSeconds: bigint; readonly transactions: readonly SolverTransaction[] } | undefined
> {
  const [row] = await database.query<{
    deposit_seconds: bigint
    transactions: readonly (readonly [number, string])[] | null
  }>(
    `select floor(extract(epoch from d.block_time))::bigint as deposit_seconds,
       (select json_agg(json_build_array(w.chain_id, w.tx_hash) order by w.created_at) from work_item w
         where w.request_id = s.request_id and w.kind in ('fill', 'permit', 'sweep') and w.state = 'done'
           and w.tx_hash is not null) as transactions
     from settlement s join deposit_seen d on d.id = s.deposit_id where s.request_id = $1`,
    [toBytes(requestId)],
  )
  if (row === undefined) return undefined
  return {
    depositSeconds: row.deposit_seconds,
    transactions: (row.transactions ?? []).map(([chainId, txHash]) => ({ chainId, txHash })),
  }
}

/** Stores the measurement of a request; a second one of the same request changes nothing. */
export async function saveMeasurement(
  tx: SqlTx,
  measured: FillMeasurement & {
    readonly requestId: Hex
    readonly originChainId: number
    readonly destinationChainId: number
  },
): Promise<void> {
  await tx.query(
    `insert into fill_measurement (request_id, origin_chain_id, destination_chain_id, elapsed_seconds,
       quoted_seconds, reaction_ms, gas_usd_x18, quoted_gas_usd_x18, output_amount, quoted_output_amount,
       deposit_amount, quoted_deposit_amount)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing`,
    [
      toBytes(measured.requestId),
      measured.originChainId,
      measured.destinationChainId,
      measured.elapsedSeconds,
      measured.quotedSeconds,
      measured.reactionMs,
      measured.gasUsdX18 ?? null,
      measured.quotedGasUsdX18,
      measured.outputAmount,
      measured.quotedOutputAmount,
      measured.depositAmount,
      measured.quotedDepositAmount,
    ],
  )
}

export const accuracyQuantiles = [0.1, 0.5, 0.9] as const

/** Ratios of measured to quoted values, for one component of the newest fills on a destination chain. */
export type Accuracy = {
  readonly chainId: number
  readonly component: 'gas' | 'time' | 'output' | 'deposit'
  readonly fills: number
  /** Measured value divided by the quoted one: one ratio per quantile of `accuracyQuantiles`. */
  readonly ratios: readonly number[]
}

/** Reads the ratios of the newest fills of each chain. As statistics they may be floating-point numbers. */
export async function readAccuracy(
  database: Queries,
  query: { readonly chainIds: readonly number[]; readonly fillsPerChain: number },
): Promise<readonly Accuracy[]> {
  const rows = await database.query<{
    chain_id: bigint
    component: Accuracy['component']
    fills: bigint
    ratios: readonly number[]
  }>(
    `select chain.id as chain_id, part.component, count(*)::bigint as fills,
       percentile_cont($3::float8[]) within group (order by part.ratio) as ratios
     from unnest($1::bigint[]) as chain (id)
     cross join lateral (select * from fill_measurement m where m.destination_chain_id = chain.id
       order by m.measured_at desc limit $2) m
     cross join lateral (values
       ('gas', m.gas_usd_x18::float8 / nullif(m.quoted_gas_usd_x18, 0)::float8),
       ('time', m.elapsed_seconds::float8 / nullif(m.quoted_seconds, 0)::float8),
       ('output', m.output_amount::float8 / nullif(m.quoted_output_amount, 0)::float8),
       ('deposit', m.deposit_amount::float8 / nullif(m.quoted_deposit_amount, 0)::float8)
     ) part (component, ratio)
     where part.ratio is not null
     group by chain.id, part.component`,
    [query.chainIds, query.fillsPerChain, accuracyQuantiles],
  )
  return rows.map(({ chain_id, component, fills, ratios }) => ({
    chainId: Number(chain_id),
    component,
    fills: Number(fills),
    ratios,
  }))
}

/** Recent reaction times of solvers on one route. */
export type RouteReactions = {
  readonly originChainId: number
  readonly destinationChainId: number
  readonly reactionsMs: readonly number[]
}

/** Reaction times of the newest fills, for each pair of the chains that has any. */
export async function readReactions(
  database: Queries,
  query: { readonly chainIds: readonly number[]; readonly fillsPerRoute: number; readonly days: number },
): Promise<readonly RouteReactions[]> {
  const rows = await database.query<{ origin: bigint; destination: bigint; reactions: readonly number[] }>(
    `select o.id as origin, d.id as destination, array_agg(m.reaction_ms) as reactions
     from unnest($1::bigint[]) as o (id), unnest($1::bigint[]) as d (id)
     cross join lateral (select reaction_ms from fill_measurement f
       where f.origin_chain_id = o.id and f.destination_chain_id = d.id
         and f.measured_at > statement_timestamp() - $3::int * interval '1 day'
       order by f.measured_at desc limit $2) m
     group by o.id, d.id`,
    [query.chainIds, query.fillsPerRoute, query.days],
  )
  return rows.map(({ origin, destination, reactions }) => ({
    originChainId: Number(origin),
    destinationChainId: Number(destination),
    reactionsMs: reactions,
  }))
}
