import { ethereumCodec, type Hex } from '@causeway/core'
import type { OpenFamilyChain } from '../family/familyChain.ts'
import { checkLocalNodes } from '../guards.ts'
import { createJsonRpcClient } from '../rpc/client.ts'
import { createQuorumOver } from '../rpc/quorumClient.ts'
import { createEthereumFactsReader } from './factsReader.ts'
import { verifyEvmEndpoints } from './verifyEndpoints.ts'

/** An `ethereum-vm` chain. @throws ConfigurationError for endpoints that are no URLs */
export const openEthereumChain: OpenFamilyChain = (chain, limits) => {
  const { id, endpoints, rpcThreshold, hubChainId, depository } = chain
  const now = () => Date.now()
  const shared = { chainId: id, endpoints: endpoints.map((url) => ({ url })), threshold: rpcThreshold, now }
  // CAST: a canonical address of this family is lower-case hex.
  const address = ethereumCodec.canonicalAddress(depository) as Hex
  const contract = { setting: `chains: ${id}.depository`, address }
  const client = createJsonRpcClient(shared)
  const quorum = createQuorumOver(client, { now })
  return {
    reader: createEthereumFactsReader({ chain, quorum, limits }),
    verify(signal) {
      const expected = { client, chainId: BigInt(hubChainId), contract, threshold: rpcThreshold }
      return verifyEvmEndpoints(expected, { signal })
    },
    verifyLocal: () => checkLocalNodes('local', [client]),
    health: () => quorum.health(),
    close: () => client.close(),
  }
}
