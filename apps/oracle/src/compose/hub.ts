import type { Hex, ReadOptions } from '@causeway/core'
import {
  codeProblems,
  createHubEntries,
  createHubReader,
  createRecoveryReader,
  domainProblems,
  expectedCodes,
  type FinalityRule,
  findCodeless,
  type HubEntries,
  type HubReader,
  type KnownCode,
  type RecoveryReader,
  type RegisteredHub,
  type ReliedContract,
  readShownDomain,
  verifyEvmEndpoints,
} from '@causeway/families'
import {
  countHosts,
  createJsonRpcClient,
  createQuorumOver,
  defaultThreshold,
  type JsonRpcClient,
  type ObserveEndpoints,
  type QuorumClient,
  type QuorumEndpointHealth,
} from '@causeway/rpc'
import type { AttestedHub } from '../attestations/context.ts'
import { ruleOf } from './allocator.ts'

/** Readers of the hub's contracts, with its endpoints. */
export type OpenHub = {
  readonly attested: AttestedHub
  readonly reader: HubReader
  /** Entries of the generic mapping; undefined where the configuration names none. */
  readonly entries: HubEntries | undefined
  /** Undefined without a generic mapping. */
  readonly recovery: OpenRecovery | undefined
  readonly client: JsonRpcClient
  /** See `WatchedChain.verify`. */
  verify(signal: AbortSignal): Promise<readonly string[]>
  /** Health of the endpoints that balances are read from. */
  health(): readonly QuorumEndpointHealth[]
  /** Sets the observers of the endpoints. */
  observe(observerOf: ObserveEndpoints): void
  close(): Promise<void>
}

/** Reader of the facts on the hub that decide whether a deposit may be recovered. */
export type OpenRecovery = { readonly reader: RecoveryReader; readonly delaySeconds: bigint }

/** A day: longer than any settlement takes, so that whoever filled an order has its deposit before a recovery. */
const recoveryDelaySecondsDefault = 86_400

/** Makes the readers of the hub, without a connection yet. @throws ConfigurationError for endpoints that are no URLs */
export function openHub(hub: RegisteredHub, isKnown: KnownCode): OpenHub {
  const { id, endpoints, oracleAddress, hubAddress, evmChainId, genericMappingAddress } = hub
  // Never zero, not even for an empty list of endpoints, which the client refuses.
  const threshold = Math.max(defaultThreshold(countHosts(endpoints)), 1)
  const shared = { chainId: id, endpoints: endpoints.map((url) => ({ url })), threshold }
  const client = createJsonRpcClient(shared)
  const quorum = createQuorumOver(client)
  const reader = createHubReader({ quorum, oracleAddress, hubAddress, rule: finalityOf(hub) })
  return {
    attested: attestedHub(hub),
    reader,
    entries: genericMappingAddress && createHubEntries({ quorum, mappingAddress: genericMappingAddress }),
    recovery: openRecovery(hub, quorum, reader),
    client,
    async verify(signal) {
      const contract = { setting: 'hub: oracleAddress', address: oracleAddress }
      const problems = await verifyEvmEndpoints(
        { client, chainId: BigInt(evmChainId), contract, threshold },
        { signal },
      )
      if (problems.length > 0) return problems
      const expected = expectedCodes(hubContracts(hub), { isKnown, codeHashes: hub.codeHashes })
      const readForeignCodes = () => codeProblems({ client, expected, threshold }, { signal })
      return contractProblems(hub, { quorum, reader }, readForeignCodes, { signal })
    },
    health: () => quorum.health(),
    observe: (observerOf) => quorum.observe(observerOf),
    close: () => client.close(),
  }
}

/** Problems with the hub's contracts: another hub, another domain, no code, or unknown code. */
async function contractProblems(
  hub: RegisteredHub,
  { quorum, reader }: { readonly quorum: QuorumClient; readonly reader: HubReader },
  readForeignCodes: () => Promise<readonly string[]>,
  reading: ReadOptions,
): Promise<readonly string[]> {
  const [namedHub, ...problemLists] = await Promise.all([
    reader.hubAddress(reading),
    executionDomainProblems(hub, quorum, reading),
    mappingDomainProblems(hub, quorum, reading),
    codelessProblems(hub, quorum, reading),
  ])
  // Code is compared only once nothing else is wrong: a missing contract would be reported twice.
  const hasNoProblem = problemLists.every((problems) => problems.length === 0)
  const foreign = hasNoProblem ? await readForeignCodes() : []
  const isNamed = hub.hubAddress === undefined || hub.hubAddress === namedHub
  return [
    ...(isNamed ? [] : ['hub: hubAddress is not the hub that the oracle contract names']),
    ...problemLists.flat(),
    ...foreign,
  ]
}

