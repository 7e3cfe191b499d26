import type { QuorumClient } from '@causeway/rpc'
import { askEnough, endpointOf, verifyLocalEndpoints } from '@causeway/rpc'
import { usdcToken } from '../rules/withdrawalTransfer.ts'
import { parseHasAccount, parseSpotTokens } from './answers.ts'
import type { HyperliquidView } from './hyperliquidView.ts'
import { spotMetaRequest, userRoleRequest } from './requests.ts'

/**
 * Ids of tokens by which a public network is recognised, because the exchange does not name its networks.
 * @source Hyperliquid API, "Info endpoint", spotMeta
 */
const publicTokens: ReadonlyMap<string, string> = new Map([
  ['0xc1fb593aeffbeb02f85e0308e9956a90', 'is on the main network'],
  ['0xeb62eee3685fc4c43992febcd9e75443', 'is on the test network'],
])

/**
 * Asks every endpoint for its tokens and for the depositories: each may feed a signature.
 * @returns problems; empty when all that answered fit
 * @throws UpstreamUnavailableError when fewer endpoints answer than the threshold
 */
export async function verifyHyperliquidEndpoints(
  {
    quorum,
    depositories,
  }: {
    readonly quorum: QuorumClient<HyperliquidView>
    readonly depositories: readonly string[]
  },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const answered = await askEnough(
    quorum,
    async (view, viewSignal) => {
      const [tokenIds, ...accounts] = await Promise.all([
        readTokenIds(view, viewSignal),
        ...depositories.map(async (depository) =>
          parseHasAccount(await view.ask(userRoleRequest(depository), viewSignal)),
        ),
      ])
      return {
        hasUsdc: tokenIds.includes(usdcToken),
        hasAccounts: accounts.every((hasAccount) => hasAccount),
      }
    },
    signal,
  )
  return answered.flatMap(({ alias, said: { hasUsdc, hasAccounts } }) => {
    const endpointName = endpointOf(quorum.chainId, alias)
    if (!hasUsdc) return [`${endpointName} does not list the USDC of the main network`]
    return hasAccounts
      ? []
      : [`${endpointName} does not know every account of chains: ${quorum.chainId}.depository`]
  })
}

/**
 * Problems of a local start: endpoints of public networks. @throws UpstreamUnavailableError when too many are silent
 */
export function verifyLocalHyperliquidEndpoints(
  quorum: QuorumClient<HyperliquidView>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const publicNetwork = (tokenIds: readonly string[]) =>
    tokenIds.map((tokenId) => publicTokens.get(tokenId)).find((name) => name !== undefined)
  return verifyLocalEndpoints(quorum, readTokenIds, publicNetwork, signal)
}

async function readTokenIds(view: HyperliquidView, signal: AbortSignal): Promise<readonly string[]> {
  const tokens = parseSpotTokens(await view.ask(spotMetaRequest, signal))
  return tokens.map(({ tokenId }) => tokenId)
}
