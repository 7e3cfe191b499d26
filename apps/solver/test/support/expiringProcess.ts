// Solver processes of one chain whose transactions expire, each with connections of its own to a database of its own.
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { PayingChain } from '@causeway/chains'
import type { GasBudgets, NetworkFees } from '@causeway/core'
import {
  createDatabase,
  migrate,
  startElections,
  startTestDatabase,
  type TestDatabase,
} from '@causeway/database'
import { waitUntil } from '@causeway/localnet'
import { onTestFinished } from 'vitest'
import { spentWithinHour } from '../../src/wallet/budgets.ts'
import { createExpiringDesk } from '../../src/wallet/expiringDesk.ts'
import { createRecords } from '../../src/wallet/records.ts'
import type { ExpiringProcess } from './expiringKills.ts'

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))

export type ProcessOptions = { readonly waits?: boolean; readonly gas?: Partial<GasBudgets> }

export type BenchProcess = ExpiringProcess & {
  /** Nothing that was taken of a budget is of the last hour any more. */
  anHourPasses(): Promise<void>
}

export type Processes = {
  /** @returns connection string of an empty, migrated database */
  database(): Promise<string>
  process(databaseUrl: string, options?: ProcessOptions): Promise<BenchProcess>
  stop(): Promise<void>
}

export async function startProcesses(chain: {
  readonly chainId: number
  readonly open: () => PayingChain
  readonly landsWithinSeconds: number
  readonly fees: NetworkFees
  readonly ceiling: bigint
  readonly gasPerHour: bigint
}): Promise<Processes> {
  const { chainId, open, landsWithinSeconds, fees, ceiling, gasPerHour } = chain
  const server: TestDatabase = await startTestDatabase()
  return {
    async database() {
      const name = `expiring_${randomBytes(6).toString('hex')}`
      await server.database.query(`create database ${name}`)
      const url = new URL(server.connectionString)
      url.pathname = `/${name}`
      await migrate({ connectionString: url.toString(), directories: [{ name: 'solver', path: migrations }] })
      return url.toString()
    },
    async process(connectionString, { waits = true, gas = {} } = {}) {
      const paying = open()
      const [database, lockDatabase] = [
        createDatabase({ connectionString }),
        createDatabase({ connectionString, poolSize: 1 }),
      ]
      const job = `fill-wallet:${paying.address}:${chainId}`
      const elections = startElections({
        ...{ jobs: [job], database, lockDatabase, holder: 'test', leaseMs: 2_000 },
        ...{ onChange: () => undefined, onFailure: () => undefined },
      })
      const records = createRecords(database)
      const desk = createExpiringDesk({
        ...{ chainId, paying, landsWithinSeconds, records },
        leadership: () => elections.leadershipOf(job),
        marketFees: () => fees,
        rules: {
          ...{ maxFeePerGasWei: ceiling, gasPerHourWei: gasPerHour, refundGasPerHourWei: gasPerHour },
          ...{ relayGasPerHourWei: 0n, ...gas },
        },
        nowMs: () => Date.now(),
        log: () => undefined,
      })
      let isKilled = false
      const kill = async () => {
        if (isKilled) return
        isKilled = true
        await elections.close()
        await Promise.all([database.close(), lockDatabase.close()])
      }
      onTestFinished(kill)
      if (waits) await waitUntil('the lease is won', () => desk.leads())
      return {
        ...{ desk, paying, records, kill },
        spent: (budget) => spentWithinHour(database, budget),
        async anHourPasses() {
          await database.query(`update budget_entry set at = at - interval '1 hour'`)
        },
      }
    },
    stop: () => server.stop(),
  }
}
