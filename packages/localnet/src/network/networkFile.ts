import type { Hex } from '@causeway/core'
import type { NetworkDeployment } from '../contracts/deployment.ts'
import { type FamilyKey, familyDepositories, familyKeys, familyPlans } from '../families/familyPlans.ts'
import type { FamilyFacts } from '../families/familySettings.ts'
import { type FamilyUrls, fillWalletsOf } from '../families/familyVariables.ts'
import { familyChainIds, familyTokens } from '../families/quotedFamilies.ts'
import { solanaAccounts } from '../families/solanaAccounts.ts'
import { writeFileAtomically } from '../files/atomicFile.ts'
import { familyAccounts } from '../keys/familyAccounts.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { ChainKey } from './chainPlan.ts'

/** Facts from which `network.json` is made. */
export type NetworkFacts = {
  /** Absent when no quote-api runs. */
  readonly quoteApiUrl?: string
  /** The oracles that run, with the address each signs with. */
  readonly oracles: readonly { readonly url: string; readonly signer: Hex }[]
  readonly deployment: NetworkDeployment
  readonly keys: LocalKeys
  readonly rpcUrls: Readonly<Record<ChainKey, string>>
  /** Chains of the other families; absent where they do not run. `facts` are those of the open ones. */
  readonly families?: {
    readonly urls: FamilyUrls
    readonly controlUrl: string
    readonly facts: ReadonlyMap<FamilyKey, FamilyFacts>
  }
  /** API key of the demo sponsor; absent when no quote-api runs. */
  readonly sponsorApiKey?: string
}

/**
 * `.local/network.json`: what a newcomer's own scripts need. @source rule O-33
 */
export function networkFileContent(facts: NetworkFacts) {
  const { quoteApiUrl, oracles, deployment, keys, rpcUrls, sponsorApiKey } = facts
  const { families } = facts
  const chain = (key: 'base' | 'optimism') => {
    const { chainId, depository, multicall3, wrappedNative, tokens } = deployment[key]
    return {
      id: chainId,
      name: key,
      rpcUrl: rpcUrls[key],
      depository,
      multicall3,
      wrappedNative,
      tokens,
    }
  }
  const others = families && otherChains(families, deployment, keys)
  return {
    ...(quoteApiUrl !== undefined && { quoteApi: { url: quoteApiUrl } }),
    oracles,
    chains: [chain('base'), chain('optimism'), ...(others?.chains ?? [])],
    hub: {
      rpcUrl: rpcUrls.hub,
      hubAddress: deployment.hub.hub,
      oracleAddress: deployment.hub.oracle,
    },
    ...others?.control,
    solver: { address: keys.fillWallet.address, ...others?.solver },
    accounts: keys.users.map(({ address, privateKey }) => ({ address, privateKey })),
    ...others?.accounts,
    sponsor: {
      ...(sponsorApiKey !== undefined && { apiKey: sponsorApiKey }),
      wallet: keys.sponsor.address,
      walletPrivateKey: keys.sponsor.privateKey,
      topUpAddress: keys.custody.address,
    },
  }
}

/** The entries for chains of other families, each part under the name of the object that takes it. */
function otherChains(
  { urls, controlUrl, facts }: NonNullable<NetworkFacts['families']>,
  { tron }: NetworkDeployment,
  keys: LocalKeys,
) {
  const [depositories, tokens] = [familyDepositories(tron.depository), familyTokens(tron)]
  const wallets = fillWalletsOf(keys)
  const accounts = familyAccounts(keys)
  return {
    chains: familyKeys.map((key) => ({
      id: familyChainIds[key],
      name: key,
      rpcUrl: urls[key].url,
      depository: depositories[key],
      tokens: tokens[key],
    })),
    control: {
      families: familyKeys.flatMap((id) => {
        const familyFacts = facts.get(id)
        return familyFacts === undefined ? [] : [{ id, vmType: familyPlans[id].vmType, ...familyFacts }]
      }),
      familyControlUrl: controlUrl,
    },
    solver: {
      solanaAddress: wallets.solana,
      bitcoinAddress: wallets.bitcoin,
      tronAddress: wallets.tron,
      hyperliquidAddress: wallets.hyperliquid,
      lighterAccount: wallets.lighter,
    },
    // Hyperliquid is missing, because its users are the EVM accounts.
    accounts: {
      solanaAccounts: solanaAccounts(keys).users.map(({ address, secretKey }) => ({ address, secretKey })),
      bitcoinAccounts: accounts.bitcoin.users.map(({ address, privateKey }) => ({ address, privateKey })),
      tronAccounts: accounts.tron.users,
      lighterAccounts: accounts.lighter.users.map(({ account, owner, apiKey }) => ({
        account,
        apiKey,
        ownerAddress: owner.address,
        ownerPrivateKey: owner.privateKey,
      })),
    },
  }
}

/** Writes `network.json`. It holds private keys, so only its owner can read it. */
export async function writeNetworkFile(path: string, facts: NetworkFacts): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify(networkFileContent(facts), null, 2)}\n`, { mode: 0o600 })
}
