import { z } from 'zod'
import { requestText } from '../rpc/requestText.ts'
import type { OracleSetting, OracleSettings } from './oracleSettings.ts'

const answerBytesMax = 1024 * 1024
const timeoutMs = 2_000
const answerSchema = z.object({
  chains: z.array(z.object({ id: z.string().max(64), halted: z.boolean() })).max(1_000),
})

/** Asks an oracle which chains it has halted. @returns their ids; undefined without a readable answer. Never throws. */
export async function askHalts(
  { url, apiKey }: OracleSetting,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const { status, text } = await requestText({
      ...{ url: `${url.reveal()}/chains/v1`, method: 'GET', timeoutMs, answerBytesMax, signal },
      headers: { ...(apiKey !== undefined && { 'x-api-key': apiKey.reveal() }) },
    })
    if (status !== 200) return undefined
    return answerSchema.parse(JSON.parse(text)).chains.flatMap(({ id, halted }) => (halted ? [id] : []))
  } catch {
    return undefined
  }
}

/** Whether so many oracles halt a chain that the others cannot attest anything of it. Pure. @source O-64 */
export function isHaltedBy(
  count: number,
  {
    oracles,
    threshold,
  }: { readonly oracles: readonly unknown[]; readonly threshold: OracleSettings['threshold'] },
): boolean {
  return count > oracles.length - threshold
}
