// How often a service asks a chain with five blocks a second, beside one with a block in two seconds.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { FaultCounters } from '../../src/faultProxy/counting.ts'
import type { FaultProxy } from '../../src/faultProxy/faultProxy.ts'
import { askNode } from '../../src/nodes/askNode.ts'

/** Base is the fast one; the nodes make a block in two seconds by themselves. */
export const blockTimes = { base: 200, optimism: 2_000 } as const

/** Proxies before the nodes, which all that a service asks them goes through. */
export type CountedChains = Readonly<Record<keyof typeof blockTimes, FaultProxy>>

/** Beside those that the node makes by itself. @returns what ends it */
export function makeBlocks(url: string, everyMs: number): () => void {
  const making = setInterval(() => {
    // What a node that stops does not make is not missed.
    askNode(url, 'evm_mine', []).catch(() => undefined)
  }, everyMs)
  return () => clearInterval(making)
}

/** What is asked in 16 seconds. */
export async function countAsked(proxy: FaultProxy): Promise<FaultCounters> {
  proxy.resetCounters()
  await pause(16_000)
  return proxy.counters()
}

/** @param leastRequests of the slower chain: fewer show nothing @source F-106 */
export function expectAsLittle(
  { fast, slow }: Readonly<Record<'fast' | 'slow', FaultCounters>>,
  leastRequests: number,
): void {
  expect(slow.requests).toBeGreaterThan(leastRequests)
  expect(fast.requests).toBeLessThan(1.2 * slow.requests)
  expect(fast.calls).toBeLessThan(1.2 * slow.calls)
}

/** Of both chains at once, which one process reads. @param leastRequests see `expectAsLittle` */
export async function expectEqualWork(chains: CountedChains, leastRequests: number): Promise<void> {
  const newest = async () => ({
    base: await newestOf(chains.base),
    optimism: await newestOf(chains.optimism),
  })
  const before = await newest()
  const [fast, slow] = await Promise.all([countAsked(chains.base), countAsked(chains.optimism)])
  expectAsLittle({ fast, slow }, leastRequests)
  const after = await newest()
  expect(after.base - before.base).toBeGreaterThan(3 * (after.optimism - before.optimism))
}

export async function newestOf({ url }: FaultProxy): Promise<number> {
  return Number(await askNode(url, 'eth_blockNumber', []))
}
