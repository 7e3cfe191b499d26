// Goal: jobs that need each other have one leader, whatever ends a leader's session. Attacks: a server that ends all
// sessions at once, so that everybody runs for everything at the same time; a leader that is gone. Method: a real server.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createDatabase,
  type Elections,
  startElections,
  startTestDatabase,
  type TestDatabase,
} from '../src/index.ts'

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase()
  await server.database.query(
    `create table if not exists job_epoch
       (job text primary key, epoch bigint not null, holder text not null, since timestamptz not null default clock_timestamp())`,
  )
})
afterAll(() => server?.stop())

const jobs = Array.from({ length: 12 }, (_, index) => `chain ${index}`)

async function withCandidates(
  candidates: readonly string[],
  use: (elections: readonly Elections[]) => Promise<void>,
): Promise<void> {
  const { connectionString } = server
  const database = createDatabase({ connectionString })
  const running = candidates.map((holder) => {
    const lockDatabase = createDatabase({ connectionString, poolSize: 1 })
    const elections = startElections({
      jobs,
      areTogether: true,
      lockDatabase,
      database,
      holder,
      leaseMs: 500,
      onChange: () => {},
      onFailure: () => {},
    })
    return { elections, lockDatabase }
  })
  try {
    await use(running.map(({ elections }) => elections))
  } finally {
    for (const { elections, lockDatabase } of running) {
      await elections.close()
      await lockDatabase.close()
    }
    await database.close()
  }
}

const ledBy = (elections: Elections) => jobs.filter((job) => elections.leadershipOf(job) !== undefined)
const newestEpoch = (elections: readonly Elections[]) =>
  elections
    .map((one) => one.leadershipOf('chain 0')?.epoch ?? 0n)
    .sort((one, other) => Number(other - one))[0] ?? 0n
const endSessions = () =>
  server.database.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'`)

test('O-109: whoever leads one job of several that need each other leads all of them, however often sessions end', async () => {
  await withCandidates(['first', 'second'], async (elections) => {
    for (let round = 0; round < 6; round += 1) {
      await expect
        .poll(() => elections.map((one) => ledBy(one).length).sort((one, other) => one - other), {
          timeout: 20_000,
        })
        .toEqual([0, jobs.length])
      const epoch = newestEpoch(elections)
      await endSessions()
      await expect.poll(() => newestEpoch(elections), { timeout: 20_000 }).toBeGreaterThan(epoch)
    }
  })
})

test('O-109: where the leader is gone another one leads all of them', async () => {
  await withCandidates(['first', 'second'], async (elections) => {
    await expect.poll(() => elections.flatMap(ledBy).length, { timeout: 20_000 }).toBe(jobs.length)
    const leader = elections.find((one) => ledBy(one).length > 0)
    const other = elections.find((one) => one !== leader)
    if (leader === undefined || other === undefined) throw new Error('nobody leads')
    await leader.close()
    await expect.poll(() => ledBy(other).length, { timeout: 20_000 }).toBe(jobs.length)
  })
})
