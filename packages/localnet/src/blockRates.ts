// Request rate of a service to a chain with five blocks a second, compared with a block every two seconds.
import { setTimeout as pause } from 'node:timers/promises'
import type { FaultCounters } from './faultProxy/counting.ts'
import type { FaultProxy } from './faultProxy/faultProxy.ts'
import { askNode } from './nodes/askNode.ts'

/** Base is the fast one; the nodes make a block in two seconds by themselves. */
export const blockTimes = { base: 200, optimism: 2_000 } as const

/** Proxies before the nodes, which all that a service asks them goes through. */
export type CountedChains = Readonly<Record<keyof typeof blockTimes, FaultProxy>>

type CallsByMethod = FaultCounters['callsByMethod']

/** Beside those that the node makes by itself. @returns what ends it */
export function makeBlocks(url: string, everyMs: number): () => void {
  const making = setInterval(() => {
    // Errors are ignored: a node that stops makes no more blocks, and the count does not need them.
    askNode(url, 'evm_mine', []).catch(() => undefined)
  }, everyMs)
  return () => clearInterval(making)
}

/** Requests counted in 16 seconds. */
export async function countAsked(proxy: FaultProxy): Promise<FaultCounters> {
  proxy.resetCounters()
  await pause(16_000)
  return proxy.counters()
}

/**
 * @param leastRequests of the slower chain: fewer show nothing
 * @returns what the faster chain costs more, a sentence each; empty where it costs as little @source F-106
 */
export function findExcess(
  { fast, slow }: Readonly<Record<'fast' | 'slow', FaultCounters>>,
  leastRequests: number,
): readonly string[] {
  const excess = (['requests', 'calls'] as const).filter((unit) => fast[unit] >= 1.2 * slow[unit])
  return [
    ...(slow.requests > leastRequests ? [] : [`${slow.requests} requests of the slower chain show nothing`]),
    ...excess.map((unit) => `${fast[unit]} ${unit} of the faster chain, ${slow[unit]} of the slower one`),
    ...(excess.length > 0 ? listMethods(fast.callsByMethod, slow.callsByMethod) : []),
  ]
}

/** Those that the faster chain is asked more often lead to who asks them. */
function listMethods(fast: CallsByMethod, slow: CallsByMethod): readonly string[] {
  const more = (method: string) => (fast[method] ?? 0) - (slow[method] ?? 0)
  return [...new Set([...Object.keys(fast), ...Object.keys(slow)])]
    .sort((a, b) => more(b) - more(a))
    .map(
      (method) =>
        `${method}: ${fast[method] ?? 0} of the faster chain, ${slow[method] ?? 0} of the slower one`,
    )
}

/** Compares the requests of one process to both chains at the same time. @returns as `findExcess` does */
export async function findUnequalWork(
  chains: CountedChains,
  leastRequests: number,
): Promise<readonly string[]> {
  const newest = async () => ({
    base: await newestOf(chains.base),
    optimism: await newestOf(chains.optimism),
  })
  const before = await newest()
  const [fast, slow] = await Promise.all([countAsked(chains.base), countAsked(chains.optimism)])
  const after = await newest()
  const isFaster = after.base - before.base > 3 * (after.optimism - before.optimism)
  return [...findExcess({ fast, slow }, leastRequests), ...(isFaster ? [] : ['no chain was the faster one'])]
}

export async function newestOf({ url }: FaultProxy): Promise<number> {
  return Number(await askNode(url, 'eth_blockNumber', []))
}
