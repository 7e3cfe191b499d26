import { type KeptDenyList, openDenyList, type Variables } from '@causeway/chains'
import type { SqlDatabase } from '@causeway/core'
import { warnOfUncheckedCode } from '@causeway/families'
import { watchPool } from '@causeway/http'
import {
  logDenyList,
  registerDenyList,
  type ServiceParts,
  traceDatabase,
  traceSigner,
} from '@causeway/service'
import { type ConfiguredSigner, checkHubKey } from '@causeway/signer'
import { type OpenChains, openChains } from './chains.ts'
import { type SolverConfig, workSettings } from './config.ts'
import { type OpenDatabase, openDatabase } from './database.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { type Hub, openHub } from './hub.ts'
import { openHubKey, openWallet, readFillKeys } from './keys.ts'

/** Everything that is opened from settings before the solver is assembled: files, keys, chains, database. */
export type World = {
  readonly config: SolverConfig
  readonly settings: ReturnType<typeof workSettings>
  readonly signer: ConfiguredSigner
  readonly hub: Hub | undefined
  readonly files: LoadedFiles
  readonly chains: OpenChains
  readonly opened: OpenDatabase
  /** Database of `opened`, with traces of its statements. */
  readonly database: OpenDatabase['database']
  readonly denyList: KeptDenyList | undefined
}

/**
 * Opens keys, reads files, opens the chains and compares them with the files, opens the database. The service closes each in
 * turn. @throws ConfigurationError
 */
export async function openWorld(
  service: ServiceParts,
  config: SolverConfig,
  variables: Variables,
): Promise<World> {
  const { logger, tracing, onClose } = service
  const settings = workSettings(config)
  const signer = traceSigner(await openWallet(variables, logger), tracing)
  onClose('connections', 'signer', () => signer.close())
  const files = await loadFiles(config, variables, signer.address)
  warnOfUncheckedCode(files.chains.chains.values(), logger)
  const denyList = await openDenyList(config.denyList, {
    now: () => performance.now(),
    observe: logDenyList(logger),
  })
  registerDenyList(service, denyList)
  const hubKey = await openHubKey(variables, logger)
  onClose('connections', 'hub key', () => hubKey?.close())
  const hub = openHub(files, { oracles: config.oracles, signer: hubKey })
  onClose('connections', 'hub', () => hub?.close())
  const chains = await openChains(files, { signer, keys: readFillKeys(variables), hub, log: logger })
  onClose('connections', 'chains', () => chains.close())
  checkHubKey(hubKey?.address, [signer.address, ...chains.paying.map(({ paying }) => paying.address)])
  const { opened, database } = await openState(service, config)
  return { config, settings, signer, hub, files, chains, opened, database, denyList }
}

async function openState(
  { logger, metrics, tracing, check, onClose }: ServiceParts<'state'>,
  config: SolverConfig,
) {
  const opened = await openDatabase(config, {
    onConnectionLost: (error) => logger.warn({ err: error }, 'database connection lost'),
  })
  onClose('state', 'database', () => opened.close())
  const database = traceDatabase(opened.database, tracing)
  check({ name: 'database', check: () => database.ping() })
  watchPool(metrics, () => database.usage())
  return { opened, database }
}

/** Name by which quote-api tells this solver's terms from other solvers': a row that a migration has made. */
export async function readSolverName(database: Pick<SqlDatabase, 'query'>): Promise<string> {
  const [row] = await database.query<{ name: string }>('select name from solver_name')
  return row?.name ?? ''
}
