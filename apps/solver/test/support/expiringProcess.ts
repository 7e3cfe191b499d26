// Solver processes of one chain whose transactions expire, each with connections of its own to a database of its own.

import type { GasBudgets } from '@causeway/core/config'
import type { PayingChain } from '@causeway/families'
import type { NetworkFees } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import { spentWithinHour } from '../../src/wallet/budgets.ts'
import { ExpiringStrategy } from '../../src/wallet/expiringStrategy.ts'
import { PaymentDesk } from '../../src/wallet/paymentDesk.ts'
import { createRecords, type Records } from '../../src/wallet/records.ts'
import type { ExpiringProcess } from './expiringKills.ts'
import { connectProcess, startSolverDatabases } from './solverDatabases.ts'

export type ProcessOptions = {
  readonly waits?: boolean
  readonly gas?: Partial<GasBudgets>
  /** Has what the process keeps go through something else. */
  readonly through?: (records: Records) => Records
}

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
  const databases = await startSolverDatabases()
  return {
    database: databases.database,
    async process(connectionString, { waits = true, gas = {}, through = (one: Records) => one } = {}) {
      const paying = open()
      const job = `fill-wallet:${paying.address}:${chainId}`
      const { database, leadership, kill } = connectProcess(connectionString, job)
      const records = through(createRecords(database))
      const strategy = new ExpiringStrategy({
        ...{ chainId, paying, landsWithinSeconds, records, maxFeePerGasWei: ceiling },
        ...{ marketFees: () => fees, nowMs: () => Date.now() },
      })
      const budgets = { gasPerHourWei: gasPerHour, refundGasPerHourWei: gasPerHour, relayGasPerHourWei: 0n }
      const rules = { ...budgets, ...gas }
      const desk = new PaymentDesk(strategy, { records, leadership, rules, log: () => undefined })
      if (waits) await waitUntil('the lease is won', () => desk.leads())
      return {
        ...{ desk, paying, records, kill },
        spent: (budget) => spentWithinHour(database, budget),
        async anHourPasses() {
          await database.query(`update budget_entry set at = at - interval '1 hour'`)
        },
      }
    },
    stop: databases.stop,
  }
}
