// Goal: every change by an operator leaves exactly one line that says who did what to what, why and with what outcome,
// whichever way he takes; so does every attempt that is refused. Attack: a command or a route that is added and
// changes something in silence. Method: the lists of commands and of routes themselves; each is carried out, by both
// ways, on a real database.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, type Hex, Secret } from '@causeway/core'
import { migrate, startTestDatabase, type TestDatabase } from '@causeway/database'
import { createAdminListener, type HttpApp } from '@causeway/http'
import {
  accrueAppFees,
  finalizeTopUp,
  haltReservations,
  haltTopUps,
  ledgerMigrations,
  moveFinalCursor,
  openAppFeeClaim,
  openTopUpCursor,
  recordTopUp,
} from '@causeway/ledger'
import { createLogger } from '@causeway/service'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { parsePeppers } from '../src/access/keys/peppers.ts'
import { linkWallet } from '../src/access/wallets/walletAdministration.ts'
import { loadConfig } from '../src/config/config.ts'
import { adminDescription, operationIdOf } from '../src/http/admin/adminOperation.ts'
import { changesOfRoutes } from '../src/http/admin/auditRoutes.ts'
import { registerAdmin } from '../src/http/admin/registerAdmin.ts'
import { errorPolicy } from '../src/http/errorPolicy.ts'
import { readAudit } from '../src/operate/admin/auditAdministration.ts'
import { statusOf } from '../src/operate/admin/status.ts'
import { createAdministration } from '../src/operate/administration.ts'
import { commandTable, runCli } from '../src/operate/cli/runCli.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { toStoredOrder } from '../src/requests/orders/storedOrder.ts'
import { pepperText } from './accessSupport/accessService.ts'
import { testApp } from './fixtures/app.ts'
import { chainA, chainB, native, recipient, usdc, user } from './fixtures/market.ts'
import { repositoryRoot } from './fixtures/service.ts'
import { orderMigrations } from './orderSupport/orders.ts'
import { createSponsor } from './sponsorSupport/sponsors.ts'
import { hexOf } from './topUpSupport/scriptedTopUps.ts'

const reason = 'looked at it'
const because = ['--reason', reason]
let bed: TestDatabase
let empty: TestDatabase
let admin: HttpApp
let directory: string
/** Routes of the listener, as `METHOD /path`. */
const routes: string[] = []