function openRecovery(hub: RegisteredHub, quorum: QuorumClient, reader: HubReader): OpenRecovery | undefined {
  const { id, oracleAddress, hubAddress, genericMappingAddress: mappingAddress, recoveryDelaySeconds } = hub
  if (mappingAddress === undefined) return undefined
  return {
    reader: createRecoveryReader({
      // A name of its own: the watch checks the hub's endpoints under `id`, and its final blocks under this.
      chainId: `${id}-recovery`,
      quorum,
      mappingAddress,
      oracleAddress,
      hubAddress: hubAddress === undefined ? reader.hubAddress : async () => hubAddress,
      rule: finalityOf(hub),
    }),
    delaySeconds: BigInt(recoveryDelaySeconds ?? recoveryDelaySecondsDefault),
  }
}

/** Finality rule of the hub: its own, else that of an allocator on the same chain, else its `finalized` block. */
function finalityOf({ evmChainId, auroraEvmChainId, auroraFinality, finality }: RegisteredHub): FinalityRule {
  const sharedFinality = evmChainId === auroraEvmChainId ? auroraFinality : undefined
  return ruleOf(finality ?? sharedFinality)
}

/** Problems where the EIP-712 domain of the hub file differs from the contract's: executions would not be accepted. */
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

/** As `executionDomainProblems`, for the generic mapping. The public protocol's may show no domain. */
async function mappingDomainProblems(
  { genericMappingAddress, evmChainId }: RegisteredHub,
  quorum: QuorumClient,
  reading: ReadOptions,
): Promise<readonly string[]> {
  if (genericMappingAddress === undefined) return []
  const domain = await readShownDomain(quorum, genericMappingAddress, reading)
  if (domain.described === undefined && domain.separator === undefined) return []
  const contract = 'hub: genericMappingAddress'
  const expected = {
    name: 'RelayGenericMapping',
    version: '1',
    chainId: evmChainId,
    verifyingContract: genericMappingAddress,
    // No setting names the mapping's version.
    settings: { version: 'version 1', chainId: 'hub: evmChainId', contract },
  }
  return domainProblems(expected, domain)
}

/**
 * Contracts on the hub whose code is compared, as executions, withdrawals and recoveries rely on them. An allocator on
 * another chain is compared by `openAllocator`.
 */
function hubContracts(hub: RegisteredHub) {
  const contractAt = (name: ReliedContract, member: string, address: Hex | undefined) =>
    address === undefined ? [] : [{ name, setting: `hub: ${member}`, address }]
  const isOnHub = hub.auroraEvmChainId === hub.evmChainId
  return [
    ...contractAt('HubOracle', 'oracleAddress', hub.oracleAddress),
    ...contractAt('Hub', 'hubAddress', hub.hubAddress),
    ...contractAt('OracleMultisig', 'oracleMultisigAddress', hub.oracleMultisigAddress),
    ...contractAt('GenericMapping', 'genericMappingAddress', hub.genericMappingAddress),
    ...contractAt('Allocator', 'auroraAllocatorAddress', isOnHub ? hub.auroraAllocatorAddress : undefined),
  ]
}

/** Problems for contracts of the hub file without code on the hub. The oracle contract was checked before. */
async function codelessProblems(
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
  const contracts = Object.entries(members).flatMap(([member, address]) =>
    address === undefined ? [] : [{ member, address }],
  )
  if (contracts.length === 0) return []
  const codeless = await findCodeless(
    quorum,
    contracts.map(({ address }) => address),
    reading,
  )
  return contracts
    .filter(({ address }) => codeless.includes(address))
    .map(({ member }) => `hub: ${member} is no contract on the hub's chain`)
}

/** The hub as attestation rules know it. */
function attestedHub(hub: RegisteredHub): AttestedHub {
  const { id, evmChainId, oracleAddress, oracleVersion, genericMappingAddress } = hub
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
    ...(genericMappingAddress !== undefined && {
      mappingDomain: { chainId: evmChainId, verifyingContract: genericMappingAddress },
    }),
  }
}
