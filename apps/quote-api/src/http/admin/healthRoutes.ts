import type { SqlDatabase } from '@causeway/core'
import { errorResponses, type HttpApp, type Readiness, readinessSchema } from '@causeway/http'
import { type MarketHealth, marketHealthSchema } from '@causeway/market'
import { z } from 'zod'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import type { BrokenAssumption } from '../../requests/stops/assumptions.ts'
import type { ChainStops } from '../../requests/stops/chainStops.ts'
import {
  type ChainStop,
  everyChain,
  noteReader,
  readStops,
  stopTellers,
} from '../../requests/stops/stopStore.ts'
import { explorerPaths, explorerPathsSchema } from '../wire/chainsResponse.ts'

const stopSchema = z.object({
  chainId: z.number().describe('0: every chain'),
  by: z.enum(stopTellers),
  reason: z.string(),
  actor: z.string(),
  since: z.iso.datetime(),
})

const networkSchema = z.object({
  chainId: z.number().describe('0: of no chain'),
  what: z.string(),
  text: z.string().describe('What is seen, and what the quote file says'),
})

/** Members as GET /chains has them, so that one page reads both. */
const namedChainSchema = z.object({
  id: z.int(),
  displayName: z.string(),
  explorerUrl: z.string().describe('Empty where none is configured'),
  explorerPaths: explorerPathsSchema,
})

const stopToWire = ({ toldBy, since, chainId, reason, actor }: ChainStop) => ({
  chainId,
  by: toldBy,
  reason,
  actor,
  since: since.toISOString(),
})

/**
 * `/admin/health`: the content of `/ready` and `/prices/health`, for the console, which may ask no other listener. Names
 * no endpoint, because its address may contain a key.
 */
export function registerHealthRoutes(
  app: HttpApp,
  {
    readiness,
    marketHealth,
    stops,
    networks,
    registry,
  }: {
    readonly readiness: Readiness
    readonly marketHealth: () => MarketHealth
    readonly stops: Pick<ChainStops, 'list'>
    readonly networks: { broken(): readonly BrokenAssumption[] }
    readonly registry: Pick<QuoteRegistry, 'chains'>
  },
): void {
  const schema = {
    response: {
      200: z.object({
        readiness: readinessSchema,
        stops: z.array(stopSchema),
        networks: z.array(networkSchema).describe('What is not as the files say'),
        market: marketHealthSchema,
        chains: z.array(namedChainSchema),
      }),
      ...errorResponses,
    },
  }
  const chains = registry.chains.map(({ chainId, config }) => ({
    id: chainId,
    displayName: config.displayName,
    explorerUrl: config.explorerUrl,
    explorerPaths,
  }))
  app.get('/admin/health', { schema }, async () => ({
    chains,
    readiness: await readiness.report(),
    stops: stops.list().map(stopToWire),
    networks: networks.broken().map(({ chainId, what, text }) => ({ chainId, what, text })),
    market: marketHealth(),
  }))
}

/**
 * GET /stops of the operations listener: chains that an operator or the oracles stopped, for the allocator,
 * which obeys. Stops by others only end new orders.
 * Read from the database at each request, so that no answer is stale; an error while the database is away.
 */
export function registerStopList(
  app: HttpApp,
  {
    database,
    registry,
  }: { readonly database: Pick<SqlDatabase, 'query'>; readonly registry: Pick<QuoteRegistry, 'chainById'> },
): void {
  const schema = {
    querystring: z.object({ reader: z.enum(['allocator']).optional() }),
    response: {
      200: z.object({
        all: z.boolean(),
        chains: z.array(z.string().describe('As the configuration files name it')),
      }),
      ...errorResponses,
    },
  }
  app.get('/stops', { schema }, async ({ query: { reader } }) => {
    // Noted before the read, so that the answer has every stop that is older than the note.
    if (reader !== undefined) await noteReader(database, reader)
    const ids = (await readStops(database)).flatMap(({ chainId, toldBy }) =>
      toldBy === 'operator' || toldBy === 'oracles' ? [chainId] : [],
    )
    // `everyChain` has no key in the files: `all` tells of it.
    const chains = ids.flatMap((id) => registry.chainById.get(id)?.key ?? [])
    return { all: ids.includes(everyChain), chains }
  })
}
