import type { SqlTx } from '@causeway/core'
import { requestText } from '@causeway/rpc'
import { z } from 'zod'
import type { OracleSetting, OracleSettings } from './oracleSettings.ts'

const answerBytesMax = 1024 * 1024
const timeoutMs = 2_000
const answerSchema = z.object({
  chains: z.array(z.object({ id: z.string().max(64), halted: z.boolean() })).max(1_000),
})

/** Interval at which services ask oracles for their halts. @source rules O-64, O-65 */
export const askHaltsEveryMs = 2_000

/** One oracle's answer: chains that it has halted; `chainIds` is undefined where it gave no answer that can be read. */
export type HaltAnswer = { readonly signer: string; readonly chainIds: readonly number[] | undefined }

/** Asks each oracle which chains it has halted. Chains that are not listed are left out. Never throws. */
export async function askHalts(
  { oracles }: Pick<OracleSettings, 'oracles'>,
  chains: readonly { readonly key: string; readonly chainId: number }[],
  signal: AbortSignal,
): Promise<readonly HaltAnswer[]> {
  const chainIdByKey = new Map(chains.map(({ key, chainId }) => [key, chainId]))
  return Promise.all(
    oracles.map(async (oracle) => {
      const haltedKeys = await askOne(oracle, signal)
      return { signer: oracle.signer, chainIds: haltedKeys?.flatMap((key) => chainIdByKey.get(key) ?? []) }
    }),
  )
}

async function askOne(
  { url, apiKey }: OracleSetting,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const { status, text } = await requestText({
      url: `${url.reveal()}/chains/v1`,
      method: 'GET',
      timeoutMs,
      answerBytesMax,
      signal,
      headers: { ...(apiKey !== undefined && { 'x-api-key': apiKey.reveal() }) },
    })
    if (status !== 200) return undefined
    return answerSchema.parse(JSON.parse(text)).chains.flatMap(({ id, halted }) => (halted ? [id] : []))
  } catch {
    return undefined
  }
}

/**
 * Stores each oracle's last answer in the table `oracle_halt`, which quote-api and the solver have. An oracle that
 * gives no answer keeps its earlier halts, also over a restart; those of an oracle that is no longer configured are
 * deleted.
 * @param answers of all configured oracles
 * @returns chains that enough oracles halt by now
 */
export async function keepHalts(
  tx: SqlTx,
  answers: readonly HaltAnswer[],
  { threshold }: Pick<OracleSettings, 'threshold'>,
): Promise<readonly number[]> {
  await tx.query('delete from oracle_halt where oracle <> all($1)', [answers.map(({ signer }) => signer)])
  for (const { signer, chainIds } of answers) {
    if (chainIds === undefined) continue
    await tx.query('delete from oracle_halt where oracle = $1 and chain_id <> all($2::bigint[])', [
      signer,
      chainIds,
    ])
    await tx.query(
      'insert into oracle_halt (oracle, chain_id) select $1, unnest($2::bigint[]) on conflict do nothing',
      [signer, chainIds],
    )
  }
  const rows = await tx.query<{ chain_id: bigint }>('select chain_id from oracle_halt')
  const halts = rows.map(({ chain_id: chainId }) => Number(chainId))
  return haltedChains(halts, { oracles: answers.length, threshold })
}

/**
 * Chains that so many oracles halt that the others are fewer than the threshold, in ascending order. Pure.
 * @param halts chain ids, one for each oracle that halts the chain
 * @param oracles number of configured oracles
 * @source rules O-64, O-65
 */
export function haltedChains(
  halts: readonly number[],
  { oracles, threshold }: { readonly oracles: number; readonly threshold: number },
): readonly number[] {
  const countOf = (chainId: number) => halts.filter((one) => one === chainId).length
  return [...new Set(halts)]
    .filter((chainId) => countOf(chainId) > oracles - threshold)
    .sort((one, other) => one - other)
}
