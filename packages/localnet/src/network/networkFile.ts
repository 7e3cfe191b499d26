import type { Hex } from '@causeway/core'
import type { NetworkDeployment } from '../contracts/deployment.ts'
import { familyKeys, familyPlans } from '../families/familyPlans.ts'
import type { FamilyFacts } from '../families/familySettings.ts'
import { solanaAccounts } from '../families/solanaAccounts.ts'
import { localMints, solanaChainId } from '../families/solanaTokens.ts'
import { writeFileAtomically } from '../files/atomicFile.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import { type ChainKey, chainPlans } from './chainPlan.ts'

export type NetworkFacts = {
  /** Absent when no quote-api runs. */
  readonly quoteApiUrl?: string
  /** The oracles that run, with the address each signs with. */
  readonly oracles: readonly { readonly url: string; readonly signer: Hex }[]
  readonly deployment: NetworkDeployment
  readonly keys: LocalKeys
  readonly rpcUrls: Readonly<Record<ChainKey, string>>
  /** Chains of the other families, where they run. */
  readonly families?: FamilyFacts
  readonly familyControlUrl?: string
  /** Of the demo sponsor; absent when no quote-api runs. */
  readonly sponsorApiKey?: string
}

/**
 * `.local/network.json`: what a newcomer's own scripts need. @source design.md 1
 */
export function networkFileContent(facts: NetworkFacts) {
  const { quoteApiUrl, oracles, deployment, keys, rpcUrls, sponsorApiKey } = facts
  const { families, familyControlUrl } = facts
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
  const solana = families && solanaChain(families, keys)
  return {
    ...(quoteApiUrl !== undefined && { quoteApi: { url: quoteApiUrl } }),
    oracles,
    chains: [chain('base'), chain('optimism'), ...(solana === undefined ? [] : [solana.chain])],
    hub: {
      rpcUrl: rpcUrls.hub,
      hubAddress: deployment.hub.hub,
      oracleAddress: deployment.hub.oracle,
    },
    ...(families !== undefined && {
      families: familyKeys.map((id) => ({ id, vmType: familyPlans[id].vmType, ...families[id] })),
    }),
    ...(familyControlUrl !== undefined && { familyControlUrl }),
    solver: { address: keys.fillWallet.address, ...solana?.solver },
    accounts: keys.users.map(({ address, privateKey }) => ({ address, privateKey })),
    ...(solana !== undefined && { solanaAccounts: solana.accounts }),
    sponsor: {
      ...(sponsorApiKey !== undefined && { apiKey: sponsorApiKey }),
      wallet: keys.sponsor.address,
      walletPrivateKey: keys.sponsor.privateKey,
      topUpAddress: keys.custody.address,
    },
  }
}

/** What is quoted beside the chains of the EVM, and who owns something there. */
function solanaChain({ solana }: FamilyFacts, keys: LocalKeys) {
  const { fillWallet, users } = solanaAccounts(keys)
  return {
    chain: {
      id: solanaChainId,
      name: 'solana',
      rpcUrl: solana.url,
      depository: solana.depository,
      tokens: { USDC: localMints.USDC.address, WETH: localMints.WETH.address },
    },
    solver: { solanaAddress: fillWallet.address },
    accounts: users.map(({ address, secretKey }) => ({ address, secretKey })),
  }
}

/** Holds private keys of accounts that exist on this machine alone, so only its owner reads it. */
export async function writeNetworkFile(path: string, facts: NetworkFacts): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify(networkFileContent(facts), null, 2)}\n`, { mode: 0o600 })
}
