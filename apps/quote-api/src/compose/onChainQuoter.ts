import { createAgreedReads, type JsonRpcClient, quoteOnChain } from '@causeway/chains'
import type { MarketSnapshot } from '@causeway/market'
import type { OnChainQuoter } from '../pricing/poolLegQuoter.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'

/** A request waits this long for the chain's own quoter. */
const timeoutMs = 600

/** Asks a chain's QuoterV2 by agreement at its newest agreed block; a chain without either cannot be asked. */
export function createOnChainQuoter(
  registry: QuoteRegistry,
  clients: ReadonlyMap<string, JsonRpcClient>,
  snapshot: () => MarketSnapshot,
): OnChainQuoter {
  return async ({ chainId, pool, zeroForOne, trade, amount }) => {
    const chain = registry.chainById.get(chainId)
    const client = chain === undefined ? undefined : clients.get(chain.key)
    const quoterV2 = chain?.config.uniswapV3?.quoterV2
    const market = snapshot().chain(chainId)
    if (client === undefined || quoterV2 === undefined || 'reason' in market) return undefined
    const question = { zeroForOne, trade, amount }
    const block = { hash: market.head.hash }
    return quoteOnChain(createAgreedReads(client), { quoterV2, pool, question, block }, { timeoutMs })
  }
}
