import { Secret } from '@causeway/core'
import { type LighterNode, startLighterNode } from '@causeway/localnet/standIns/lighter'
import { onTestFinished } from 'vitest'
import { openLighterChain } from '../../../packages/families/src/lighter/reading/openLighterChain.ts'
import type { FamilyChain, ReadableChain } from '../../../packages/families/src/shared/familyChain.ts'
import { additional, depository, keyOf } from './transfers.ts'

export * from './transfers.ts'

export const aSignal = () => ({ signal: AbortSignal.timeout(60_000) })

/** Closed when the test ends. */
export async function startNodes(count = 1): Promise<readonly LighterNode[]> {
  const nodes = await Promise.all(Array.from({ length: count }, () => startLighterNode()))
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
  })
  for (const node of nodes)
    for (const account of [depository, additional]) node.setAccount(account, keyOf('aa'))
  return nodes
}

/** Closed when the test ends. */
export function openChain(
  nodes: readonly Pick<LighterNode, 'url'>[],
  change: Partial<ReadableChain> = {},
  finalEntriesMax = 0,
): FamilyChain {
  const chain = openLighterChain(chainOf(nodes, change), { finalEntriesMax })
  onTestFinished(() => chain.close())
  return chain
}

export function chainOf(
  nodes: readonly Pick<LighterNode, 'url'>[],
  change: Partial<ReadableChain>,
): ReadableChain {
  return {
    id: 'lighter',
    vmType: 'lighter-vm',
    network: undefined,
    hubChainId: '7',
    depository,
    additionalDepositories: [additional],
    endpoints: nodes.map(({ url }) => new Secret(url)),
    ready: true,
    unsetVariables: [],
    rpcThreshold: Math.ceil((2 * nodes.length) / 3),
    additionalData: {},
    ...change,
  }
}
