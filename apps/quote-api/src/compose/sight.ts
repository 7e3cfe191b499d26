import { createOracleSight } from '@causeway/chains'
import type { Market } from '@causeway/market'
import { type ChainClient, type Line, waitingIn } from '@causeway/rpc'
import { registerNeighbours, type ServiceParts, watchOracleSigners } from '@causeway/service'
import type { DatabaseClock } from '../requests/stops/databaseClock.ts'
import { createNetworkWatch, watchedChains } from '../requests/stops/networkWatch.ts'
import { ownTermsOf } from '../requests/stops/ownTerms.ts'
import { createSolverSight } from '../requests/work/solverSight.ts'
import type { World } from './createQuoteApi.ts'
import { openStops } from './stops.ts'

/** The chains' clients, whose calls wait in the given line at endpoints that limit their rate. */
export const clientsIn = (
  line: Line,
  { clients }: Pick<World, 'clients'>,
): ReadonlyMap<string, ChainClient> =>
  new Map([...clients].map(([key, client]) => [key, waitingIn(line, client)] as const))

export type Sight = Awaited<ReturnType<typeof openSight>>

/** Opens what watches solver, oracles and networks, and the stops that their news causes. */
export async function openSight(
  service: ServiceParts<'jobs'>,
  world: World,
  parts: { readonly market: Market; readonly clock: DatabaseClock },
) {
  const { logger, check, onClose } = service
  const { config, quote, registry, clients, database } = world
  const { market, clock } = parts
  const solverSight = createSolverSight({ database, now: () => performance.now() })
  if (config.solverApiKey !== undefined) check(solverSight.check)
  const oracleSight = openOracleSight(service, world)
  const { address: orderSigner } = world.signer
  const own = ownTermsOf({ quote, registry, orderSigner, isRead: (key) => clients.has(key) })
  const networks = createNetworkWatch({
    chains: watchedChains(registry, clientsIn('prices', world), quote.fillWallet),
    market,
    now: () => performance.now(),
    onFailure: (chain, error) => logger.warn({ chain, err: error }, 'network not looked at'),
  })
  onClose('jobs', 'networks', () => networks.close())
  const stops = await openStops(service, { database, own, networks, registry, clock })
  return { solverSight, oracleSight, own, networks, stops }
}

/** Watches whether enough oracles answer; undefined where none are configured. */
function openOracleSight(service: ServiceParts<'jobs'>, { config: { oracles } }: World) {
  if (oracles === undefined) return undefined
  const sight = createOracleSight(oracles, () => performance.now())
  // Shown only: silent oracles are silent to every other process too.
  service.check({ name: 'oracles', isShownOnly: true, check: async () => sight.assertEnough() })
  registerNeighbours(service, watchOracleSigners(oracles, service.logger))
  return sight
}
