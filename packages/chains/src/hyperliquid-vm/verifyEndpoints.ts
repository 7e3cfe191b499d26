import { UpstreamUnavailableError } from '@causeway/core'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { parseHasAccount, parseSpotTokens } from './answers.ts'
import type { HyperliquidView } from './hyperliquidView.ts'
import { spotMetaRequest, usdcTokenId, userRoleRequest } from './requests.ts'

/**
 * Tokens that one network has and no other: the exchange names its networks nowhere else.
 * @source Hyperliquid API, "Info endpoint", spotMeta
 */
const publicTokens: ReadonlyMap<string, string> = new Map([
  ['0xc1fb593aeffbeb02f85e0308e9956a90', 'the main network'],
  ['0xeb62eee3685fc4c43992febcd9e75443', 'the test network'],
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
  const each = await quorum.askEach(async (view, own) => {
    const [tokenIds, ...accounts] = await Promise.all([
      readTokenIds(view, own),
      ...depositories.map(async (depository) =>
        parseHasAccount(await view.ask(userRoleRequest(depository), own)),
      ),
    ])
    return {
      hasUsdc: tokenIds.includes(usdcTokenId),
      hasAccounts: accounts.every((hasAccount) => hasAccount),
    }
  }, signal)
  const answered = each.flatMap(({ alias, said }) => (said === undefined ? [] : [{ alias, ...said }]))
  if (answered.length < quorum.threshold) {
    throw new UpstreamUnavailableError(`Chain ${quorum.chainId} cannot be read at the moment.`, {
      code: 'RPC_HTTP_ERROR',
      data: { chainId: quorum.chainId },
    })
  }
  return answered.flatMap(({ alias, hasUsdc, hasAccounts }) => {
    const here = `httpRpcUrl of ${quorum.chainId}: ${alias}`
    if (!hasUsdc) return [`${here} does not list the USDC of the main network`]
    return hasAccounts ? [] : [`${here} does not know every account of chains: ${quorum.chainId}.depository`]
  })
}

/** Endpoints of public networks, and silent ones. */
export async function verifyLocalHyperliquidEndpoints(
  quorum: QuorumClient<HyperliquidView>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const each = await quorum.askEach(readTokenIds, signal)
  return each.flatMap(({ alias, said }) => {
    const here = `httpRpcUrl of ${quorum.chainId}: ${alias}`
    if (said === undefined) return [`${here} does not answer`]
    const network = said.map((tokenId) => publicTokens.get(tokenId)).find((name) => name !== undefined)
    return network === undefined ? [] : [`${here} is on ${network}`]
  })
}

async function readTokenIds(view: HyperliquidView, signal: AbortSignal): Promise<readonly string[]> {
  const tokens = parseSpotTokens(await view.ask(spotMetaRequest, signal))
  return tokens.map(({ tokenId }) => tokenId)
}
