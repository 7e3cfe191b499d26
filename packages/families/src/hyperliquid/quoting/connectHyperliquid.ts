import type { QuorumClient } from '@causeway/rpc'
import { type ChainClient, createJsonRpcClient } from '@causeway/rpc'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import type { HyperliquidView } from '../reading/hyperliquidView.ts'
import { openQuorum } from '../reading/openHyperliquidChain.ts'
import { hyperliquidHeadTracking } from './calls.ts'

/** An endpoint whose time is further behind the others' is not asked; milliseconds stand for blocks. */
const lagMsMax = 30_000

/** A client of the exchange's info API, and beside it the quorum of its explorers, which show transactions. */
export type HyperliquidClient = ChainClient & { readonly explorers: QuorumClient<HyperliquidView> }

/** Endpoints of the exchange, asked by paths. @throws ConfigurationError for endpoints that are no URLs */
export function connectHyperliquid(chain: RegisteredChain): HyperliquidClient {
  const { id, endpoints, rpcThreshold } = chain
  const client = createJsonRpcClient({
    chainId: id,
    endpoints: endpoints.map((url) => ({ url })),
    threshold: rpcThreshold,
    headTracking: hyperliquidHeadTracking,
    wire: 'paths',
    lagBlocksMax: lagMsMax,
  })
  const { quorum: explorers, observe, close } = openQuorum(chain)
  return {
    ...client,
    explorers,
    observe(observerOf) {
      client.observe(observerOf)
      observe(observerOf)
    },
    async close() {
      await Promise.all([client.close(), close()])
    },
  }
}

/** The explorers that `connectHyperliquid` put beside a client. @throws Error for a client of another family */
export function explorersBeside(client: ChainClient): QuorumClient<HyperliquidView> {
  if (!isOwn(client)) throw new Error('a client of another family')
  return client.explorers
}

const isOwn = (client: ChainClient): client is HyperliquidClient => 'explorers' in client
