import { type JsonRpcClient, quoteOnChain } from '@causeway/chains'
import type { OnChainQuoter } from './quoting/poolLegQuoter.ts'
import type { QuoteRegistry } from './quoting/registry.ts'

/** A request waits this long for the chain's own quoter. */
const timeoutMs = 600

/** Asks a chain's QuoterV2 at its newest block; a chain without one cannot be asked. */
export function createOnChainQuoter(
  registry: QuoteRegistry,
  clients: ReadonlyMap<string, JsonRpcClient>,
): OnChainQuoter {
  return async ({ chainId, pool, zeroForOne, trade, amount }) => {
    const chain = registry.chainById.get(chainId)
    const client = chain === undefined ? undefined : clients.get(chain.key)
    const quoterV2 = chain?.config.uniswapV3?.quoterV2
    if (client === undefined || quoterV2 === undefined) return undefined
    const question = { zeroForOne, trade, amount }
    return quoteOnChain(client, { quoterV2, pool, question, block: 'latest' }, { timeoutMs })
  }
}
