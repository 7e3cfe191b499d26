// Goal: whoever takes the service over reads on one screen what does not move, since when and what to do, from the
// facts that `/ready` and the console show. Attacks: a chain that stands, deposits that cannot be read, a solver that
// asks no more, a receiver that fails, a sponsor without money, a database that takes no writes, a service that is not
// there, a wrong secret. Method: the service with its jobs over real nodes, and the command as it is typed.
import { freeLoopbackPort } from '@causeway/database'
import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { readinessProblems } from '../src/operate/admin/readinessProblems.ts'
import { statusSchema } from '../src/operate/admin/status.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { repositoryRoot, serviceEnvironment } from './fixtures/service.ts'
import { send } from './serviceSupport/callService.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, topUp } from './sponsorSupport/sponsors.ts'
import { startReceiver } from './webhookSupport/receiver.ts'
import { setWebhook } from './webhookSupport/setWebhook.ts'

const adminKey = 'admin-key-of-these-tests'
const waits = { timeout: 60_000, interval: 250 }
let bed: SettlementBed
let oracles: StandInOracles
let logs: FaultProxy

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    async environment(network) {
      logs = await startFaultProxy({ targetUrl: network.chains.base.url })
      return {
        DEPOSITS_UNREAD_SECONDS: '5',
        BASE_RPC_URL: logs.url,
        ADMIN_API_KEY: adminKey,
        WEBHOOK_PRIVATE_ADDRESSES: 'allow',
      }
    },
  })
}, 180_000)
afterAll(async () => {
  await bed?.stop()
  await logs?.stop()
  await oracles?.stop()
})

async function command(words: readonly string[], changes: Readonly<Record<string, string>> = {}) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const variables = await serviceEnvironment(bed.network, bed.service.directory, {
    DATABASE_URL: bed.connectionString,
    ADMIN_API_KEY: adminKey,
    ADMIN_PORT: new URL(bed.adminUrl).port,
    OPS_PORT: new URL(bed.opsUrl).port,
    ...changes,
  })
  const code = await runCli({
    words,
    actor: 'cli:operator',
    signal: new AbortController().signal,
    print: keep,
    complain: keep,
    config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
  })
  return { code, output: lines.join('\n') }
}

const isThere = () => bed.solver.work()
/** Problems as the command tells them, each with the parts that it keeps back. */
async function told(): Promise<readonly string[]> {
  const { output } = await command(['status', '--json'])
  return statusSchema
    .parse(JSON.parse(output))
    .problems.map(({ what, parts }) => `${parts.join(' ')}: ${what}`)
}
/** Problems while a solver asks for work. */
const toldBeside = () => isThere().then(told)
const names = (text: string | RegExp) => expect.arrayContaining([expect.stringMatching(text)])
const moves = () => expect.poll(toldBeside, waits).toEqual([])

test('O-90: everything moves, with exit code 0, and every check of /ready has its words', async () => {
  await moves()
  const all = { code: 0, output: expect.stringMatching(/^Everything moves\.\n(.*\n)*quotes +moves\n/) }
  await expect.poll(() => isThere().then(() => command(['status'])), waits).toEqual(all)
  const { checks } = JSON.parse((await send(`${bed.opsUrl}/ready`)).text)
  for (const name of Object.keys(checks)) {
    const readiness = { ready: false, draining: false, checks: { [name]: 'failed' as const } }
    const [problem] = readinessProblems({ readiness, nowMs: 0, failingSince: new Map() })
    expect(problem?.what ?? '').not.toContain('The check')
  }
})

test('O-90: a chain that makes no blocks', async () => {
  const { node } = bed.network.chains.base.chain
  await node.setIntervalMining({ interval: 0 })
  try {
    await expect
      .poll(toldBeside, waits)
      .toEqual(names(/^quotes deposits fills: Chain base .* makes no blocks\./))
    const { code, output } = await command(['status'])
    expect([code, output]).toEqual([1, expect.stringMatching(/fills +(moves in part|STANDS) +2/)])
  } finally {
    await node.setIntervalMining({ interval: 1 })
  }
  await moves()
})

