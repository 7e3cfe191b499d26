import {
  type AccountCodeReader,
  type CallSimulator,
  createAccountCodeReader,
  createCallSimulator,
  createUserFactsReader,
  type JsonRpcClient,
  type UserFactsReader,
} from '@causeway/chains'
import { firstCreatedAddress } from '@causeway/core'
import type { Clock, Market } from '@causeway/market'
import { QuoteError } from '../pricing/errors.ts'
import type { PricingDependencies } from '../pricing/priceRequest.ts'
import type { QuotableChain, QuoteRegistry } from '../pricing/registry.ts'

/** A request waits this long for what a chain says about accounts, then goes on without. @source design.md 5.4 */
const factsBudget = { budgetMs: 60 }
const noFacts = Promise.resolve({})

export type ChainPorts = Pick<PricingDependencies, 'userFacts' | 'hasCode' | 'simulateCalls'>

/** What quoting asks of chains per request, over one client per chain. */
export function createChainPorts(args: {
  registry: QuoteRegistry
  clients: ReadonlyMap<string, JsonRpcClient>
  market: Market
  clock: Clock
  onFactsFailure: (chainId: number, error: unknown) => void
}): ChainPorts {
  const { registry, clients, market, clock, onFactsFailure } = args
  const readers = new Map<number, UserFactsReader>()
  const codes = new Map<number, AccountCodeReader>()
  const simulators = new Map<number, CallSimulator>()
  for (const chain of registry.chains) {
    const client = clients.get(chain.key)
    if (client === undefined) continue
    readers.set(
      chain.chainId,
      createUserFactsReader({
        client,
        multicall3: chain.config.multicall3,
        currentHead: () => headOf(market, chain),
        onFailure: (error) => onFactsFailure(chain.chainId, error),
      }),
    )
    codes.set(
      chain.chainId,
      createAccountCodeReader({
        client,
        currentHead: () => headOf(market, chain),
        onFailure: (error) => onFactsFailure(chain.chainId, error),
      }),
    )
    const currentBlock = () => headOf(market, chain)?.number
    simulators.set(chain.chainId, createCallSimulator({ client, now: () => clock.now(), currentBlock }))
  }
  return {
    userFacts: (question) => readers.get(question.chainId)?.read(question, factsBudget) ?? noFacts,
    hasCode: async ({ chainId, account }) => codes.get(chainId)?.hasCode(account, factsBudget),
    simulateCalls: async ({ chainId, calls }) => {
      const chain = registry.chainById.get(chainId)
      const simulator = simulators.get(chainId)
      if (chain?.config.fillContract === undefined || simulator === undefined) {
        throw new QuoteError('EXTRA_TXS_NOT_SUPPORTED', `Chain ${chainId} cannot run txs.`, {
          data: { field: 'txs' },
        })
      }
      // The fill contract runs calls from a contract of its own, so that they can spend nothing of it.
      return simulator.gasOf({ from: firstCreatedAddress(chain.config.fillContract), calls })
    },
  }
}

function headOf(market: Market, chain: QuotableChain) {
  const state = market.snapshot().chain(chain.chainId)
  return 'reason' in state ? undefined : state.head
}
