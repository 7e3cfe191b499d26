// Goal: two processes of one oracle behind a balancer sign together what one would, whoever dies, and nothing that lets
// value out while what they share is away. Method: `main.ts` twice over real nodes and one PostgreSQL, with a chain file
// that caps the native coin of one chain at three deposits of an hour.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import {
  createDatabase,
  type EmbeddedPostgres,
  freeLoopbackPort,
  startTestPostgres,
} from '@causeway/database'
import { type LocalAccount, startFaultProxy, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { chainsResponseSchema } from '../src/http/app.ts'
import {
  callerKey,
  type OracleProcess,
  oracleVariables,
  spawnOracle,
  writeCappedConfigs,
} from './support/oracleProcess.ts'
import { deposit, native, noOrder, pay, signedOrder } from './support/protocolActors.ts'

const amount = parseEther('0.1')
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let variables: Record<string, string>
const running: Running[] = []

beforeAll(async () => {
  network = await startTestNetwork()
  directory = await mkdtemp(join(tmpdir(), 'causeway-shared-oracle-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  await writeCappedConfigs(directory, { [native]: (3n * amount).toString() })
  variables = { ...oracleVariables(network), CONFIG_DIR: directory }
})
afterEach(async () => {
  for (const { oracle } of running.splice(0)) await oracle.stop()
})
afterAll(async () => {
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

type Running = { readonly oracle: OracleProcess; readonly url: string; readonly opsUrl: string }

async function start(own: Readonly<Record<string, string>>): Promise<Running> {
  const opsPort = await freeLoopbackPort()
  const oracle = spawnOracle({ ...variables, OPS_PORT: String(opsPort), ...own })
  const one = { oracle, url: await oracle.listening(), opsUrl: `http://127.0.0.1:${opsPort}` }
  running.push(one)
  return one
}

let databases = 0
async function freshDatabase(): Promise<string> {
  databases += 1
  const name = `oracle_${databases}`
  await sql(server.connectionString, `create database ${name}`)
  return server.connectionString.replace(/[^/]+$/, name)
}

async function sql<Row extends Record<string, unknown>>(url: string, text: string): Promise<readonly Row[]> {
  const database = createDatabase({ connectionString: url, poolSize: 1 })
  try {
    return await database.query<Row>(text)
  } finally {
    await database.close()
  }
}

const user = (): LocalAccount => {
  const [account] = network.keys.users
  if (account === undefined) throw new Error('the network has users')
  return account
}
const deposited = (currency: Hex = native, of = amount, id = noOrder): Promise<Hex> =>
  deposit(network, 'base', user(), { currency, amount: of, id })
async function deposits(count: number): Promise<readonly Hex[]> {
  const made: Hex[] = []
  for (let index = 0; index < count; index += 1) made.push(await deposited())
  return made
}

async function post({ url }: Running, kind: string, body: object) {
  const answer = await fetch(`${url}/attestations/${kind}/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: Object(await answer.json()) }
}
const ask = (one: Running, transactionId: Hex) =>
  post(one, 'depository-deposits', { chainId: 'base', transactionId })

/** The key of what was signed; `undefined` where the execution is held. */
const keyOf = ({ body }: Awaited<ReturnType<typeof post>>): Hex | undefined => body.execution?.idempotencyKey

async function command(url: string, ...words: readonly string[]): Promise<string> {
  const ran = spawnOracle({ ORACLE_DATABASE_URL: url }, words)
  expect(await ran.ended, ran.output()).toBe(0)
  return ran.output().trim()
}

async function ready({ opsUrl }: Running) {
  const { ready: isReady, checks, reasons } = Object(await (await fetch(`${opsUrl}/ready`)).json())
  return [isReady, checks.database, reasons?.database]
}

test('O-21: both sign one cap, asked at both at once, and each signs again what the other signed', async () => {
  const url = await freshDatabase()
  const [one, other] = [await start({ ORACLE_DATABASE_URL: url }), await start({ ORACLE_DATABASE_URL: url })]
  const asked = await deposits(6)
  const answers = await Promise.all(asked.flatMap((id) => [ask(one, id), ask(other, id)]))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.flatMap((answer) => keyOf(answer) ?? [])).size).toBe(3)
  const again = async (at: Running) => {
    const keys: (Hex | undefined)[] = []
    for (const id of asked) keys.push(keyOf(await ask(at, id)))
    return keys
  }
  const [first, second] = [await again(one), await again(other)]
  expect(second).toEqual(first)
  expect(first.filter((key) => key !== undefined)).toHaveLength(3)
  // An operator sees and releases for both what one holds.
  const [held = ''] = (await command(url, 'held', 'list')).split('\n')
  await command(url, 'held', 'release', held.slice(0, 66))
  expect((await again(other)).filter((key) => key !== undefined)).toHaveLength(4)
  expect((await again(one)).filter((key) => key !== undefined)).toHaveLength(4)
  expect(await command(url, 'audit', 'list')).toContain(`held.release  ${held.slice(0, 66)}  done`)
}, 240_000)

test('O-21: one payment settles one deposit of an order over both', async () => {
  const url = await freshDatabase()
  const both = [await start({ ORACLE_DATABASE_URL: url }), await start({ ORACLE_DATABASE_URL: url })]
  const currency = network.deployment.base.tokens.USDC
  const paid = { currency: network.deployment.optimism.tokens.USDC, to: user().address, amount: 1_000n }
  const signed = await signedOrder(network, {
    salt: '77',
    refundTo: user().address,
    input: { chain: 'base', currency, amount: 40_000n },
    output: { chain: 'optimism', payments: [paid] },
  })
  const { order, orderId, orderSignature } = signed
  const transactions = [
    await deposited(currency, 40_000n, orderId),
    await deposited(currency, 40_000n, orderId),
  ]
  const transactionId = await pay(network, 'optimism', { orderId, payments: [paid] })
  const inputs = await Promise.all(
    transactions.map(async (id) => {
      const [at] = both
      if (at === undefined) throw new Error('two run')
      const { messages } = (await ask(at, id)).body
      return { transactionId: id, onchainId: messages[0].result.onchainId, inputIndex: 0 }
    }),
  )
  const fill = { order, orderSignature, fill: { transactionId } }
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const at = both[index % 2]
      if (at === undefined) throw new Error('two run')
      return post(at, 'solver-fills', { ...fill, inputs: inputs.slice((index >> 1) % 2).slice(0, 1) })
    }),
  )
  const said = new Set(answers.map((answer) => keyOf(answer) ?? answer.body.executionHeld))
  expect([said.size, said.has('ORDER_SETTLED')]).toEqual([2, true])
}, 240_000)

test('O-21: a chain that one halts is halted at the other, and cleared at both by one command', async () => {
  const url = await freshDatabase()
  const proxy = await startFaultProxy({ targetUrl: network.chains.optimism.url })
  const shared = { ORACLE_DATABASE_URL: url }
  const [one, other] = [await start({ ...shared, OPTIMISM_RPC_URL: proxy.url }), await start(shared)]
  const haltedAt = async ({ url: at }: Running) => {
    const { chains } = chainsResponseSchema.parse(await (await fetch(`${at}/chains/v1`)).json())
    return chains.filter(({ halted }) => halted).map(({ id }) => id)
  }
  expect([await haltedAt(one), await haltedAt(other)]).toEqual([[], []])
  await proxy.set({
    kind: 'lie',
    rewrite: ({ method }, result) =>
      method === 'eth_getBlockByNumber' && typeof result === 'object' && result !== null
        ? { ...result, hash: `0x${'ee'.repeat(32)}` }
        : result,
  })
  await expect.poll(() => haltedAt(one)).toEqual(['optimism'])
  await expect.poll(() => haltedAt(other)).toEqual(['optimism'])
  const third = await start(shared)
  expect(await haltedAt(third)).toEqual(['optimism'])
  expect(await command(url, 'halted', 'list')).toMatch(/^optimism: block \d+ was 0x/)
  await proxy.set({ kind: 'pass' })
  await command(url, 'halted', 'clear', 'optimism')
  for (const at of [one, other, third]) await expect.poll(() => haltedAt(at)).toEqual([])
  await proxy.stop()
}, 240_000)

test('O-21: processes that are killed between count and answer lose nothing and count nothing twice', async () => {
  const url = await freshDatabase()
  const shared = { ORACLE_DATABASE_URL: url }
  const other = await start(shared)
  const keys = new Set<Hex>()
  for (const [index, id] of (await deposits(4)).entries()) {
    const victim = await start(shared)
    const answer = ask(victim, id).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 25 * index))
    await victim.oracle.stop()
    const given = await answer
    const after = keyOf(await ask(other, id))
    if (given !== undefined && keyOf(given) !== undefined) expect(after).toBe(keyOf(given))
    if (after !== undefined) keys.add(after)
  }
  expect(keys.size).toBe(3)
  const [counted] = await sql(url, 'select sum(amount) as amount from signed_minute')
  const [known] = await sql(url, 'select count(*) as keys from signed_value')
  expect({ ...counted, ...known }).toEqual({ amount: 3n * amount, keys: 3n })
}, 240_000)

test('O-22: without its database nothing that lets value out is signed, and the rest goes on', async () => {
  const port = await freeLoopbackPort()
  const dataDirectory = join(directory, 'away')
  let own = await startTestPostgres({ dataDirectory, port })
  const url = own.connectionString
  const one = await start({ ORACLE_DATABASE_URL: url })
  const [kept, fresh, later, last] = await deposits(4)
  if (!kept || !fresh || !later || !last) throw new Error('four deposits were made')
  expect((await ask(one, kept)).status).toBe(200)
  const empty = await pay(network, 'base', { orderId: noOrder, payments: [] })
  expect(await ready(one)).toEqual([true, 'ok', undefined])

  await own.stop()
  const refused = { status: 503, body: { errorCode: 'SHARED_STATE_UNAVAILABLE', retryable: true } }
  expect(await ask(one, fresh)).toMatchObject(refused)
  expect(await ask(one, kept)).toHaveProperty('body.execution')
  expect(await ask(one, empty)).toMatchObject({ status: 200, body: { messages: [] } })
  await expect
    .poll(() => ready(one))
    .toEqual([true, 'failed', expect.stringMatching(/^(SERVICE_UNAVAILABLE|DATABASE_STARTING)$/)])
  own = await startTestPostgres({ dataDirectory, port })
  await expect.poll(async () => (await ask(one, fresh)).status).toBe(200)
  expect(await ready(one)).toEqual([true, 'ok', undefined])

  // A session of a database that is read-only is not opened.
  const beside = url.replace(/[^/]+$/, 'postgres')
  const endSessions = () =>
    sql(
      beside,
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename is not null',
    )
  await sql(url, 'alter database causeway set default_transaction_read_only = on')
  await endSessions()
  await expect.poll(() => ready(one)).toEqual([true, 'failed', 'DATABASE_STARTING'])
  expect(await ask(one, later)).toMatchObject(refused)
  expect(await doctor({ ORACLE_DATABASE_URL: url })).toMatch(/ORACLE_DATABASE_URL.*read-only/s)
  await sql(beside, 'alter database causeway reset default_transaction_read_only')
  await endSessions()
  await expect.poll(() => ready(one)).toEqual([true, 'ok', undefined])

  await sql(
    url,
    `create function full_disk() returns trigger language plpgsql as $$
       begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
     create trigger full_disk before insert on signed_value for each row execute function full_disk()`,
  )
  expect(await ask(one, later)).toMatchObject(refused)
  expect(await ready(one)).toEqual([true, 'failed', 'DATABASE_DISK_FULL'])
  await sql(url, 'drop trigger full_disk on signed_value')
  await expect.poll(() => ready(one)).toEqual([true, 'ok', undefined])
  // Nothing was counted that was refused: a third deposit fits the cap, a fourth does not.
  expect(await ask(one, later)).toHaveProperty('body.execution')
  expect(await ask(one, last)).toMatchObject({ status: 200, body: { executionHeld: 'SIGNING_CAP' } })
  await one.oracle.stop()
  await own.stop()
}, 240_000)

async function doctor(own: Readonly<Record<string, string>>): Promise<string> {
  const ran = spawnOracle({ ...variables, ...own }, ['doctor'])
  await ran.ended
  return ran.output()
}

test('O-23: the database of another oracle, or none, stops the start and is named by doctor', async () => {
  const url = await freshDatabase()
  await start({ ORACLE_DATABASE_URL: url })
  const [, another] = network.keys.oracles
  const foreign = { ORACLE_DATABASE_URL: url, ECDSA_PRIVATE_KEY: another.privateKey }
  const refused = spawnOracle({ ...variables, ...foreign })
  expect(await refused.ended).toBe(1)
  expect(refused.output()).toMatch(
    /ORACLE_DATABASE_URL is the database of the oracle 0x[0-9a-f]{40} of local/,
  )
  expect(await doctor(foreign)).toContain('ORACLE_DATABASE_URL is the database of the oracle')
  const missing = { ORACLE_DATABASE_URL: url.replace(/[^/]+$/, 'moon') }
  const lost = spawnOracle({ ...variables, ...missing })
  expect(await lost.ended).toBe(1)
  expect(lost.output()).toMatch(/ORACLE_DATABASE_URL.*\(3D000\)/)
  expect(await doctor(missing)).toMatch(/ORACLE_DATABASE_URL.*3D000/s)
  for (const output of [refused.output(), lost.output()]) expect(output).not.toContain(new URL(url).password)
}, 240_000)

test('O-24: what STATE_DIR kept moves into the database, once', async () => {
  const stateDirectory = join(directory, 'moving')
  const alone = await start({ STATE_DIR: stateDirectory })
  const asked = await deposits(4)
  for (const id of asked.slice(0, 2)) expect(keyOf(await ask(alone, id))).toBeDefined()
  await alone.oracle.stop()
  const url = await freshDatabase()
  for (let run = 0; run < 2; run += 1) {
    const moved = await start({ STATE_DIR: stateDirectory, ORACLE_DATABASE_URL: url })
    const keys: (Hex | undefined)[] = []
    for (const id of asked) keys.push(keyOf(await ask(moved, id)))
    expect(keys.map((key) => key !== undefined)).toEqual([true, true, true, false])
    await moved.oracle.stop()
  }
  expect((await readdir(stateDirectory)).filter((name) => name.endsWith('.moved'))).toEqual([
    'settled-orders.jsonl.moved',
    'signing-caps.jsonl.moved',
  ])
}, 240_000)
