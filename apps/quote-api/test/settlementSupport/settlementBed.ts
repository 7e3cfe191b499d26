// The service with its jobs over real nodes and a real database, a scripted solver, and whatever oracles a test
// names: what the tests of settlement start from.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOrderIdHasher, type Hex } from '@causeway/core'
import { createDatabase, type Database, startTestPostgres } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { generatePrivateKey } from 'viem/accounts'
import { startTestService, type TestService } from '../fixtures/service.ts'
import { pepperText } from '../sponsorSupport/sponsors.ts'
import { createRequestDriver, type RequestDriver } from './requestDriver.ts'
import { createScriptedSolver, type ScriptedSolver } from './scriptedSolver.ts'
import { localNetworkOf, type OracleMode, type StandInOracle, startStandInOracle } from './standInOracle.ts'
import { costOnChains, expectCharges, expectStories } from './stories.ts'

export const solverKey = 'solver-key-of-the-tests'

export type SettlementBed = {
  readonly network: TestNetwork
  readonly database: Database
  /** Connection string of the database server. */
  readonly connectionString: string
  readonly service: TestService
  /** The public listener of the service. */
  readonly url: string
  /** Its operations listener. */
  readonly opsUrl: string
  readonly adminUrl: string
  readonly solver: ScriptedSolver
  readonly requests: RequestDriver
  stop(): Promise<void>
}

export type SettlementBedOptions = {
  /** `ORACLES` of the service; two of them must sign. */
  readonly oracles: (network: TestNetwork) => Promise<string>
  /** Mine by themselves so often; default: only transactions and `network.mine` move the chains. */
  readonly blockTimeSeconds?: number
  /** Environment of the service; endpoints can be replaced. */
  readonly environment?: (network: TestNetwork) => Promise<Readonly<Record<string, string>>>
}

export async function startSettlementBed(options: SettlementBedOptions): Promise<SettlementBed> {
  const { blockTimeSeconds, environment = async () => ({}) } = options
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const network = await startTestNetwork({ ...(blockTimeSeconds !== undefined && { blockTimeSeconds }) })
    closers.push(network.stop)
    const directory = await mkdtemp(join(tmpdir(), 'causeway-settlement-'))
    closers.push(() => rm(directory, { recursive: true, force: true }))
    const server = await startTestPostgres({
      dataDirectory: join(directory, 'postgres'),
    })
    closers.push(() => server.stop())
    const database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
    closers.push(() => database.close())
    let isServed = false
    // After the service, so that nothing moves any more.
    closers.push(async () => {
      if (!isServed) return
      await expectStories(database)
      await expectCharges(database, costOnChains(network))
    })
    const service = await startTestService(network, {
      ...serviceSettings(server.connectionString, await options.oracles(network)),
      ...(await environment(network)),
    })
    closers.push(() => service.stop())
    const { publicUrl: url, opsUrl, adminUrl } = await service.listen()
    isServed = true
    const solver = createScriptedSolver({ network, url, apiKey: solverKey })
    const requests = createRequestDriver({ network, database, url, solver })
    const { connectionString } = server
    return { network, database, connectionString, service, url, opsUrl, adminUrl, solver, requests, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Settings of every service in these tests, beside its network. */
export function serviceSettings(connectionString: string, oracles: string): Record<string, string> {
  return {
    DATABASE_URL: connectionString,
    API_KEY_PEPPERS: pepperText,
    SOLVER_API_KEY: solverKey,
    ORACLES: oracles,
    ORACLES_THRESHOLD: '2',
  }
}

/** Three oracles that sign whatever their mode says, whether it happened or not. */
export type StandInOracles = {
  readonly all: readonly StandInOracle[]
  /** As `ORACLES` names them. */
  readonly setting: string
  /** One mode for each; missing ones are honest. */
  set(...modes: readonly OracleMode[]): void
  stop(): Promise<void>
}

/** @param keys default: three that nobody else has */
export async function startStandInOracles(
  keys: readonly Hex[] = [1, 2, 3].map(() => generatePrivateKey()),
): Promise<StandInOracles> {
  const orderIdOf = createOrderIdHasher(localNetworkOf)
  const all = await Promise.all(
    keys.map((privateKey) => startStandInOracle({ privateKey, otherKey: generatePrivateKey(), orderIdOf })),
  )
  return {
    all,
    setting: all.map(({ url, signer }) => `${url}||${signer}`).join(';'),
    set(...modes) {
      for (const [index, oracle] of all.entries()) oracle.mode = modes[index] ?? 'honest'
    },
    async stop() {
      await Promise.all(all.map((oracle) => oracle.stop()))
    },
  }
}
