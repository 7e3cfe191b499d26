// Goal: one process of a solver leads all of its chains. Attack: a server that ends all sessions at once, so that two
// processes run for every chain at the same time. Method: the solver's own election on a real server.
import { createDatabase, startTestDatabase, type TestDatabase } from '@causeway/database'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { elect } from '../src/compose/elections.ts'
import { leaseName } from '../src/compose/openDesk.ts'
import type { PaidChain } from '../src/compose/paidChain.ts'

const address = `0x${'1f'.repeat(20)}` as const
const chainIds = Array.from({ length: 12 }, (_, index) => index + 1)

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase()
  await server.database.query(
    `create table job_epoch
       (job text primary key, epoch bigint not null, holder text not null, since timestamptz not null default clock_timestamp())`,
  )
})
afterAll(() => server?.stop())

test('O-109: two processes of a solver that begin at once share no chains out', async () => {
  const { connectionString } = server
  // CAST: an election reads the number of a chain and the address of its wallet alone.
  const paying = chainIds.map((chainId) => ({ chainId, paying: { address } })) as unknown as PaidChain[]
  const databases = [1, 2].map(() => createDatabase({ connectionString, poolSize: 1 }))
  const elections = databases.map((single) =>
    elect({
      config: { leaseMs: 500 },
      chains: { paying },
      opened: { database: server.database, openSingle: () => single, close: async () => {} },
      logger: pino({ enabled: false }),
    }),
  )
  const led = () =>
    elections.map(
      (one) => chainIds.filter((id) => one.leadershipOf(leaseName(address, id)) !== undefined).length,
    )
  const most = () => led().reduce((sum, count) => sum + count, 0)
  for (let round = 0; round < 4; round += 1) {
    await expect.poll(most, { timeout: 20_000 }).toBe(chainIds.length)
    expect([...led()].sort((one, other) => one - other)).toEqual([0, chainIds.length])
    await server.database.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'`)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
  }
  for (const one of elections) await one.close()
  for (const one of databases) await one.close()
})
