import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { percentile } from '../steadyLoad.ts'
import { seededRandom } from './seededRandom.ts'

/** The nearest answer of each of the three: a neighbour, the same continent, another one. */
const nearestMs = [30, 60, 110]
/** No answer of an endpoint that does not hang takes longer, but for what the node itself takes. */
export const farthestMs = 250
const errorShare = 0.01

export type DistantChain = {
  /** Value of a service's endpoint variable for the chain. */
  readonly urls: string
  /** The last of the three accepts and never answers, until it is told otherwise. */
  setHanging(isHanging: boolean): Promise<void>
  /** Delays of what was asked so far. */
  readonly delaysMs: readonly number[]
  stop(): Promise<void>
}

/**
 * Three endpoints of one chain as far away as public ones. Most answers are near their fastest and few near the
 * slowest, which is how public endpoints scatter; an even spread would hide what a second endpoint is good for.
 */
export async function startDistantChain(targetUrl: string, seed: number): Promise<DistantChain> {
  const delaysMs: number[] = []
  const random = seededRandom(seed)
  const proxies: FaultProxy[] = []
  const bringNear = (proxy: FaultProxy, nearMs: number) =>
    proxy.set({
      kind: 'distant',
      drawDelayMs() {
        const delayMs = nearMs + (farthestMs - nearMs) * random() ** 3
        delaysMs.push(delayMs)
        return delayMs
      },
      drawError: () => random() < errorShare,
    })
  for (const nearMs of nearestMs) {
    const proxy = await startFaultProxy({ targetUrl })
    proxies.push(proxy)
    await bringNear(proxy, nearMs)
  }
  return {
    urls: proxies.map(({ url }) => url).join(','),
    async setHanging(isHanging) {
      const last = proxies.at(-1)
      if (last === undefined) return
      if (isHanging) await last.set({ kind: 'hang' })
      else await bringNear(last, nearestMs.at(-1) ?? farthestMs)
    },
    delaysMs,
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    },
  }
}

export function describeDelays(chains: readonly DistantChain[]): string {
  const delays = chains.flatMap(({ delaysMs }) => delaysMs).sort((a, b) => a - b)
  const at = (share: number) => percentile(delays, share).toFixed(0)
  return `${delays.length} reads by the proxies: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`
}
