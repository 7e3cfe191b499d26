// The real service with its jobs, PostgreSQL and stand-in oracles over two EVM chains and one chain of another family.
import { createDatabase, type Database, startTestDatabase } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { startTestService, type TestService } from '../../apps/quote-api/test/fixtures/service.ts'
import { type ConfigCopy, copyConfigs } from '../../apps/quote-api/test/serviceSupport/configCopy.ts'
import {
  createRequestDriver,
  type RequestDriver,
} from '../../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { createScriptedSolver } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import {
  type StandInOracles,
  serviceSettings,
  solverKey,
  startStandInOracles,
} from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import {
  type Charged,
  costOnChains,
  expectCharges,
} from '../../apps/quote-api/test/settlementSupport/stories.ts'

/** A chain alone, and what a service needs to be told of it. */
export type QuotedChain = {
  readonly variables: Readonly<Record<string, string>>
  /** Lists it in a quote file, as an operator would. */
  describe(quoteFile: unknown): unknown
  /** Cost of a transaction of the chain; absent: charges are not compared with costs. */
  readonly costOf?: (hash: string) => Promise<Charged | undefined>
  stop(): Promise<void>
}

export type FamilySettling = {
  readonly network: TestNetwork
  readonly service: TestService
  readonly url: string
  readonly database: Database
  readonly oracles: StandInOracles
  readonly requests: RequestDriver
  /** Start configuration of the service; a test that starts a solver beside it may change more. */
  readonly configs: Pick<ConfigCopy, 'directory' | 'edit'>
  stop(): Promise<void>
}

export async function startFamilySettling<Chain extends QuotedChain>(
  startChain: (network: TestNetwork) => Promise<Chain>,
  overrides: Readonly<Record<string, string>> = {},
): Promise<Omit<Chain, 'stop'> & FamilySettling> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const network = await startTestNetwork({ blockTimeSeconds: 1 })
    closers.push(network.stop)
    const [chain, configs, oracles, server] = await Promise.all([
      startChain(network),
      copyConfigs(),
      startStandInOracles(network.keys.oracles.map(({ privateKey }) => privateKey)),
      startTestDatabase(),
    ])
    closers.push(chain.stop, configs.remove, oracles.stop, () => server.stop())
    await configs.edit('quote.local.json', chain.describe)
    const service = await startTestService(network, {
      CONFIG_DIR: configs.directory,
      ...chain.variables,
      ...serviceSettings(server.connectionString, oracles.setting),
      ...overrides,
    })
    closers.push(() => service.stop())
    const { publicUrl: url } = await service.listen()
    const database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
    closers.push(() => database.close())
    const onEvm = costOnChains(network)
    closers.push(() =>
      expectCharges(database, async (chainId, hash) => (await onEvm(chainId, hash)) ?? chain.costOf?.(hash)),
    )
    const requests = createRequestDriver({
      network,
      database,
      url,
      solver: createScriptedSolver({ network, url, apiKey: solverKey }),
    })
    return { ...chain, network, service, url, database, oracles, requests, configs, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