beforeAll(async () => {
  const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
  bed = await startTestDatabase({ directories })
  empty = await startTestDatabase({ directories })
  directory = await mkdtemp(join(tmpdir(), 'causeway-audit-'))
  const logger = createLogger({ service: 'quote-api', level: 'silent' })
  admin = await createAdminListener({
    logger,
    errors: errorPolicy,
    host: '127.0.0.1',
    isLocal: true,
    openApi: adminDescription,
  })
  admin.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) if (one !== 'HEAD') routes.push(`${one} ${url}`)
  })
  const config = { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate: false } }
  const { database } = bed
  registerAdmin(
    admin,
    createAdministration({ config, database, peppers: parsePeppers(new Secret(pepperText)) }),
    {
      database,
      retention: { quotesDays: undefined, requestsDays: undefined },
      chain: () => Promise.reject(new ConfigurationError('no top-ups here')),
      readStatus: async () => statusOf([]),
    },
  )
})
afterAll(async () => {
  await admin?.close()
  await bed?.stop()
  await empty?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function command(words: readonly string[], on = bed) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const variables = {
    ENVIRONMENT: 'local',
    DATABASE_URL: on.connectionString,
    API_KEY_PEPPERS: pepperText,
    CAUSEWAY_LOCAL_DIR: directory,
    ECDSA_PRIVATE_KEY: hexOf(0x1234, 32),
  }
  const code = await runCli({
    words,
    actor: 'cli:operator',
    print: keep,
    complain: keep,
    signal: new AbortController().signal,
    config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
  })
  return { code, output: lines.join('\n') }
}

async function ask(method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) {
  const headers = { host: '127.0.0.1:3002' }
  const answer = await admin.inject({ method, url, headers, ...(payload !== undefined && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}

type Line = {
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly outcome: string
  readonly details: Readonly<Record<string, unknown>>
}

/** The lines that `work` leaves, each once. */
async function linesOf(work: () => Promise<unknown>, on = bed): Promise<readonly Line[]> {
  const [newest] = await on.database.query<{ id: bigint }>(
    'select coalesce(max(id), 0) as id from admin_action',
  )
  await work()
  return on.database.query<Line>(
    'select actor, action, subject, outcome, details from admin_action where id > $1 order by id',
    [newest?.id ?? 0n],
  )
}

let made = 0
const next = () => (made += 1)

async function key(): Promise<string> {
  return JSON.parse((await command(['keys', 'create', '--label', 'audited', '--json'])).output).id
}

async function linkedKey(): Promise<string> {
  const apiKeyId = await key()
  await bed.database.transaction((tx) => linkWallet(tx, { apiKeyId, wallet: hexOf(next(), 20) }))
  return apiKeyId
}

async function webhook(): Promise<string> {
  const id = await key()
  await command(['webhooks', 'set', id, '--url', 'https://shop.example/hook'])
  return id
}

/** A final top-up of an account of its own. */
async function topUp(isSuspended: boolean) {
  const n = next()
  const account = { chainId: 10_000 + n, custody: hexOf(n, 20), token: hexOf(n + 1, 20) }
  const hash = hexOf(n, 32)
  const id = await bed.database.transaction(async (tx) => {
    await openTopUpCursor(tx, account, 0n)
    const { eventId = 0n } = await recordTopUp(
      tx,
      {
        ...account,
        transactionHash: hash,
        blockNumber: 5n,
        blockHash: hash,
        tail: undefined,
        log: { logIndex: 0, ordinal: 0, from: hexOf(n, 20), value: 1_000n },
        verdict: isSuspended
          ? { kind: 'suspense', parse: 'no_tail' }
          : { kind: 'credit', parse: 'ok', owner: hexOf(n, 20) },
      },
      { replace: false },
    )
    await finalizeTopUp(tx, eventId, {})
    await moveFinalCursor(tx, account, { finalTo: 5n, finalHash: hash })
    return eventId
  })
  return { id: id.toString(), account }
}

async function haltedChain(): Promise<string> {
  const { account } = await topUp(false)
  await bed.database.transaction((tx) => haltTopUps(tx, account, { reason: 'it changed', eventIds: [] }))
  return account.chainId.toString()
}

async function halted(): Promise<string> {
  await bed.database.transaction((tx) =>
    haltReservations(tx, [{ invariant: 'I1', problem: 'of a test', figures: {} }]),
  )
  return 'reservations'
}

/** Filled after its deadline, as it is stored. */
async function parked(): Promise<string> {
  const app = await testApp({ config: { majorBps: 10 } })
  const route = { originChainId: chainA, destinationChainId: chainB, originCurrency: usdc }
  const amounts = { destinationCurrency: native, amount: '100000000', tradeType: 'EXACT_INPUT' }
  await app.inject({ method: 'POST', url: '/quote', payload: { user, recipient, ...route, ...amounts } })
  const [record] = app.stored
  await app.close()
  if (record === undefined) throw new Error('it is quoted')
  const order = toStoredOrder(record)
  await createOrderStore({ database: bed.database }).save(order)
  const id = Buffer.from(order.requestId.slice(2), 'hex')
  await bed.database.query(`update orders set status = 'success' where request_id = $1`, [id])
  await bed.database.query(
    `with d as (insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time,
       order_id, request_id, depositor, currency, amount, state)
       select 1, encode($1, 'hex'), '0', 1, '0xb', now(), order_id, request_id, '0xd', '0xc', 1, 'taken' from orders
       where request_id = $1 returning id, request_id)
     insert into settlement (request_id, deposit_id, stage, is_bound, parked_reason)
     select request_id, id, 'parked', true, 'FILLED_LATE' from d`,
    [id],
  )
  return order.requestId
}

async function claim(): Promise<Hex> {
  const n = next()
  const [claimId, wallet] = [hexOf(n, 32), hexOf(n, 20)]
  const asset = { chainId: 10, address: '0xaa', symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }
  await accrueAppFees(bed.database, { requestId: claimId, asset, fees: [{ recipient: wallet, amount: 5n }] })
  await bed.database.transaction((tx) =>
    openAppFeeClaim(tx, { claimId, wallet, recipient: wallet, asset, amount: 5n }),
  )
  return claimId
}

const sponsor = async () => (await createSponsor(bed.database, 1_000_000n)).wallet
const stopped = async () => {
  await command(['stop', 'all', ...because])
  return 'all'
}

const going = async () => {
  await command(['go', 'all', ...because])
  return 'all'
}

const frozen = async () => {
  const wallet = await sponsor()
  await command(['sponsor', 'freeze', wallet, ...because])
  return wallet
}

type Change = {
  /** @returns what it is done to; for what is made, anything */
  readonly prepare: () => Promise<string>
  readonly words: (subject: string) => readonly string[]
  /** Members of the body, where there is a route. */
  readonly body?: object
  readonly hasReason?: boolean
  /** Unknown subject, and the code of its refusal. */
  readonly unknown?: readonly [subject: string, code: string]
}

const wallet = hexOf(0xabc, 20)
const noKey = ['aaaaaaaaaa', 'API_KEY_NOT_FOUND'] as const
const noRequest = [`0x${'ee'.repeat(32)}`, 'REQUEST_NOT_FOUND'] as const
const url = 'https://shop.example/hook'
const rules = { maxPerRequest: '250000' }

const changes: Readonly<Record<string, Change>> = {
  'keys.create': {
    prepare: async () => '',
    words: () => ['keys', 'create', '--label', 'x'],
    body: { label: 'x' },
  },
  'keys.rotate': { prepare: key, words: (id) => ['keys', 'rotate', id], body: {}, unknown: noKey },
  'keys.revoke': { prepare: key, words: (id) => ['keys', 'revoke', id], body: {}, unknown: noKey },
  'wallets.unlink': {
    prepare: linkedKey,
    words: (id) => ['wallets', 'unlink', id],
    body: {},
    unknown: noKey,
  },
  'policies.set': {
    prepare: key,
    body: { rules },
    unknown: noKey,
    words: (id) => ['policies', 'set', id, '--rules', JSON.stringify(rules)],
  },
  'policies.remove': { prepare: key, words: (id) => ['policies', 'remove', id], body: {}, unknown: noKey },
  'webhooks.set': {
    prepare: key,
    body: { url },
    unknown: noKey,
    words: (id) => ['webhooks', 'set', id, '--url', url],
  },
  'webhooks.rotate-secret': {
    prepare: webhook,
    body: {},
    unknown: noKey,
    words: (id) => ['webhooks', 'rotate-secret', id],
  },
  'webhooks.replay': {
    prepare: webhook,
    words: (id) => ['webhooks', 'replay', id],
    body: {},
    unknown: noKey,
  },
  'webhooks.remove': {
    prepare: webhook,
    words: (id) => ['webhooks', 'remove', id],
    body: {},
    unknown: noKey,
  },
  'topup.reverse': {
    prepare: async () => (await topUp(false)).id,
    body: { reason },
    hasReason: true,
    unknown: ['999999', 'CLAIM_NOT_FINAL'],
    words: (id) => ['topup', 'reverse', id, ...because],
  },
  'topup.resume': {
    prepare: haltedChain,
    body: { block: '4', hash: hexOf(0xb4, 32), reason },
    hasReason: true,
    words: (id) => ['topup', 'resume', id, '--block', '4', '--hash', hexOf(0xb4, 32), ...because],
  },
  'suspense.credit': {
    prepare: async () => (await topUp(true)).id,
    body: { wallet, reason },
    hasReason: true,
    unknown: ['999999', 'CLAIM_NOT_FOUND'],
    words: (id) => ['suspense', 'credit', id, wallet, ...because],
  },
  'ledger.resume': {
    prepare: halted,
    body: { reason },
    hasReason: true,
    words: () => ['ledger', 'resume', ...because],
  },
  'sponsor.freeze': {
    prepare: sponsor,
    body: { reason },
    hasReason: true,
    words: (of) => ['sponsor', 'freeze', of, ...because],
  },
  'sponsor.unfreeze': {
    prepare: frozen,
    body: { reason },
    hasReason: true,
    words: (of) => ['sponsor', 'unfreeze', of, ...because],
  },
  'orders.sign': {
    prepare: async () => privateKeyToAddress(hexOf(0x1234, 32)).toLowerCase(),
    words: () => ['orders', 'sign', ...because],
    hasReason: true,
  },
  'requests.retry': {
    prepare: parked,
    body: { reason },
    hasReason: true,
    unknown: noRequest,
    words: (id) => ['requests', 'retry', id, ...because],
  },
  'requests.resolve': {
    prepare: parked,
    body: { resolution: 'unpaid', reason },
    hasReason: true,
    unknown: noRequest,
    words: (id) => ['requests', 'resolve', id, '--as', 'unpaid', ...because],
  },
  stop: {
    prepare: going,
    body: { reason },
    hasReason: true,
    unknown: ['none', 'UNSUPPORTED_CHAIN'],
    words: (chain) => ['stop', chain, ...because],
  },
  go: {
    prepare: stopped,
    body: { reason },
    hasReason: true,
    unknown: ['none', 'UNSUPPORTED_CHAIN'],
    words: (chain) => ['go', chain, ...because],
  },
  'claims.end': {
    prepare: claim,
    body: { ending: 'failed', reason },
    hasReason: true,
    unknown: [`0x${'ee'.repeat(32)}`, 'APP_FEE_CLAIM_NOT_PENDING'],
    words: (id) => ['claims', 'end', id, '--as', 'failed', ...because],
  },
}

test('Q-124: a request is found by its own id, its order, and its transaction, on both ways', async () => {
  const requestId = await parked()
  const [row] = await bed.database.query<{ order_id: Buffer }>(
    'select order_id from orders where request_id = $1',
    [Buffer.from(requestId.slice(2), 'hex')],
  )
  const hash = hexOf(next(), 32)
  await bed.database.query(
    `insert into request_transaction (request_id, role, chain_id, tx_hash) values ($1, 'fill', 10, $2)`,
    [Buffer.from(requestId.slice(2), 'hex'), hash],
  )
  const ways = { request: requestId, order: `0x${row?.order_id.toString('hex')}`, transaction: hash }
  for (const [by, named] of Object.entries(ways)) {
    const found = { requests: [{ requestId, by, status: 'success' }] }
    const answer = await ask('GET', `/admin/requests?named=${named.toUpperCase().replace('0X', '0x')}`)
    expect(answer).toMatchObject({ status: 200, body: found })
    const { output } = await command(['requests', 'find', named, '--json'])
    expect(JSON.parse(output)).toMatchObject(found)
  }
  for (const named of [hexOf(0xdead, 32), "' or true --", '%'])
    expect((await ask('GET', `/admin/requests?named=${encodeURIComponent(named)}`)).status, named).toBe(404)
})

/** Have tests of their own. */
const apart = ['chains.reread', 'ledger.verify', 'ledger.restore', 'ledger.fills']

/** Change nothing that is stored; `contracts deploy` has no database, and its trace is the chain. */
const reading = [
  ...['keys list', 'wallets list', 'policies show', 'policies explain', 'webhooks show', 'balance show'],
  ...['topup calldata', 'topup find', 'topup halted', 'suspense list', 'ledger reconcile', 'ledger backup'],
  ...[
    'ledger export',
    'statements show',
    'requests parked',
    'requests find',
    'requests explain',
    'claims pending',
    'why',
  ],
  ...[
    'retention show',
    'audit list',
    'contracts deploy',
    'contracts verify',
    'config draft',
    'config check',
    'stops',
    'status',
  ],
]

const routeOf = (action: string) =>
  Object.entries(changesOfRoutes)
    .find(([, changed]) => changed === action)?.[0]
    .split(' ') ?? []

/** Have no route, each for its reason. */
const withoutRoute: Readonly<Record<string, string>> = {
  'chains reread': 'it reads a chain for minutes, by endpoints that it opens itself',
  'ledger backup': 'all tables, keys and secrets of receivers among them, go to a file of the operator alone',
  'ledger fills': 'it reads a file of the operator, and oracles, for minutes',
  'ledger restore': 'it fills an empty database, on which no service runs',
  'contracts deploy': 'it works without a database, with the key of the deployer',
  'contracts verify': 'it works without a database, before a service runs',
  'config check': 'it works without a database, before a service runs',
  'config draft': 'it writes files before there are settings',
  'orders sign': 'it is given the key of before, which no running service has',
}

const operationSchema = z.object({ operationId: z.string(), summary: z.string(), tags: z.array(z.string()) })
const describedSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) })

describe('nothing is left out', () => {
  test('O-188: every command has its route, or a reason why it has none', async () => {
    const headers = { host: '127.0.0.1:3002' }
    const { paths } = describedSchema.parse(
      (await admin.inject({ url: '/documentation/json', headers })).json(),
    )
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
    const described = operations.map(({ operationId }) => operationId)
    const routed = commandTable.filter(({ words }) => withoutRoute[words] === undefined)
    expect([...described].sort()).toEqual(routed.map(({ words }) => operationIdOf(words)).sort())
    const known = new Set(commandTable.map(({ words }) => words))
    expect(Object.keys(withoutRoute).filter((words) => !known.has(words))).toEqual([])
  })

  test('every command is known to change something, and is tried here, or to read', () => {
    const changing = commandTable
      .filter((one) => one.changes === true)
      .map(({ words }) => words.replace(' ', '.'))
    expect([...changing].sort()).toEqual([...Object.keys(changes), ...apart].sort())
    const others = commandTable.filter((one) => one.changes !== true).map(({ words }) => words)
    expect([...others].sort()).toEqual([...reading].sort())
  })

  test('every route of the admin listener that is not a GET is one of these, or an explanation', () => {
    const changing = routes.filter((route) => !route.startsWith('GET '))
    const explained = 'POST /admin/keys/:id/policy/explain'
    expect([...changing].sort()).toEqual([...Object.keys(changesOfRoutes), explained].sort())
    const tried = Object.keys(changes).filter((action) => changes[action]?.body !== undefined)
    expect([...Object.values(changesOfRoutes)].sort()).toEqual(tried.sort())
  })
})

describe.each(Object.entries(changes))('%s', (action, { prepare, words, body, hasReason, unknown }) => {
  const [method, path = ''] = routeOf(action)
  const send = (subject: string) =>
    ask(method === 'PUT' ? 'PUT' : 'POST', path.replace(/:\w+/, subject), body)
  const lineOf = (actor: string, subject: string, outcome: string) => ({
    actor,
    action,
    outcome,
    subject: action === 'keys.create' ? expect.stringMatching(/^([a-z2-7]{10}|-)$/) : subject,
  })

  test('O-186: leaves one line by the command line', async () => {
    const subject = await prepare()
    const lines = await linesOf(async () => expect((await command(words(subject))).code).toBe(0))
    expect(lines).toMatchObject([lineOf('cli:operator', subject, 'done')])
    if (hasReason === true) expect(lines[0]?.details).toMatchObject({ reason })
  })

  // Changes without a route, or without a subject that could be missing, get no such test: a skipped one would fail the
  // run.
  if (method !== undefined)
    test('O-186: leaves one line by the admin listener', async () => {
      const subject = await prepare()
      const lines = await linesOf(async () => expect((await send(subject)).status).toBeLessThan(300))
      expect(lines).toMatchObject([lineOf('admin', subject, 'done')])
      if (hasReason === true) expect(lines[0]?.details).toMatchObject({ reason })
    })

  if (unknown !== undefined)
    test('leaves one line where it is refused', async () => {
      const [subject, code] = unknown
      const refused = await linesOf(async () => expect((await command(words(subject))).code).toBe(1))
      expect(refused).toMatchObject([lineOf('cli:operator', subject, code)])
      if (hasReason === true) expect(refused[0]?.details).toEqual({ reason })
      if (method === undefined) return
      const sent = await linesOf(async () => expect((await send(subject)).body.errorCode).toBe(code))
      expect(sent).toMatchObject([lineOf('admin', subject, code)])
      if (hasReason === true) expect(sent[0]?.details).toEqual({ reason })
    })
})

describe('what stood so already', () => {
  test.each<[string, () => Promise<readonly string[]>]>([
    [
      'a revoked key',
      async () => {
        const id = await key()
        await command(['keys', 'revoke', id])
        return ['keys', 'revoke', id]
      },
    ],
    ['a frozen wallet', async () => ['sponsor', 'freeze', await frozen(), ...because]],
    ['reservations that go on', async () => ['ledger', 'resume', ...because]],
    [
      'a chain that goes on',
      async () => ['topup', 'resume', '77', '--block', '4', '--hash', hexOf(4, 32), ...because],
    ],
  ])('%s: one line says so', async (_what, prepare) => {
    const words = await prepare()
    expect(await linesOf(() => command(words))).toMatchObject([{ outcome: 'unchanged' }])
  })
})

test('O-186: a command that is not understood, and a request that is malformed, attempt nothing', async () => {
  const lines = await linesOf(async () => {
    expect((await command(['keys', 'revoke', 'UPPER'])).code).toBe(2)
    expect((await command(['requests', 'retry', noRequest[0]])).code).toBe(2)
    expect((await ask('POST', '/admin/keys/UPPER/revoke', {})).status).toBe(400)
    expect((await ask('POST', `/admin/requests/${noRequest[0]}/retry`, {})).status).toBe(400)
  })
  expect(lines).toEqual([])
})

test('a check that stops reservations, and one that finds them not to add up, say so', async () => {
  const falsify = (delta: number) =>
    bed.database.query(`update account set credits_posted = credits_posted + $1 where kind = 'custody'`, [
      delta,
    ])
  await topUp(false)
  expect(await linesOf(() => command(['ledger', 'verify']))).toEqual([])
  await falsify(1)
  expect(await linesOf(() => command(['ledger', 'verify', '--cheap']))).toMatchObject([
    { actor: 'cli:operator', action: 'ledger.verify', subject: 'reservations', outcome: 'done' },
  ])
  expect(await linesOf(() => ask('GET', '/admin/ledger/verify'))).toEqual([])
  expect(await linesOf(() => command(['ledger', 'resume', ...because]))).toMatchObject([
    { action: 'ledger.resume', outcome: 'LEDGER_FINDINGS', details: { reason } },
  ])
  await falsify(-1)
  expect(await linesOf(() => command(['ledger', 'resume', ...because]))).toMatchObject([{ outcome: 'done' }])
})

test('a backup carries the lines along, and its restoring leaves one', async () => {
  const { output } = await command(['ledger', 'backup'])
  const file = join(directory, 'backup')
  await writeFile(file, output)
  expect((await command(['ledger', 'restore', file], empty)).code).toBe(0)
  const rows = (on: TestDatabase) => on.database.query<Line>('select action from admin_action order by id')
  expect(await rows(empty)).toEqual([...(await rows(bed)), { action: 'ledger.restore' }])
})

test('what the ledger alone kept before is among the lines', async () => {
  const older = await startTestDatabase({ directories: [{ name: 'ledger', path: ledgerMigrations }] })
  await older.database.query(
    `insert into operator_action (actor, action, subject, reason, at)
     values ('cli:somebody', 'unfreeze', '0xab', 'it was a mistake', '2026-01-02')`,
  )
  await migrate({ connectionString: older.connectionString, directories: [orderMigrations] })
  expect(await readAudit(older.database, { limit: 10 })).toMatchObject([
    {
      at: new Date('2026-01-02'),
      actor: 'cli:somebody',
      action: 'sponsor.unfreeze',
      subject: '0xab',
      outcome: 'done',
      details: { reason: 'it was a mistake' },
    },
  ])
  await older.stop()
})

test('what was done is read by command and route, newest first, and nothing of it is a secret', async () => {
  const id = await key()
  await command(['webhooks', 'set', id, '--url', `${url}?token=hidden`, '--headers', '{"a":"hidden"}'])
  await command(['keys', 'rotate', id])
  await ask('POST', `/admin/keys/${id}/revoke`, {})
  const { output } = await command(['audit', 'list', '--subject', id, '--since', '1h'])
  expect(output.split('\n')).toEqual([
    expect.stringMatching(/^id +at +actor +action +subject +outcome +details$/),
    expect.stringMatching(new RegExp(`admin +keys.revoke +${id} +done +\\{\\}$`)),
    expect.stringMatching(/cli:operator +keys.rotate/),
    expect.stringMatching(/cli:operator +webhooks.set/),
    expect.stringMatching(/cli:operator +keys.create/),
  ])
  expect(output).not.toContain('hidden')
  const list = async (query: string) => (await ask('GET', `/admin/audit?${query}`)).body.lines
  const [newest, second, ...others] = await list(`subject=${id}`)
  expect([newest.action, second.action, others.length]).toEqual(['keys.revoke', 'keys.rotate', 2])
  expect(await list(`subject=${id}&before=${second.id}&limit=1`)).toMatchObject([{ action: 'webhooks.set' }])
  expect(await list(`subject=${id}&actor=admin`)).toHaveLength(1)
  expect(await list(`subject=${id}&action=keys.create`)).toHaveLength(1)
  expect(await list(`subject=${id}&since=2999-01-01T00:00:00Z`)).toEqual([])
  expect((await ask('GET', '/admin/audit?limit=0')).status).toBe(400)
  expect((await command(['audit', 'list', '--subject', 'nobody'])).output).toBe('Nothing was changed.')
})
