import type { ChainRegistry } from '@causeway/chains'
import { type BlockRef, createHubEntries, createHubReader, type HubEntries } from '@causeway/families'
import { type ChainClient, createJsonRpcClient, createQuorumOver } from '@causeway/rpc'
import type { Logger } from 'pino'
import type { NewestHeads } from '../chainReadings/newestHeads.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import type { OrderSignatures } from '../requests/orders/orderSignatures.ts'
import { createSettlementChain, type SettlementChain } from '../requests/settlement/chain/settlementChain.ts'
import type { RecoveryContext } from '../requests/settlement/recovery/followRecoveries.ts'
import type { SettlementContext } from '../requests/settlement/settlementContext.ts'

export type ChainOptions = {
  readonly chains: ChainRegistry
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, ChainClient>
  /** Receives the blocks that were read here. */
  readonly heads: Pick<NewestHeads, 'note'>
  /** Undefined where no quoted chain needs the hub. */
  readonly hubEntries: HubEntries | undefined
  /** The solver's wallet, where a chain names none of its own. */
  readonly fillWallet: string | undefined
  readonly logger: Logger
}

/** Opens the chains that settlement can read; the others cannot be quoted either. */
export function openChains(options: ChainOptions): ReadonlyMap<number, SettlementChain> {
  const { hubEntries, heads, fillWallet } = options
  const opened = new Map<number, SettlementChain>()
  for (const quotable of options.registry.chains) {
    const registered = options.chains.chains.get(quotable.key)
    const client = options.clients.get(quotable.key)
    if (registered === undefined || client === undefined || !quotable.config.enabled) continue
    const onMalformed = (endpoint: string) =>
      options.logger.warn({ chain: quotable.key, endpoint }, 'an answer of an endpoint was thrown away')
    const onBlock = (block: BlockRef) => heads.note(quotable.chainId, block)
    // The made object itself is stored, and no copy: it changes the sizes of its reads as endpoints allow.
    const parts = { quotable, registered, client, hubEntries, fillWallet, onMalformed, onBlock }
    opened.set(quotable.chainId, createSettlementChain(parts))
  }
  return opened
}

/** Used where the hub's file names no other delay. */
const recoveryDelaySecondsDefault = 86_400

/** The hub has executed only what stands in a block that its chain reports as finalized. */
const finalBlocks = { mode: 'depth', tag: 'finalized', blocks: 0n, seconds: 0n } as const

/** Opens what recoveries read of the hub; where no hub is configured, nothing counts as settled. */
export function openRecoveries(
  {
    chains: { hub, chains },
    signatures,
  }: { readonly chains: ChainRegistry; readonly signatures: OrderSignatures },
  context: SettlementContext,
): RecoveryContext & { close(): Promise<void> } {
  const mappingAddress = hub?.genericMappingAddress
  const client =
    hub?.ready === true && mappingAddress !== undefined
      ? createJsonRpcClient({ chainId: hub.id, endpoints: hub.endpoints.map((url) => ({ url })) })
      : undefined
  const quorum = client && createQuorumOver(client)
  // An order names its solver's chain by key; a promise is signed for that chain's number on the hub.
  const hubChainIdOf = (key: string) => {
    if (key === hub?.id) return hub.evmChainId
    const chain = chains.get(key)
    if (chain === undefined) throw new Error(`chain ${key} of the solver is not configured`)
    return Number(chain.hubChainId)
  }
  return {
    ...context,
    hub: quorum &&
      hub &&
      mappingAddress && {
        entries: createHubEntries({ quorum, mappingAddress }),
        ...createHubReader({ quorum, oracleAddress: hub.oracleAddress, rule: finalBlocks }),
      },
    delaySeconds: hub?.recoveryDelaySeconds ?? recoveryDelaySecondsDefault,
    signPromise: async (request) => signatures.promise(request, hubChainIdOf(request.order.solverChainId)),
    close: async () => client?.close(),
  }
}
