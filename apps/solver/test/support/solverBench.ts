import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Hex } from '@causeway/core'
import { createDatabase, startTestDatabase, type TestDatabase } from '@causeway/database'
import {
  bundledScript,
  type SpawnedService,
  solverEnvironment,
  spawnSolver,
  type TestNetwork,
} from '@causeway/localnet'
import { size, sliceHex, toFunctionSelector } from 'viem'
import { expect, onTestFinished } from 'vitest'
import type { ScriptedWork } from './scriptedWork.ts'

export type UserChain = 'base' | 'optimism'

/** Variables of one solver, and what reads its database. */
export type SolverSettings = {
  readonly environment: Readonly<Record<string, string>>
  readonly databaseUrl: string
}

/** A server on which every solver of a test file has a database of its own. */
export type SolverBench = {
  /** @param overrides variables that are other than a local network's */
  settings(
    work: Pick<ScriptedWork, 'url' | 'apiKey'>,
    overrides?: Readonly<Record<string, string>>,
  ): Promise<SolverSettings>
  stop(): Promise<void>
}

/** A process that stands in for many chains may be slow to hear what a database said at once. */
const patience = { acquireTimeoutMs: 60_000 }

export async function startSolverBench(network: TestNetwork): Promise<SolverBench> {
  const server: TestDatabase = await startTestDatabase({ pool: patience })
  const directory = await mkdtemp(join(tmpdir(), 'causeway-solver-'))
  return {
    async settings(work, overrides = {}) {
      const name = `solver_${randomBytes(6).toString('hex')}`
      await server.database.query(`create database ${name}`)
      const databaseUrl = databaseOf(server.connectionString, name)
      return {
        databaseUrl,
        environment: {
          ...solverEnvironment(network, {
            quoteApiUrl: work.url,
            quoteApiKey: work.apiKey,
            databaseUrl,
            directory,
            opsPort: 0,
            pollMs: 50,
          }),
          ECDSA_PRIVATE_KEY: network.keys.fillWallet.privateKey,
          LEASE_MS: '2000',
          ...overrides,
        },
      }
    },
    async stop() {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function databaseOf(connectionString: string, name: string): string {
  const url = new URL(connectionString)
  url.pathname = `/${name}`
  return url.toString()
}

/** Copies the configuration and changes one file of it. @returns `CONFIG_DIR` */
export async function changedConfigs(name: string, change: (text: string) => string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-configs-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(join(import.meta.dirname, '../../../../configs'), folder, { recursive: true })
  const path = join(folder, name)
  await writeFile(path, change(await readFile(path, 'utf8')))
  return folder
}

/** The solver's own tables. */
export async function querySolver(
  { databaseUrl }: Pick<SolverSettings, 'databaseUrl'>,
  text: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const database = createDatabase({ connectionString: databaseUrl, poolSize: 1, ...patience })
  try {
    return await database.query(text)
  } finally {
    await database.close()
  }
}

/** Output of an operator's command, beside a running solver. */
export async function runSolverCommand(
  { environment }: Pick<SolverSettings, 'environment'>,
  words: readonly string[],
): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(import.meta.dirname, '../../../../', bundledScript('apps/solver/src/main.ts')), ...words],
    { env: { PATH: process.env['PATH'], ...environment } },
  )
  return stdout
}

/** A solver in a process of its own; gone after the test. */
export function startSolver({ environment }: Pick<SolverSettings, 'environment'>): SpawnedService {
  const solver = spawnSolver(environment)
  onTestFinished(async () => {
    solver.kill('SIGCONT')
    solver.kill('SIGKILL')
    await solver.ended
  })
  return solver
}

/**
 * Gives a solver work and kills it at a random moment, again and again; some of its reports get no answer.
 * @returns one more, which nobody kills
 */
export async function surviveKills(
  settings: SolverSettings,
  { work, kills }: { readonly work: Pick<ScriptedWork, 'dropReports'>; readonly kills: number },
  addWork: () => Promise<void>,
): Promise<SpawnedService> {
  for (let round = 0; round < kills; round += 1) {
    const solver = startSolver(settings)
    await solver.ready()
    work.dropReports(randomInt(3))
    await addWork()
    await sleep(randomInt(900))
    solver.kill('SIGKILL')
    expect(await solver.ended).toBe('SIGKILL')
  }
  return startSolver(settings)
}

const closeSelector = toFunctionSelector('close(bytes32)')

type FillsByOrder = ReadonlyMap<Hex, readonly Hex[]>

type WatchedNetwork = {
  readonly chains: Readonly<Record<UserChain, Pick<TestNetwork['chains']['base'], 'chain'>>>
  readonly deployment: Readonly<Record<UserChain, { readonly fillContract: Hex }>>
}

/**
 * Successful transactions through the fill contract by the order id at their end, up to the block of each
 * asking; no block is read twice.
 */
export function watchFills(network: WatchedNetwork, key: UserChain): () => Promise<FillsByOrder> {
  const { client } = network.chains[key].chain
  const { fillContract } = network.deployment[key]
  const fills = new Map<Hex, Hex[]>()
  let blockNumber = 0n
  return async () => {
    const head = await client.getBlockNumber({ cacheTime: 0 })
    for (; blockNumber <= head; blockNumber += 1n) {
      const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true })
      for (const { to, input, hash } of transactions) {
        // A closed id ends its calldata too, and pays nobody.
        if (to?.toLowerCase() !== fillContract || input.startsWith(closeSelector)) continue
        const { status } = await client.getTransactionReceipt({ hash })
        const orderId = sliceHex(input, size(input) - 32)
        if (status === 'success') fills.set(orderId, [...(fills.get(orderId) ?? []), hash])
      }
    }
    return fills
  }
}
