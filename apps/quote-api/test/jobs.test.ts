// Goal: of many processes one does each job, and a leader that was stopped or killed can neither block the job
// nor write after its time. Method: real processes with SIGKILL, SIGSTOP and SIGCONT on one PostgreSQL and a
// scripted chain. CAUSEWAY_FAULTS=1 runs the long form.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDatabase, startElections, startTestDatabase, type TestDatabase } from '@causeway/database'
import { createHttpMetrics } from '@causeway/http'
import { clearHalt, createLedger, ledgerMigrations, readHalt } from '@causeway/ledger'
import { createBlockTree, type ScriptedTransaction, startScriptedChain } from '@causeway/localnet'
import { createLogger } from '@causeway/service'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createAuditJob, createInvariantsJob } from '../src/jobs/invariants.ts'
import { type Job, runJobs } from '../src/jobs/runJobs.ts'
import { createSweeper } from '../src/jobs/sweeper.ts'
import { hexOf, noiseTransaction, topUpTransaction } from './topUpSupport/scriptedTopUps.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const kills = isLongForm ? 100 : 3
const longest = isLongForm ? 1_800_000 : 120_000
const patience = { timeout: 60_000, interval: 20 }

const migrations = [
  { name: 'ledger', path: ledgerMigrations },
  { name: 'quote_api', path: fileURLToPath(new URL('../migrations', import.meta.url)) },
]
let server: TestDatabase
let started: Spawned[] = []

beforeAll(async () => {
  server = await startTestDatabase({ directories: migrations })
})
afterAll(() => server?.stop())
beforeEach(async () => {
  await server.database.query('delete from job_epoch')
})
afterEach(async () => {
  await Promise.all(started.map((one) => one.kill()))
  started = []
})

type Spawned = {
  readonly child: ChildProcess
  readonly lines: () => readonly string[]
  kill(): Promise<void>
}

