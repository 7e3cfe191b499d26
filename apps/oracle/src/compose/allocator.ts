import {
  type AllocatorReader,
  codeProblems,
  createAllocatorReader,
  expectedCodes,
  type FinalityRule,
  type KnownCode,
  type RegisteredHub,
  verifyEvmEndpoints,
  type WithdrawalKeys,
} from '@causeway/families'
import {
  countHosts,
  createJsonRpcClient,
  createQuorumOver,
  defaultThreshold,
  type JsonRpcClient,
  type ObserveEndpoints,
  type QuorumEndpointHealth,
} from '@causeway/rpc'

/** Reader of the allocator's contract, which issues withdrawals, with its endpoints. */
export type OpenAllocator = {
  readonly keys: WithdrawalKeys
  readonly reader: AllocatorReader
  readonly client: JsonRpcClient
  /** See `WatchedChain.verify`. */
  verify(signal: AbortSignal): Promise<readonly string[]>
  health(): readonly QuorumEndpointHealth[]
  observe(observerOf: ObserveEndpoints): void
  close(): Promise<void>
}

/**
 * Known holes of the public protocol, which are open where the allocator does not prove which payload a nonce has
 * (`withdrawalKeys: "public"`). @source rules P-118, P-119
 */
export const publicKeyHoles = [
  'an owner can have a second payload signed for one withdrawal address: both are paid, or one gives back what the other paid',
  'equal withdrawals of two owners in one block share their bytes: one payout burns for both',
  'one unit sent to a withdrawal address stops its withdrawal',
  'a stranger may submit early, and a Solana payload then dies in 300 s',
] as const

/**
 * Finality rule of a hub file's `finality`, which knows no seconds; by default the chain's `finalized` block.
 */
export function ruleOf(finality: RegisteredHub['auroraFinality']): FinalityRule {
  const { mode = 'tag', tag = 'finalized', blocks = 0 } = finality ?? {}
  return { mode, tag, blocks: BigInt(blocks), seconds: 0n }
}

/**
 * Makes the reader of the allocator, without a connection yet. `undefined` where the hub file names no allocator, or no
 * endpoints of its chain: then no withdrawal gets an execution.
 * @throws ConfigurationError for endpoints that are no URLs
 */
export function openAllocator(hub: RegisteredHub, isKnown: KnownCode): OpenAllocator | undefined {
  const { auroraEvmChainId, auroraAllocatorAddress: address, auroraFinality, withdrawalKeys } = hub
  const { endpoints, ready } = hub.allocatorEndpoints
  if (auroraEvmChainId === undefined || address === undefined || !ready) return undefined
  const chainId = `${hub.id}-allocator`
  const keys = withdrawalKeys ?? 'own'
  // Never zero, not even for an empty list of endpoints, which the client refuses.
  const threshold = Math.max(defaultThreshold(countHosts(endpoints)), 1)
  const shared = { chainId, endpoints: endpoints.map((url) => ({ url })), threshold }
  const client = createJsonRpcClient(shared)
  const quorum = createQuorumOver(client)
  const rule = ruleOf(auroraFinality)
  const reader = createAllocatorReader({ chainId, quorum, allocatorAddress: address, keys, rule })
  return {
    keys,
    reader,
    client,
    async verify(signal) {
      const contract = { setting: 'hub: auroraAllocatorAddress', address }
      const problems = await verifyEvmEndpoints(
        { client, chainId: BigInt(auroraEvmChainId), contract, threshold },
        { signal },
      )
      if (problems.length > 0) return problems
      // The code of an allocator on the hub's chain is compared by `openHub`.
      const isOnHub = auroraEvmChainId === hub.evmChainId
      const expected = isOnHub
        ? []
        : expectedCodes([{ name: 'Allocator', ...contract }], { isKnown, codeHashes: hub.codeHashes })
      const foreign = await codeProblems({ client, expected, threshold }, { signal })
      if (foreign.length > 0 || keys === 'public' || (await reader.namesPayloads({ signal }))) return foreign
      return ['hub: auroraAllocatorAddress has no payloadIdOf: withdrawalKeys must say "public"']
    },
    health: () => quorum.health(),
    observe: (observerOf) => quorum.observe(observerOf),
    close: () => client.close(),
  }
}
