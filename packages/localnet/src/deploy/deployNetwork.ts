import { loadArtifacts } from '../contracts/artifacts.ts'
import { localChainIds, type NetworkDeployment } from '../contracts/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import { connectLocalChain } from '../nodes/localChain.ts'
import { deployHub } from './deployHub.ts'
import { deployTron } from './deployTron.ts'
import { deployUserChain } from './deployUserChain.ts'

export type NetworkToDeploy = {
  readonly baseUrl: string
  readonly optimismUrl: string
  readonly hubUrl: string
  readonly keys: LocalKeys
}

/**
 * Deploys, initialises and funds the three chains of a local network, side by side. Tron follows Base, because one
 * account deploys both on one node. Only what is missing changes: a second call sends no transaction.
 * @throws Error naming the transactions that reverted, or the compiler's messages
 */
export async function deployNetwork(args: NetworkToDeploy): Promise<NetworkDeployment> {
  const { keys } = args
  const artifacts = await loadArtifacts()
  const onBase = connectLocalChain(args.baseUrl, localChainIds.base)
  const [[base, tron], optimism, hub] = await Promise.all([
    deployUserChain(onBase, 'base', { artifacts, keys }).then(
      async (deployed) => [deployed, await deployTron(onBase, { artifacts, keys })] as const,
    ),
    deployUserChain(connectLocalChain(args.optimismUrl, localChainIds.optimism), 'optimism', {
      artifacts,
      keys,
    }),
    deployHub(connectLocalChain(args.hubUrl, localChainIds.hub), artifacts, keys),
  ])
  return { base, optimism, tron, hub }
}
