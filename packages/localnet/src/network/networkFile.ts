import type { NetworkDeployment } from '../deploy/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import { writeFileAtomically } from './atomicFile.ts'
import { type ChainKey, chainPlans } from './chainPlan.ts'

export type NetworkFacts = {
  /** Absent when no quote-api runs. */
  readonly quoteApiUrl?: string
  readonly deployment: NetworkDeployment
  readonly keys: LocalKeys
  readonly rpcUrls: Readonly<Record<ChainKey, string>>
}

/**
 * `.local/network.json`: what a newcomer's own scripts need. `oracles` is empty and the sponsor has no
 * API key until the start gives them one. @source design.md 1
 */
export function networkFileContent({ quoteApiUrl, deployment, keys, rpcUrls }: NetworkFacts) {
  const chain = (key: 'base' | 'optimism') => {
    const { chainId, depository, multicall3, wrappedNative, tokens } = deployment[key]
    return {
      id: chainId,
      name: chainPlans[key].key,
      rpcUrl: rpcUrls[key],
      depository,
      multicall3,
      wrappedNative,
      tokens,
    }
  }
  return {
    ...(quoteApiUrl !== undefined && { quoteApi: { url: quoteApiUrl } }),
    oracles: [],
    chains: [chain('base'), chain('optimism')],
    hub: {
      rpcUrl: rpcUrls.hub,
      hubAddress: deployment.hub.hub,
      oracleAddress: deployment.hub.oracle,
    },
    solver: { address: keys.fillWallet.address },
    accounts: keys.users.map(({ address, privateKey }) => ({ address, privateKey })),
    sponsor: { wallet: keys.sponsor.address, walletPrivateKey: keys.sponsor.privateKey },
  }
}

/** Holds private keys of accounts that exist on this machine alone, so only its owner reads it. */
export async function writeNetworkFile(path: string, facts: NetworkFacts): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify(networkFileContent(facts), null, 2)}\n`, { mode: 0o600 })
}
