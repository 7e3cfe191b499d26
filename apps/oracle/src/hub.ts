import {
  countHosts,
  createHubEntries,
  createHubReader,
  createJsonRpcClient,
  createQuorumClient,
  defaultThreshold,
  type HubEntries,
  type HubReader,
  type JsonRpcClient,
  type QuorumEndpointHealth,
  type RegisteredHub,
  verifyEvmEndpoints,
} from '@causeway/chains'
import type { AttestedHub } from './attestations/context.ts'

/** The hub and what reads it. */
export type OpenHub = {
  readonly attested: AttestedHub
  readonly reader: HubReader
  /** Absent where the configuration names no generic mapping. */
  readonly entries: HubEntries | undefined
  readonly client: JsonRpcClient
  /** See `WatchedChain.verify`. */
  verify(signal: AbortSignal): Promise<readonly string[]>
  /** Of the endpoints that balances are read from. */
  health(): readonly QuorumEndpointHealth[]
  close(): Promise<void>
}

/** Opens no connection yet. @throws ConfigurationError for endpoints that are no URLs */
export function openHub(hub: RegisteredHub): OpenHub {
  const { id, endpoints, oracleAddress, hubAddress, evmChainId, genericMappingAddress } = hub
  const threshold = Math.max(defaultThreshold(countHosts(endpoints)), 1)
  const now = () => Date.now()
  const shared = { chainId: id, endpoints: endpoints.map((url) => ({ url })), threshold, now }
  const client = createJsonRpcClient(shared)
  const quorum = createQuorumClient(shared)
  const reader = createHubReader({ quorum, oracleAddress, hubAddress })
  return {
    attested: attestedHub(hub),
    reader,
    entries: genericMappingAddress && createHubEntries({ quorum, mappingAddress: genericMappingAddress }),
    client,
    async verify(signal) {
      const contract = { setting: 'hub: oracleAddress', address: oracleAddress }
      const problems = await verifyEvmEndpoints(
        { client, chainId: BigInt(evmChainId), contract, threshold },
        { signal },
      )
      if (problems.length > 0) return problems
      const named = await reader.hubAddress({ signal })
      return hubAddress === undefined || hubAddress === named
        ? []
        : ['hub: hubAddress is not the hub that the oracle contract names']
    },
    health: () => quorum.health(),
    async close() {
      await Promise.all([client.close(), quorum.close()])
    },
  }
}

function attestedHub(hub: RegisteredHub): AttestedHub {
  const { id, evmChainId, oracleAddress, oracleVersion } = hub
  const { auroraEvmChainId, auroraAllocatorSpenderAddress } = hub
  return {
    id,
    executionDomain: { chainId: evmChainId, verifyingContract: oracleAddress, version: oracleVersion },
    ...(auroraEvmChainId !== undefined &&
      auroraAllocatorSpenderAddress !== undefined && {
        withdrawRequestDomain: {
          chainId: auroraEvmChainId,
          verifyingContract: auroraAllocatorSpenderAddress,
        },
      }),
  }
}
