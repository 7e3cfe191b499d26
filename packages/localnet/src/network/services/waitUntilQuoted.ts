import { z } from 'zod'
import { StartFailure } from '../../processes/processEnd.ts'

const pollMs = 200
const healthSchema = z.object({ healthy: z.boolean() })

/**
 * Waits until quote-api calls a chain healthy: it has read the chain's market, and its deposits since the last start.
 * @throws StartFailure after `timeoutMs`
 */
export async function waitUntilQuoted(
  chain: { readonly name: string; readonly chainId: number },
  options: { readonly quoteApiUrl: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { quoteApiUrl, timeoutMs, signal } = options
  const url = `${quoteApiUrl}/chains/health?chainId=${chain.chainId}`
  const giveUpAtMs = performance.now() + timeoutMs
  while (performance.now() < giveUpAtMs) {
    signal.throwIfAborted()
    const answer = await fetch(url, { signal }).catch(() => undefined)
    if (answer?.ok === true && healthSchema.parse(await answer.json()).healthy) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw new StartFailure(`${chain.name} is not quoted after ${timeoutMs / 1_000} s: see GET ${url}`)
}
