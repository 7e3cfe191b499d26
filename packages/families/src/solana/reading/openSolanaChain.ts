import { ConfigurationError } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { createQuorumClient } from '@causeway/rpc'
import type { OpenFamilyChain, ReadableChain } from '../../shared/familyChain.ts'
import { createSolanaFactsReader } from './factsReader.ts'
import { solanaHeadTracking } from './requests.ts'
import { verifyLocalCluster, verifySolanaEndpoints } from './verifyEndpoints.ts'

/**
 * Opens a `solana-vm` chain for the services that read facts.
 * @throws ConfigurationError for endpoints that are no URLs and for other finality rules
 */
export const openSolanaChain: OpenFamilyChain = (chain, limits) => {
  const { id: chainId, endpoints, rpcThreshold, network } = chain
  checkFinality(chain)
  const depository = solanaCodec.canonicalAddress(chain.depository)
  const quorum = createQuorumClient({
    headTracking: solanaHeadTracking,
    chainId,
    endpoints: endpoints.map((url) => ({ url })),
    threshold: rpcThreshold,
  })
  return {
    reader: createSolanaFactsReader({ chain, quorum, limits }),
    verify: (signal) => verifySolanaEndpoints({ quorum, network, depository }, signal),
    verifyLocal: (signal) => verifyLocalCluster(quorum, signal),
    health: () => quorum.health(),
    observe: (observerOf) => quorum.observe(observerOf),
    close: () => quorum.close(),
  }
}

/** Refuses finality settings other than the tag `finalized`, which a missing tag means. @source rule F-142 */
function checkFinality({ id, finality }: Pick<ReadableChain, 'id' | 'finality'>): void {
  if (finality === undefined || (finality.mode === 'tag' && finality.tag !== 'safe')) return
  throw new ConfigurationError(`chains: ${id}.finality: Solana chains know the tag finalized only`)
}