test('O-90: deposits that cannot be read', async () => {
  await logs.set({
    kind: 'lie',
    rewrite: ({ method }, result) => (method === 'eth_getLogs' ? 'no list' : result),
  })
  await expect
    .poll(toldBeside, waits)
    .toEqual(names(/^quotes deposits: Chain base .* cannot be read for deposits/))
  await logs.set({ kind: 'pass' })
  await moves()
})

test('O-91: a solver that asks no more, which /ready shows too and stays ready', async () => {
  await bed.database.query(
    `update stop_reader set read_at = now() - interval '1 minute' where reader = 'solver'`,
  )
  await expect.poll(told, waits).toEqual(names(/^fills settlement: No solver asks for work: .*SOLVER_SILENT/))
  const silent = {
    ready: true,
    checks: { 'solver work': 'failed' },
    reasons: { 'solver work': 'SOLVER_SILENT' },
  }
  await expect
    .poll(async () => JSON.parse((await send(`${bed.opsUrl}/ready`)).text), waits)
    .toMatchObject(silent)
  await moves()
})

test('O-90: a receiver that fails, until it takes its message', async () => {
  const receiver = await startReceiver()
  receiver.answer = (response) => response.writeHead(500).end()
  const sponsor = await createSponsor(bed.database, 1_000_000n)
  await setWebhook(bed.database, sponsor, receiver.url)
  await bed.database.query(
    `insert into webhook_delivery (event_id, api_key_id, request_id, body)
     values (gen_random_uuid(), $1, decode(repeat('11', 32), 'hex'), '{}')`,
    [sponsor.keyId],
  )
  const fails = new RegExp(
    `^webhooks: 1 message waits for 127.0.0.1:${receiver.port}.*${sponsor.keyId}: answered_500`,
  )
  await expect.poll(toldBeside, waits).toEqual(names(fails))
  receiver.answer = (response) => response.writeHead(204).end()
  await bed.database.query('update webhook_delivery set next_at = now()')
  await moves()
  await receiver.stop()
})

test('O-90: a sponsor with less than it spends in a day', async () => {
  const { wallet } = await createSponsor(bed.database, 0n)
  await expect
    .poll(toldBeside, waits)
    .toEqual(names(new RegExp(`^money: The sponsor ${wallet} has \\$0 left`)))
  await topUp(bed.database, wallet, 1n)
  await moves()
})

test('O-90: a database that takes no writes', async () => {
  const setReadOnly = async (value: string) => {
    await bed.database.query(`alter system set default_transaction_read_only = ${value}`)
    await bed.database.query('select pg_reload_conf()')
  }
  await setReadOnly('on')
  await expect
    .poll(told, waits)
    .toEqual(names(/^quotes deposits .*The database takes no writes: .*DATABASE_STARTING/))
  const { parts } = statusSchema.parse(JSON.parse((await command(['status', '--json'])).output))
  expect(new Set(parts.map(({ state }) => state))).toEqual(new Set(['stands']))
  await setReadOnly('off')
  await moves()
})

test('O-90: a service that is not there and a wrong secret cannot be told from here: exit code 2', async () => {
  const [admin, ops] = await Promise.all([freeLoopbackPort(), freeLoopbackPort()])
  expect(await command(['status'], { ADMIN_PORT: String(admin), OPS_PORT: String(ops) })).toEqual({
    code: 2,
    output: expect.stringContaining(`does not answer (ECONNREFUSED) at 127.0.0.1:${admin}`),
  })
  expect(await command(['status'], { ADMIN_API_KEY: 'another-key-of-these-tests' })).toEqual({
    code: 2,
    output: expect.stringContaining('refuses ADMIN_API_KEY'),
  })
})
