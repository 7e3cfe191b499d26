// Measures that a service asks a chain with five blocks a second no more than one with a block every two seconds.
import { setTimeout as pause } from 'node:timers/promises'
import type { FaultCounters } from './faultProxy/counting.ts'
import type { FaultProxy } from './faultProxy/faultProxy.ts'
import { askNode } from './nodes/askNode.ts'

/** Milliseconds between blocks. The nodes mine every two seconds by themselves; `makeBlocks` makes Base faster. */
export const blockTimes = { base: 200, optimism: 2_000 } as const

/** Proxies before the nodes, which all that a service asks them goes through. */
export type CountedChains = Readonly<Record<keyof typeof blockTimes, FaultProxy>>

type CallsByMethod = FaultCounters['callsByMethod']

/** Mines on a node every `everyMs`, beside the blocks that it makes by itself. @returns a function that ends it */
export function makeBlocks(url: string, everyMs: number): () => void {
  const timer = setInterval(() => {
    // An error means that the node stopped, and then nothing is counted any more.
    askNode(url, 'evm_mine', []).catch(() => undefined)
  }, everyMs)
  return () => clearInterval(timer)
}

/** The faster chain takes at most so many times the calls of the slower one. @source F-106 */
const ratioMax = 1.2

/** Requests counted in 16 seconds. */
export async function countRequests(proxy: FaultProxy): Promise<FaultCounters> {
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
  const excess = (['requests', 'calls'] as const).filter((unit) => fast[unit] > ratioMax * slow[unit])
  return [
    ...(slow.requests > leastRequests ? [] : [`${slow.requests} requests of the slower chain show nothing`]),
    ...excess.map((unit) => `${fast[unit]} ${unit} of the faster chain, ${slow[unit]} of the slower one`),
    ...(excess.length > 0 ? listMethods(fast.callsByMethod, slow.callsByMethod) : []),
  ]
}

/** Calls by method, those first that the faster chain is asked most more often: the method tells which code asks. */
function listMethods(fast: CallsByMethod, slow: CallsByMethod): readonly string[] {
  const excessOf = (method: string) => (fast[method] ?? 0) - (slow[method] ?? 0)
  return [...new Set([...Object.keys(fast), ...Object.keys(slow)])]
    .sort((a, b) => excessOf(b) - excessOf(a))
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
  const readHeights = async () => ({
    base: await newestBlockOf(chains.base),
    optimism: await newestBlockOf(chains.optimism),
  })
  const before = await readHeights()
  const [fast, slow] = await Promise.all([countRequests(chains.base), countRequests(chains.optimism)])
  const after = await readHeights()
  // Base should make ten times as many blocks; fewer are enough on a busy machine.
  const wasBaseFaster = after.base - before.base > 3 * (after.optimism - before.optimism)
  return [
    ...findExcess({ fast, slow }, leastRequests),
    ...(wasBaseFaster ? [] : ['no chain was the faster one']),
  ]
}

export async function newestBlockOf({ url }: FaultProxy): Promise<number> {
  return Number(await askNode(url, 'eth_blockNumber', []))
}
