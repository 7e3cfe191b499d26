import { UpstreamUnavailableError } from '@causeway/core'
import type { HttpView } from '../quorum/httpView.ts'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { readAccount, readContract } from './api.ts'
import { type LighterNetwork, lighterNetworks } from './networks.ts'

/**
 * Asks every endpoint for its contract on layer 1 and for the depositories' accounts: each may feed a
 * signature.
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
  const each = await quorum.askEach(async (view, own) => {
    const [contract, ...accounts] = await Promise.all([
      readContract(view, own),
      ...depositories.map((depository) => readAccount(view, depository, own)),
    ])
    return { contract, missing: depositories.filter((_, index) => accounts[index] === undefined) }
  }, signal)
  const answered = each.flatMap(({ alias, said }) => (said === undefined ? [] : [{ alias, ...said }]))
  if (answered.length < quorum.threshold) {
    throw new UpstreamUnavailableError(`Chain ${quorum.chainId} cannot be read at the moment.`, {
      code: 'RPC_HTTP_ERROR',
      data: { chainId: quorum.chainId },
    })
  }
  const wanted = network.contract ?? answered[0]?.contract
  return answered.flatMap(({ alias, contract, missing }) => {
    const here = `httpRpcUrl of ${quorum.chainId}: ${alias}`
    if (contract !== wanted) return [`${here} is on another network`]
    return missing.map((depository) => `${here} shows no account ${depository}, a depository of the chain`)
  })
}

/** Endpoints of the main network, and silent ones. */
export async function verifyLocalLighterEndpoints(
  quorum: QuorumClient<HttpView>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const each = await quorum.askEach(readContract, signal)
  return each.flatMap(({ alias, said }) => {
    const here = `httpRpcUrl of ${quorum.chainId}: ${alias}`
    if (said === undefined) return [`${here} does not answer`]
    return said === lighterNetworks.mainnet.contract ? [`${here} is on the main network`] : []
  })
}
