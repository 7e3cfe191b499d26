import { loadArtifacts } from '../contracts/artifacts.ts'
import { localChainIds, type NetworkDeployment } from '../contracts/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import { connectLocalChain } from '../nodes/localChain.ts'
import { deployHub } from './deployHub.ts'
import { deployUserChain } from './deployUserChain.ts'

export type NetworkToDeploy = {
  readonly baseUrl: string
  readonly optimismUrl: string
  readonly hubUrl: string
  readonly keys: LocalKeys
}

/**
 * Deploys, initialises and funds the three chains of a local network, side by side. It changes only
 * what is missing: called again on the same chains it sends no transaction.
 *
 * @throws Error naming the transactions that reverted, or the compiler's messages
 */
export async function deployNetwork(args: NetworkToDeploy): Promise<NetworkDeployment> {
  const { keys } = args
  const artifacts = await loadArtifacts()
  const [base, optimism, hub] = await Promise.all([
    deployUserChain(connectLocalChain(args.baseUrl, localChainIds.base), 'base', { artifacts, keys }),
    deployUserChain(connectLocalChain(args.optimismUrl, localChainIds.optimism), 'optimism', {
      artifacts,
      keys,
    }),
    deployHub(connectLocalChain(args.hubUrl, localChainIds.hub), artifacts, keys),
  ])
  return { base, optimism, hub }
}
