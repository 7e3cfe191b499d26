import {
  countHosts,
  createHubEntries,
  createHubReader,
  createJsonRpcClient,
  createQuorumOver,
  defaultThreshold,
  domainProblems,
  findCodeless,
  type HubEntries,
  type HubReader,
  type JsonRpcClient,
  type QuorumClient,
  type QuorumEndpointHealth,
  type RegisteredHub,
  readShownDomain,
  verifyEvmEndpoints,
} from '@causeway/chains'
import type { Hex, ReadOptions } from '@causeway/core'
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
  const quorum = createQuorumOver(client, { now })
  const rule = hubFinality(hub)
  const reader = createHubReader({ quorum, oracleAddress, hubAddress, ...(rule !== undefined && { rule }) })
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
      const [named, ...found] = await Promise.all([
        reader.hubAddress({ signal }),
        executionDomainProblems(hub, quorum, { signal }),
        codeProblems(hub, quorum, { signal }),
      ])
      const isNamed = hubAddress === undefined || hubAddress === named
      return [
        ...(isNamed ? [] : ['hub: hubAddress is not the hub that the oracle contract names']),
        ...found.flat(),
      ]
    },
    health: () => quorum.health(),
    close: () => client.close(),
  }
}

/** Executions are signed in the domain of the hub file: another than the contract's settles nothing. */
async function executionDomainProblems(
  { oracleAddress, oracleVersion, evmChainId }: RegisteredHub,
  quorum: QuorumClient,
  reading: ReadOptions,
): Promise<readonly string[]> {
  const expected = {
    name: 'RelayOracle',
    version: oracleVersion,
    chainId: evmChainId,
    verifyingContract: oracleAddress,
    settings: {
      version: 'hub: oracleVersion',
      chainId: 'hub: evmChainId',
      contract: 'hub: oracleAddress',
    },
  }
  return domainProblems(expected, await readShownDomain(quorum, oracleAddress, reading))
}

/** Every other contract of the hub file that is on the hub's chain must be there. */
async function codeProblems(
  hub: RegisteredHub,
  quorum: QuorumClient,
  reading: ReadOptions,
): Promise<readonly string[]> {
  const members: Record<string, Hex | undefined> = {
    hubAddress: hub.hubAddress,
    oracleMultisigAddress: hub.oracleMultisigAddress,
    genericMappingAddress: hub.genericMappingAddress,
    ...(hub.auroraEvmChainId === hub.evmChainId && {
      auroraAllocatorAddress: hub.auroraAllocatorAddress,
      auroraAllocatorSpenderAddress: hub.auroraAllocatorSpenderAddress,
    }),
  }
  const placed = Object.entries(members).flatMap(([member, address]) =>
    address === undefined ? [] : [{ member, address }],
  )
  if (placed.length === 0) return []
  const codeless = await findCodeless(
    quorum,
    placed.map(({ address }) => address),
    reading,
  )
  return placed
    .filter(({ address }) => codeless.includes(address))
    .map(({ member }) => `hub: ${member} is no contract on the hub's chain`)
}

/** Where the allocator is on the hub's chain, one rule serves both; else the hub's `finalized` block counts. */
function hubFinality(hub: RegisteredHub): Parameters<typeof createHubReader>[0]['rule'] {
  const { auroraFinality, auroraEvmChainId, evmChainId } = hub
  if (auroraFinality === undefined || auroraEvmChainId !== evmChainId) return undefined
  const { mode, tag = 'finalized', blocks = 0 } = auroraFinality
  return { mode, tag, blocks: BigInt(blocks), seconds: 0n }
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