function spawnJobs(
  task: string,
  args: { rpcUrl?: string; chainId?: number; leaseMs?: number } = {},
): Spawned {
  const script = join(import.meta.dirname, 'topUpSupport/jobProcess.ts')
  const { rpcUrl = '', chainId = 0, leaseMs = 10_000 } = args
  const child = spawn(
    process.execPath,
    [script, ...[task, server.connectionString, rpcUrl, String(chainId), String(leaseMs)]],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += String(chunk)
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const spawned = {
    child,
    lines: () => output.split('\n').slice(0, -1),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
  started.push(spawned)
  return spawned
}

const says = (spawned: Spawned, line: string | RegExp) =>
  expect.poll(() => spawned.lines(), patience).toContainEqual(expect.stringMatching(line))

describe('of two processes', () => {
  test('one leads; kill -9 of it moves the job at once, and top-ups are credited once each', async () => {
    const chainId = 20_001
    const tree = createBlockTree()
    const scripted = await startScriptedChain({ chainId, tree })
    const owner = hexOf(0xabc1, 20)
    const settle = (id: number) => {
      tree.mine([topUpTransaction({ id: 200_100 + id, owner, value: 10n })])
      tree.finalize(tree.canonical().length - 1)
    }
    try {
      const first = spawnJobs('watcher', { rpcUrl: scripted.url, chainId })
      await says(first, 'won 1')
      const second = spawnJobs('watcher', { rpcUrl: scripted.url, chainId })
      await says(second, 'running')
      settle(1)
      await says(first, 'credited')
      expect(second.lines().filter((line) => line.startsWith('won'))).toEqual([])
      await first.kill()
      settle(2)
      await says(second, 'won 2')
      await says(second, 'credited')
      const { availableMicroUsd } = await server.database.transaction((tx) =>
        createLedger().balance(tx, owner),
      )
      expect(availableMicroUsd).toBe(20n)
    } finally {
      await scripted.stop()
    }
  })

  test('one that is stopped loses the job, and what it writes when it wakes up is refused', async () => {
    await server.database.query(
      'create table written (id bigint primary key generated always as identity, pid int not null)',
    )
    const first = spawnJobs('writer', { leaseMs: 1_500 })
    await says(first, 'wrote')
    const second = spawnJobs('writer', { leaseMs: 1_500 })
    await says(second, 'running')
    first.child.kill('SIGSTOP')
    await says(second, 'won 2')
    await says(second, 'wrote')
    first.child.kill('SIGCONT')
    await says(first, /failed (StaleLeadershipError|UpstreamUnavailableError)/)
    await says(first, 'lost')
    const rows = await server.database.query<{ pid: number }>('select pid from written order by id')
    const takenOver = rows.findIndex(({ pid }) => pid === second.child.pid)
    expect(takenOver).toBeGreaterThan(0)
    expect(rows.slice(takenOver).every(({ pid }) => pid === second.child.pid)).toBe(true)
  })
})

test('a fence refuses every write of an epoch that is over', async () => {
  const lockDatabase = createDatabase({ connectionString: server.connectionString, poolSize: 1 })
  const options = { jobs: ['one', 'two'], lockDatabase, database: server.database, holder: 'test' }
  const elections = startElections({ ...options, onChange: () => {}, onFailure: () => {} })
  try {
    await expect.poll(() => elections.leadershipOf('two'), patience).toBeDefined()
    const leadership = elections.leadershipOf('one')
    const write = () =>
      server.database.transaction(async (tx) => {
        await leadership?.fence(tx)
      })
    await write()
    await server.database.query(`update job_epoch set epoch = epoch + 1 where job = 'one'`)
    await expect(write()).rejects.toMatchObject({ name: 'StaleLeadershipError' })
  } finally {
    await elections.close()
    await lockDatabase.close()
  }
  expect(elections.leadershipOf('one')).toBeUndefined()
})

test('F-74: a job that fails is repeated, counted each time and told once a minute', async () => {
  const fence = async () => {}
  let runs = 0
  const failures: string[] = []
  const jobs = runJobs({
    jobs: [
      {
        name: 'shaky',
        intervalMs: 5,
        async run() {
          runs += 1
          if (runs < 3) throw new Error('not yet')
        },
      },
    ],
    elections: { leadershipOf: () => ({ epoch: 7n, fence }), close: async () => {} },
    now: () => 1_234,
    onFailure: (job) => failures.push(job),
  })
  await expect.poll(() => jobs.health()[0]?.lastSuccessAtMs, patience).toBe(1_234)
  await jobs.close()
  expect(jobs.health()).toMatchObject([{ name: 'shaky', epoch: 7n, failures: 2, consecutiveFailures: 0 }])
  expect(failures).toEqual(['shaky'])
})

test('the sweeper frees holds past their expiry in its next run, and no others', async () => {
  const ledger = createLedger({
    caps: { holdsPerUser: 9, holdsPerKey: 9, unsettledShareBps: 10_000n },
  })
  const { database } = server
  const sponsor = hexOf(0xabc9, 20)
  await database.query(
    `select ledger_transfer(gen_random_uuid(), 'posted', ledger_account('custody', 'test', 1),
       ledger_account('sponsor', $1, 1), 1000, 'deposit', 'test')`,
    [sponsor],
  )
  const hold = (id: number, lifetimeSeconds: number) =>
    database.transaction((tx) =>
      ledger.reserve(tx, {
        requestId: hexOf(0xff00 + id, 32),
        sponsor,
        apiKeyId: 'key',
        user: hexOf(id, 20),
        recipient: hexOf(id, 20),
        originChainId: 10,
        destinationChainId: 8_453,
        components: ['relay'],
        amountMicroUsd: 10n,
        lifetimeSeconds,
        requoteKey: String(id),
      }),
    )
  const outcomes = await Promise.all([hold(1, 1), hold(2, 1), hold(3, 600)])
  expect(outcomes.map(({ status }) => status)).toEqual(['reserved', 'reserved', 'reserved'])
  const held = async () => (await database.transaction((tx) => ledger.balance(tx, sponsor))).heldMicroUsd
  expect(await held()).toBe(30n)
  let freed = 0
  const sweeper = createSweeper({ database, ledger, onExpired: (count) => (freed += count) })
  const jobs = runJobs({
    jobs: [sweeper],
    elections: { leadershipOf: () => ({ epoch: 1n, fence: async () => {} }), close: async () => {} },
    now: () => Date.now(),
    onFailure: () => {},
  })
  await expect.poll(held, patience).toBe(10n)
  await jobs.close()
  expect(freed).toBe(2)
})

test('the checks halt reservations while the books do not add up, and tell it', async () => {
  // Books of its own: the other tests here credit sponsors without a top-up behind it.
  const own = await startTestDatabase({ directories: migrations })
  onTestFinished(() => own.stop())
  const { database } = own
  await database.query(
    `select ledger_transfer(gen_random_uuid(), 'posted', ledger_account('app_fee_due', 'test', 1),
       ledger_account('app_fee', $1, 1), 1000, 'app_fee', 'test')`,
    [hexOf(1, 20)],
  )
  const metrics = createHttpMetrics({ service: 'test' })
  const logger = createLogger({ service: 'test', level: 'silent' })
  const fences: string[] = []
  const run = (job: Job) =>
    job.run({ fence: async () => void fences.push(job.name), signal: AbortSignal.timeout(600_000) })
  const cheap = createInvariantsJob({ database, metrics, logger })
  const audit = createAuditJob({ database, metrics, logger })
  const told = async (name: string) => {
    const text = await metrics.registry.metrics()
    return new RegExp(`^${name}\\{[^}]*\\} (.*)$`, 'm').exec(text)?.[1]
  }
  await run(cheap)
  await run(audit)
  expect([await told('ledger_findings'), await told('ledger_halted')]).toEqual(['0', '0'])
  expect(Number(await told('ledger_audit_seconds'))).toBeGreaterThan(0)
  expect(await database.query('select from checkpoint')).toHaveLength(1)
  expect(await readHalt(database)).toBeUndefined()

  const falsify = (delta: number) =>
    database.query(
      `update account set debits_posted = debits_posted + $1, credits_posted = credits_posted + $1
       where kind = 'app_fee_due' and owner = 'test'`,
      [delta],
    )
  // Debits and credits stay equal: only the replay can see it.
  await falsify(1)
  await run(audit)
  expect((await readHalt(database))?.findings.map(({ invariant }) => invariant)).toContain('I2')
  await falsify(-1)
  await run(cheap)
  expect([await told('ledger_findings'), await told('ledger_halted')]).toEqual(['0', '1'])
  expect(fences).toEqual(['audit'])
  await clearHalt(database, { actor: 'test', reason: 'mended' })
  await run(cheap)
  expect(await told('ledger_halted')).toBe('0')
})

test(
  'two watchers at once, killed again and again, through reorganizations: each top-up is credited once',
  async () => {
    const chainId = 20_002
    const tree = createBlockTree()
    const scripted = await startScriptedChain({ chainId, tree })
    const owner = hexOf(0xabc2, 20)
    const spawnWatcher = () => spawnJobs('unelected', { rpcUrl: scripted.url, chainId })
    let steady = spawnWatcher()
    let count = 0
    const topUp = (): ScriptedTransaction => {
      count += 1
      return topUpTransaction({ id: 200_200 + count, owner, value: 10n })
    }
    try {
      for (let round = 1; round <= kills; round += 1) {
        const killed = spawnWatcher()
        const [a, b, c] = [topUp(), topUp(), topUp()]
        tree.mine([a, b])
        tree.mine([c])
        await expect.poll(() => liveEvents(chainId), patience).toBe(3)
        // Transactions that were mined before, now in other blocks and at other positions.
        tree.reorg(2, [[noiseTransaction(200_000 + round), c, b], [], [a]])
        tree.mine([topUp()])
        tree.finalize(tree.canonical().length - 1)
        await expect.poll(() => killed.lines().length + steady.lines().length, patience).toBeGreaterThan(0)
        await killed.kill()
        if (round % 2 === 0) {
          await steady.kill()
          steady = spawnWatcher()
        }
        await expect.poll(() => creditedMicroUsd(owner), patience).toBe(10n * BigInt(count))
      }
      expect(await liveEvents(chainId)).toBe(0)
    } finally {
      await scripted.stop()
    }
  },
  longest,
)

async function liveEvents(chainId: number): Promise<number> {
  const rows = await server.database.query(`select from chain_event where chain_id = $1 and state = 'seen'`, [
    chainId,
  ])
  return rows.length
}

async function creditedMicroUsd(owner: string): Promise<bigint> {
  const { availableMicroUsd } = await server.database.transaction((tx) => createLedger().balance(tx, owner))
  return availableMicroUsd
}
