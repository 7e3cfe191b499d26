import { type ChainClient, openQuotingChain, type QuotingChain } from '@causeway/chains'
import type { Clock, Market } from '@causeway/market'
import { QuoteError } from '../pricing/errors.ts'
import type { PricingDependencies } from '../pricing/priceRequest.ts'
import type { QuotableChain, QuoteRegistry } from '../pricing/registry.ts'

/** A request waits this long for what a chain says about accounts, then goes on without. @source design.md 5.4 */
const budgetMs = 60
const noFacts = Promise.resolve({})

export type ChainPorts = Pick<PricingDependencies, 'userFacts' | 'hasCode' | 'lackOf' | 'simulateCalls'>

/** What quoting asks of chains per request, over one client per chain. */
export function createChainPorts(args: {
  registry: QuoteRegistry
  clients: ReadonlyMap<string, ChainClient>
  market: Market
  clock: Clock
  onFactsFailure: (chainId: number, error: unknown) => void
}): ChainPorts {
  const { registry, clients, market, clock, onFactsFailure } = args
  const chains = new Map<number, QuotingChain>()
  for (const chain of registry.chains) {
    const { key, chainId, vmType, config } = chain
    const client = clients.get(key)
    if (client === undefined) continue
    const live = openQuotingChain(vmType, {
      client,
      multicall3: config.multicall3,
      fillContract: config.fillContract,
      currentHead: () => headOf(market, chain),
      budgetMs,
      now: () => clock.now(),
      onFailure: (error) => onFactsFailure(chainId, error),
    })
    chains.set(chainId, live)
  }
  return {
    userFacts: (question) => chains.get(question.chainId)?.userFacts(question) ?? noFacts,
    hasCode: async ({ chainId, account }) => chains.get(chainId)?.hasCode(account),
    lackOf: async ({ chainId, account, currency }) => chains.get(chainId)?.lackOf(account, currency),
    simulateCalls: async ({ chainId, calls }) => {
      const unitsOfCalls = chains.get(chainId)?.unitsOfCalls
      if (unitsOfCalls === undefined) {
        throw new QuoteError('EXTRA_TXS_NOT_SUPPORTED', `Chain ${chainId} cannot run txs.`, {
          data: { field: 'txs' },
        })
      }
      return unitsOfCalls(calls)
    },
  }
}

function headOf(market: Market, chain: QuotableChain) {
  const state = market.snapshot().chain(chain.chainId)
  return 'reason' in state ? undefined : state.head
}
