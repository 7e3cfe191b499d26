import type { SqlDatabase } from '@causeway/core'
import { z } from 'zod'

type Queries = Pick<SqlDatabase, 'query'>

/** Exposure that a solver reports: its payments on a chain that oracles have not attested yet, and its own cap. */
export type SolverExposure = {
  /** 0 stands for all chains together. */
  readonly chainId: number
  readonly paidMicroUsd: bigint
  /** Cap above which the solver pays nothing more there. */
  readonly maxMicroUsd: bigint
}

const entry = '[0-9]{1,15}:[0-9]{1,38}:[0-9]{1,38}'
const chainsMax = 64

/** `chainId:paid:cap` in micro-USD with commas between them, as solvers send it. */
export const exposureText = z
  .string()
  .regex(
    new RegExp(`^(${entry}(,${entry}){0,${chainsMax - 1}})?$`),
    'must be chainId:paid:cap, with commas between them',
  )
  .default('')
  .describe('Paid and not attested, in micro-USD: `chainId:paid:cap`, 0 for all chains')

export function parseExposure(text: string): readonly SolverExposure[] {
  return text
    .split(',')
    .filter(Boolean)
    .map((entryText) => {
      const [chainId = '', paid = '', max = ''] = entryText.split(':')
      return { chainId: Number(chainId), paidMicroUsd: BigInt(paid), maxMicroUsd: BigInt(max) }
    })
}

/** Time for which a reported figure counts if it is not repeated. */
const keptSeconds = 60
/** Interval at which unchanged figures are written again. */
const repeatedSeconds = 20

/**
 * Stores what a solver reports. Of several solvers the one closest to its cap counts for a minute, so that
 * one with room does not hide it; a falling figure is therefore shown up to a minute late. The products in
 * the SQL compare the shares of the caps, paid divided by cap, without a division. @source Q-136
 */
export async function keepExposure(database: Queries, exposures: readonly SolverExposure[]): Promise<void> {
  if (exposures.length === 0) return
  // Rows are written in one order, so that two solvers never deadlock.
  const sorted = [...new Map(exposures.map((exposure) => [exposure.chainId, exposure])).values()].sort(
    (one, other) => one.chainId - other.chainId,
  )
  await database.query(
    `insert into solver_exposure as kept (chain_id, paid_micro_usd, max_micro_usd)
     select * from unnest($1::bigint[], $2::numeric[], $3::numeric[])
     on conflict (chain_id) do update set paid_micro_usd = excluded.paid_micro_usd,
       max_micro_usd = excluded.max_micro_usd, told_at = clock_timestamp()
     where excluded.paid_micro_usd * kept.max_micro_usd > kept.paid_micro_usd * excluded.max_micro_usd
       or kept.told_at < clock_timestamp() - interval '1 second' * case
         when (excluded.paid_micro_usd, excluded.max_micro_usd) = (kept.paid_micro_usd, kept.max_micro_usd)
         then ${repeatedSeconds} else ${keptSeconds} end`,
    [
      sorted.map(({ chainId }) => chainId),
      sorted.map(({ paidMicroUsd }) => paidMicroUsd.toString()),
      sorted.map(({ maxMicroUsd }) => maxMicroUsd.toString()),
    ],
  )
}

/**
 * Exposure reported within the last minute, the one of all chains together first. An unchanged figure was
 * perhaps written `repeatedSeconds` before its last report.
 */
export async function readExposure(database: Queries): Promise<readonly SolverExposure[]> {
  const rows = await database.query<{ chain_id: bigint; paid: string | bigint; max: string | bigint }>(
    `select chain_id, paid_micro_usd as paid, max_micro_usd as max from solver_exposure
     where told_at > clock_timestamp() - interval '1 second' * ${keptSeconds + repeatedSeconds} order by chain_id`,
  )
  return rows.map(({ chain_id: chainId, paid, max }) => ({
    chainId: Number(chainId),
    paidMicroUsd: BigInt(paid),
    maxMicroUsd: BigInt(max),
  }))
}
