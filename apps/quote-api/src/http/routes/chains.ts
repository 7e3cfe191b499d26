import { formatUsd, usdValueDown } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import { swapSource } from '../../pricing/legs/legs.ts'
import { requireChain, shownPrice, unknownBalance } from '../../pricing/market/marketAccess.ts'
import type { QuotableChain, QuoteRegistry } from '../../pricing/registry.ts'
import { everyChain } from '../../requests/stops/stopStore.ts'
import type { ChainDirectory } from '../wire/chainsResponse.ts'
import { chainsResponseSchema, chainToWire } from '../wire/chainsResponse.ts'

const config = { rateLimitClass: 'read' }
const chainId = z.coerce.number().int().positive()
const unknownChain = { 400: ['UNSUPPORTED_CHAIN'] }

/**
 * GET /chains, and routes about one of them: /chains/health, /chains/liquidity and /swap-sources.
 * @source rules
 */
export function registerChains(app: HttpApp, directory: ChainDirectory): void {
  const schema = {
    operationId: 'listChains',
    tags: ['discovery'],
    errors: {},
    summary: 'List the chains that can be quoted',
    querystring: z.object({
      includeChains: z.string().max(1_024).optional().describe('No effect: no chain is hidden'),
    }),
    response: { 200: chainsResponseSchema, ...errorResponses },
  }
  app.get('/chains', { schema, config }, async () => ({
    chains: directory.registry.chains.map((chain) => chainToWire(chain, directory)),
  }))
  registerChainHealth(app, directory)
  registerLiquidity(app, directory)
  registerSwapSources(app, directory)
}

function registerChainHealth(app: HttpApp, { registry, snapshot, stops }: ChainDirectory): void {
  const schema = {
    operationId: 'getChainHealth',
    tags: ['health'],
    errors: unknownChain,
    summary: 'Tell whether a chain, or every chain, can be quoted now',
    querystring: z.object({ chainId: chainId.optional() }),
    response: {
      200: z.object({
        healthy: z.boolean(),
        stopped: z
          .array(z.number())
          .optional()
          .describe('Chain ids of these that are stopped: for now nothing is quoted to, or from, or both'),
      }),
      ...errorResponses,
    },
  }
  app.get('/chains/health', { schema, config }, async ({ query }) => {
    const listedChains =
      query.chainId === undefined ? registry.chains : [requireListedChain(registry, query.chainId)]
    const market = snapshot()
    const stoppedIds = new Set(stops.list().map((stop) => stop.chainId))
    const stopped = listedChains
      .map((chain) => chain.chainId)
      .filter((id) => stoppedIds.has(everyChain) || stoppedIds.has(id))
    // While the market of a chain cannot be used, it has a `reason` in place of its `head`.
    const areAllPriced = listedChains.every(
      (chain) => chain.config.enabled && 'head' in market.chain(chain.chainId),
    )
    return { healthy: areAllPriced && stopped.length === 0, ...(stopped.length > 0 && { stopped }) }
  })
}

const liquiditySchema = z.object({
  liquidity: z.array(
    z.object({
      chainId: z.number(),
      currencyId: z.string(),
      symbol: z.string(),
      address: z.string(),
      decimals: z.number(),
      balance: z.string().describe('Of the fill wallet, in the smallest unit'),
      amountUsd: z.string(),
    }),
  ),
})

function registerLiquidity(app: HttpApp, { registry, snapshot }: ChainDirectory): void {
  const schema = {
    operationId: 'getLiquidity',
    tags: ['discovery'],
    errors: { ...unknownChain, 503: ['GAS_PRICE_TOO_HIGH', 'PRICE_FETCH_FAILED'] },
    summary: 'What the solver holds on a chain',
    querystring: z.object({ chainId }),
    response: { 200: liquiditySchema, ...errorResponses },
  }
  app.get('/chains/liquidity', { schema, config }, async ({ query }) => {
    const { solverCurrencies } = requireListedChain(registry, query.chainId)
    const market = snapshot()
    const { inventory } = requireChain(market, query.chainId)
    return {
      liquidity: solverCurrencies.map((currency) => {
        const balance = inventory.get(currency.key)
        if (balance === undefined) throw unknownBalance(currency)
        return {
          chainId: query.chainId,
          currencyId: currency.asset.id,
          symbol: currency.symbol,
          address: currency.address,
          decimals: currency.decimals,
          balance: balance.toString(),
          amountUsd: formatUsd(usdValueDown(balance, shownPrice(market, currency))),
        }
      }),
    }
  })
}

function registerSwapSources(app: HttpApp, { registry }: ChainDirectory): void {
  const schema = {
    operationId: 'listSwapSources',
    tags: ['discovery'],
    errors: unknownChain,
    summary: 'Names of the exchanges that swaps go through',
    querystring: z.object({ chainId: chainId.optional() }),
    response: { 200: z.object({ sources: z.array(z.string()) }), ...errorResponses },
  }
  app.get('/swap-sources', { schema, config }, async ({ query }) => {
    const listedChains =
      query.chainId === undefined ? registry.chains : [requireListedChain(registry, query.chainId)]
    return { sources: listedChains.some((chain) => chain.config.uniswapV3 !== undefined) ? [swapSource] : [] }
  })
}

/** @throws QuoteError UNSUPPORTED_CHAIN */
export function requireListedChain(registry: QuoteRegistry, id: number): QuotableChain {
  const chain = registry.chainById.get(id)
  if (chain !== undefined) return chain
  throw new QuoteError('UNSUPPORTED_CHAIN', `Chain ${id} is not supported.`, { data: { field: 'chainId' } })
}
