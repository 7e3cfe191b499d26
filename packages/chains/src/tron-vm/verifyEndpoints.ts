import { askEnough, checkNoPublicNetwork, endpointOf } from '../rpc/checkEndpoints.ts'
import type { HttpView } from '../rpc/httpView.ts'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import { parseHasContract } from './answers.ts'
import { askNode } from './askNode.ts'
import { accountOf } from './contract.ts'
import { requireHeader } from './readFinalTransaction.ts'
import { contractRequest, headerRequest } from './requests.ts'

/** Chain ids of the networks that everybody uses. */
const publicNetworks: ReadonlyMap<bigint, string> = new Map([
  [728_126_428n, 'the main network'],
  [3_448_148_188n, 'the Nile test network'],
  [2_494_104_990n, 'the Shasta test network'],
])

/**
 * Asks every endpoint for its first block and for the contract: each may feed a signature.
 * @returns problems; empty when all that answered fit
 * @throws UpstreamUnavailableError when fewer endpoints answer than the threshold
 */
export async function verifyTronEndpoints(
  expected: {
    readonly quorum: QuorumClient<HttpView>
    readonly chainId: bigint
    /** In base58. */
    readonly contract: { readonly setting: string; readonly address: string }
  },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { quorum, chainId, contract } = expected
  const answered = await askEnough(
    quorum,
    async (view, ownSignal) => {
      const [networkId, body] = await Promise.all([
        readNetworkId(view, ownSignal),
        askNode(view, contractRequest(accountOf(contract.address)), ownSignal),
      ])
      return { networkId, hasContract: parseHasContract(body) }
    },
    signal,
  )
  return answered.flatMap(({ alias, said: { networkId, hasContract } }) => {
    const here = endpointOf(quorum.chainId, alias)
    if (networkId !== chainId) return [`${here} is not on chain ${chainId}`]
    return hasContract ? [] : [`${here} shows no contract at ${contract.setting}`]
  })
}

/** Endpoints of public networks, and silent ones. */
export function verifyLocalTronEndpoints(
  quorum: QuorumClient<HttpView>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return checkNoPublicNetwork(quorum, readNetworkId, (networkId) => publicNetworks.get(networkId), signal)
}

/** The last four bytes of the first block's id are the chain id. @source TRON, TIP-474 */
async function readNetworkId(view: HttpView, signal: AbortSignal): Promise<bigint> {
  const { hash } = requireHeader(await askNode(view, headerRequest(0n), signal), 0n)
  return BigInt(`0x${hash.slice(-8)}`)
}
