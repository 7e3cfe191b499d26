import type { HttpApp } from '@causeway/http'
import { registerPages } from '@causeway/http'
import type { Market } from '@causeway/market'
import type { OpenService } from '@causeway/service'
import { registerHealthRoutes, registerStopList } from '../http/admin/healthRoutes.ts'
import { registerOverviewRoute } from '../http/admin/overviewRoutes.ts'
import { registerAdmin } from '../http/admin/registerAdmin.ts'
import { loadConsolePage } from '../http/console/consoleFiles.ts'
import { createStatusReading } from '../operate/admin/statusReading.ts'
import { createAdministration } from '../operate/administration.ts'
import { openCommandChain } from '../operate/cli/commandChain.ts'
import { readOracleAnswers } from '../requests/settlement/settlementMetrics.ts'
import type { Accounts } from './accounts.ts'
import type { World } from './createQuoteApi.ts'
import type { Sight } from './sight.ts'

/** Parts of the service that the admin listener shows or changes. */
type Administered = { readonly market: Market; readonly sight: Sight; readonly accounts: Accounts }

/** Opens the routes of the admin listener, and the list of stops beside the metrics. */
export async function openAdministration(service: OpenService, world: World, parts: Administered) {
  const { readiness, metrics, opsListener } = service
  const { config, database, registry, clients, adminListener } = world
  const { market, sight, accounts } = parts
  const { stops, networks } = sight
  const { peppers, timelines } = accounts
  const marketHealth = () => market.health()
  const oracleAnswers = () => readOracleAnswers(metrics.registry)
  // Stops for differences between terms are in no table: this process finds them itself.
  const ownStops = () => stops.list().filter(({ toldBy }) => toldBy === 'terms')
  // These timelines name currencies; those of `createAdministration` show their addresses.
  const administration = { ...createAdministration({ config, database, peppers, ownStops }), timelines }
  registerAdmin(adminListener, administration, {
    database,
    chain: (signal) => openCommandChain({ config, variables: world.variables, database, signal }),
    retention: config.retention,
    readStatus: createStatusReading({
      database,
      readiness,
      stops,
      marketHealth,
      registry,
      clients,
      oracles: config.oracles,
      oracleAnswers,
    }),
  })
  registerHealthRoutes(adminListener, { readiness, stops, networks, registry, marketHealth })
  await registerConsole(adminListener)
  registerOverviewRoute(adminListener, {
    database,
    registry,
    oracles: config.oracles,
    snapshot: () => market.snapshot(),
    oracleAnswers,
  })
  registerStopList(opsListener, { database, registry })
  return administration
}

async function registerConsole(listener: HttpApp): Promise<void> {
  registerPages(listener, '/console', await loadConsolePage('operator'))
}
