import {
  createEthereumFactsReader,
  createJsonRpcClient,
  createQuorumClient,
  type EthereumFactsReader,
  type EthereumReaderLimits,
  type JsonRpcClient,
  type QuorumEndpointHealth,
  type RegisteredChain,
} from '@causeway/chains'
import { codecOf, type FactsReader, type Hex, UnknownChainError } from '@causeway/core'
import { AttestationError } from './attestations/errors.ts'
import { verifyChain } from './verifyChains.ts'

/** A chain that has endpoints, and what reads it. */
export type OpenChain = {
  readonly chain: RegisteredChain
  /** For checks of the endpoints themselves. */
  readonly client: JsonRpcClient
  readonly reader: EthereumFactsReader
  /** See `WatchedChain.verify`. */
  verify(signal: AbortSignal): Promise<readonly string[]>
  /** Of the endpoints that facts are read from. */
  health(): readonly QuorumEndpointHealth[]
  close(): Promise<void>
}

/** Opens no connection yet. @throws ConfigurationError for endpoints that are no URLs */
export function openChain(
  chain: ReadableChain,
  limits: Pick<EthereumReaderLimits, 'finalEntriesMax'>,
): OpenChain {
  const { id, endpoints, rpcThreshold, hubChainId, depository } = chain
  const now = () => Date.now()
  const shared = { chainId: id, endpoints: endpoints.map((url) => ({ url })), threshold: rpcThreshold, now }
  // CAST: depositories of ethereum-vm chains are EVM addresses; the codec checked this one.
  const address = codecOf(chain).canonicalAddress(depository) as Hex
  const contract = { setting: `chains: ${id}.depository`, address }
  const client = createJsonRpcClient(shared)
  const quorum = createQuorumClient(shared)
  const reader = createEthereumFactsReader({ chain, quorum, limits })
  return {
    chain,
    client,
    reader,
    verify(signal) {
      const expected = { client, chainId: BigInt(hubChainId), contract, threshold: rpcThreshold }
      return verifyChain(expected, { signal })
    },
    health: () => quorum.health(),
    async close() {
      await Promise.all([client.close(), quorum.close()])
    },
  }
}

/** A chain that this build can read. */
export type ReadableChain = RegisteredChain & { readonly depository: string }

/** Chains of other families stay listed and are not ready. */
export function isReadable(chain: RegisteredChain): chain is ReadableChain {
  return chain.ready && chain.vmType === 'ethereum-vm' && chain.depository !== undefined
}

/**
 * The reader that rules ask. @throws UnknownChainError; AttestationError `CHAIN_UNAVAILABLE` for a chain
 * that is listed but cannot be read
 */
export function findReader(
  chains: ReadonlyMap<string, unknown>,
  open: ReadonlyMap<string, { readonly reader: FactsReader }>,
  chainId: string,
): FactsReader {
  const found = open.get(chainId)
  if (found !== undefined) return found.reader
  if (!chains.has(chainId)) throw new UnknownChainError(chainId)
  throw new AttestationError('CHAIN_UNAVAILABLE', `Chain ${chainId} has no endpoint configured here.`, {
    data: { chainId },
  })
}
