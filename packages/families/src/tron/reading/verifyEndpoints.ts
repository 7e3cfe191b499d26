import { tronHexAddress } from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import { askEnough, endpointOf, verifyLocalEndpoints } from '@causeway/rpc'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import { parseHasContract } from './answers.ts'
import { askNode, type TronView } from './askNode.ts'
import { requireHeader } from './readFinalTransaction.ts'
import { contractRequest, headerRequest } from './requests.ts'

/** Chain ids of the public networks. */
const publicNetworks: ReadonlyMap<bigint, string> = new Map([
  [728_126_428n, 'is on the main network'],
  [3_448_148_188n, 'is on the Nile test network'],
  [2_494_104_990n, 'is on the Shasta test network'],
])

/** Facts that the endpoints of a chain must show. */
export type TronExpectation = {
  readonly quorum: QuorumClient<TronView>
  readonly chainId: bigint
  /** Contract that must exist, in base58, and the setting that names it. */
  readonly contract: { readonly setting: string; readonly address: string }
}

/**
 * Asks every endpoint for its first block and for the contract: each may feed a signature.
 * @returns problems; empty when all that answered fit
 * @throws UpstreamUnavailableError when fewer endpoints answer than the threshold
 */
export async function verifyTronEndpoints(
  expected: TronExpectation,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return (await tronEndpointFindings(expected, signal)).map(({ problem }) => problem)
}

/** As `verifyTronEndpoints`, with setting and value. @throws UpstreamUnavailableError when too few endpoints answer */
export async function tronEndpointFindings(
  { quorum, chainId, contract }: TronExpectation,
  signal: AbortSignal,
): Promise<readonly ChainFinding[]> {
  const answered = await askEnough(
    quorum,
    async (view, viewSignal) => {
      const [networkId, body] = await Promise.all([
        readNetworkId(view, viewSignal),
        askNode(view, contractRequest(tronHexAddress(contract.address)), viewSignal),
      ])
      return { networkId, hasContract: parseHasContract(body) }
    },
    signal,
  )
  const { setting, address: value } = contract
  return answered.flatMap(({ alias, said: { networkId, hasContract } }): readonly ChainFinding[] => {
    const endpointName = endpointOf(quorum.chainId, alias)
    if (networkId !== chainId) {
      const subject = { setting: `chains: ${quorum.chainId}.hubChainId`, value: chainId.toString() }
      const problem = `${endpointName} is not on chain ${chainId}`
      return [{ kind: 'network', ...subject, said: `${networkId} at ${alias}`, problem }]
    }
    if (hasContract) return []
    const problem = `${endpointName} shows no contract at ${setting}`
    return [{ kind: 'contract', setting, value, said: `no contract at ${alias}`, problem }]
  })
}

/**
 * Problems of a local start: endpoints of public networks. @throws UpstreamUnavailableError when too many are silent
 */
export function verifyLocalTronEndpoints(
  quorum: QuorumClient<TronView>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return verifyLocalEndpoints(quorum, readNetworkId, (networkId) => publicNetworks.get(networkId), signal)
}

/** The last four bytes of the first block's id are the chain id. @source TRON, TIP-474 */
async function readNetworkId(view: TronView, signal: AbortSignal): Promise<bigint> {
  const { hash } = requireHeader(await askNode(view, headerRequest(0n), signal), 0n)
  return BigInt(`0x${hash.slice(-8)}`)
}
