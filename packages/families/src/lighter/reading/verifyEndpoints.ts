import type { HttpView, QuorumClient } from '@causeway/rpc'
import { askEnough, endpointOf, verifyLocalEndpoints } from '@causeway/rpc'
import { readAccount, readContract } from './api.ts'
import { type LighterNetwork, lighterNetworks } from './networks.ts'

/**
 * Asks every endpoint for its contract on layer 1 and for the depositories' accounts. If the network's contract is not
 * known, the first endpoint's counts.
 * @returns problems; empty when all that answered fit
 * @throws UpstreamUnavailableError when fewer endpoints answer than the threshold
 */
export async function verifyLighterEndpoints(
  expected: {
    readonly quorum: QuorumClient<HttpView>
    readonly network: LighterNetwork
    readonly depositories: readonly string[]
  },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { quorum, network, depositories } = expected
  const answered = await askEnough(
    quorum,
    async (view, viewSignal) => {
      const [contract, ...accounts] = await Promise.all([
        readContract(view, viewSignal),
        ...depositories.map((depository) => readAccount(view, depository, viewSignal)),
      ])
      return { contract, missing: depositories.filter((_, index) => accounts[index] === undefined) }
    },
    signal,
  )
  const expectedContract = network.contract ?? answered[0]?.said.contract
  return answered.flatMap(({ alias, said: { contract, missing } }) => {
    const endpointName = endpointOf(quorum.chainId, alias)
    if (contract !== expectedContract) return [`${endpointName} is on another network`]
    return missing.map(
      (depository) => `${endpointName} shows no account ${depository}, a depository of the chain`,
    )
  })
}

/**
 * Problems of a local start: endpoints of the main network. @throws UpstreamUnavailableError when too many are silent
 */
export function verifyLocalLighterEndpoints(
  quorum: QuorumClient<HttpView>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const publicNetwork = (contract: string) =>
    contract === lighterNetworks.mainnet.contract ? 'is on the main network' : undefined
  return verifyLocalEndpoints(quorum, readContract, publicNetwork, signal)
}
