// Goal: a backup that was taken while others wrote brings every row back, to the digit and the byte, and the
// restored ledger goes on. Method: two databases, the restored one compared table by table.
import {
  backupDatabase,
  createDatabase,
  type Database,
  migrate,
  restoreDatabase,
  startTestDatabase,
  type TestDatabase,
} from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLedger, ledgerMigrations, setPolicy, verifyLedger, writeCheckpoints } from '../src/index.ts'
import { fund, holdNamed, noCaps, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
/** Its tables belong to a role that may do nothing else, as an operator gives it to the service. */
let other: TestDatabase
let asService: { readonly database: Database; readonly connectionString: string }
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed()
  other = await startTestDatabase()
  await other.database.query(`create role service login password 'service'`)
  await other.database.query('create database restored owner service')
  const url = new URL(other.connectionString)
  Object.assign(url, { username: 'service', password: 'service', pathname: '/restored' })
  const connectionString = url.toString()
  asService = { connectionString, database: createDatabase({ connectionString }) }
  await migrate({ connectionString, directories: [{ name: 'ledger', path: ledgerMigrations }] })
})
afterAll(async () => {
  await asService?.database.close()
  await bed?.stop()
  await other?.stop()
})

async function takeBackup(): Promise<readonly string[]> {
  const parts: string[] = []
  await backupDatabase(bed.database, (part) => void parts.push(part))
  return parts
    .join('')
    .split('\n')
    .filter((line) => line !== '')
}

/** Audit of the ledger alone, which records no operators. */
const unrecorded = async () => undefined

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

async function contents(database: Database) {
  const tables = [
    'account',
    'asset',
    'transfer',
    'hold',
    'key_load',
    'policy',
    'policy_usage',
    'checkpoint',
    'outbox',
  ]
  const rows = tables.map((table) => database.query(`select t::text as row from ${table} t order by 1`))
  return Object.fromEntries((await Promise.all(rows)).map((read, index) => [tables[index], read]))
}

test('a backup brings every row back, and the restored ledger goes on', async () => {
  const { database } = bed
  const large = 10n ** 29n
  await fund(database, 'sponsor', large)
  await setPolicy(database, { apiKeyId: 'key', rules: { maxTotal: large.toString() }, actor: 'test' })
  const requests = Array.from({ length: 1_200 }, (_, n) => holdNamed(`kept ${n}`))
  await database.transaction((tx) => ledger.reserveBatch(tx, requests))
  const evidence = { text: 'ä "quoted" \\ \n', amount: '115792089237316195423570985008687907853' }
  await ledger.post(database, { requestId: requestIdOf('kept 0'), amountMicroUsd: 3n, evidence })
  await ledger.void(database, { requestId: requestIdOf('kept 1'), reason: 'test' })
  await writeCheckpoints(database)
  const before = await contents(database)

  // Rows written while the backup runs are not in it.
  const [lines] = await Promise.all([
    takeBackup(),
    database.transaction((tx) => ledger.reserve(tx, holdNamed('meanwhile', { sponsor: 'nobody' }))),
  ])
  const restored = asService.database
  const guards = await guardsOf(restored)
  expect(guards.length).toBeGreaterThan(20)
  await restoreDatabase(restored, linesOf(lines), unrecorded)
  expect(await contents(restored)).toEqual(before)
  expect(await guardsOf(restored)).toEqual(guards)
  expect(await verifyLedger(restored)).toEqual([])

  const next = await restored.transaction((tx) => ledger.reserve(tx, holdNamed('next')))
  expect(next).toMatchObject({ status: 'reserved' })
  const repeated = await restored.transaction((tx) => ledger.reserve(tx, holdNamed('kept 2')))
  expect(repeated).toMatchObject({ status: 'already_reserved' })
  expect(await verifyLedger(restored)).toEqual([])
})

/** Triggers and foreign keys, with what puts them into force. */
function guardsOf(database: Database) {
  return database.query(
    `select tgrelid::regclass::text || ' ' || tgname || ' ' || tgenabled::text as guard from pg_trigger
     where not tgisinternal
     union all
     select conrelid::regclass::text || ' ' || conname || ' ' || condeferrable || ' ' || convalidated
     from pg_constraint where connamespace = 'public'::regnamespace order by 1`,
  )
}

test('a backup that lacks a row is refused, and so is a role that does not own the tables', async () => {
  await using fresh = await emptyDatabase('lacking')
  const lines = await takeBackup()
  const tables: readonly string[] = JSON.parse(lines[0] ?? '').tables
  const account = `${tables.indexOf('account')} `
  const lacking = lines.filter((line) => !(line.startsWith(account) && line.includes('"sponsor"')))
  expect(lacking.length).toBeLessThan(lines.length)
  await expect(restoreDatabase(fresh.database, linesOf(lacking), unrecorded)).rejects.toThrow('not whole')
  expect(await fresh.database.query('select from transfer')).toEqual([])

  await other.database.query(`create role stranger login password 'stranger'`)
  const url = new URL(fresh.connectionString)
  Object.assign(url, { username: 'stranger', password: 'stranger' })
  const stranger = createDatabase({ connectionString: url.toString() })
  await expect(restoreDatabase(stranger, linesOf(lines), unrecorded)).rejects.toThrow(
    'belongs to another role',
  )
  await stranger.close()
  await restoreDatabase(fresh.database, linesOf(lines), unrecorded)
  expect(await verifyLedger(fresh.database)).toEqual([])
})

/** Migrated, of the service's role. */
async function emptyDatabase(name: string) {
  await other.database.query(`create database ${name} owner service`)
  const url = new URL(asService.connectionString)
  url.pathname = `/${name}`
  const connectionString = url.toString()
  await migrate({ connectionString, directories: [{ name: 'ledger', path: ledgerMigrations }] })
  const database = createDatabase({ connectionString })
  return { connectionString, database, [Symbol.asyncDispose]: () => database.close() }
}

test.each([
  ['a database that holds rows', () => takeBackup(), /holds rows/],
  ['a file of another kind', async () => ['{"some":"json"}'], /no backup/],
  ['an empty file', async () => [], /empty/],
  [
    'a backup of another schema',
    async () => (await takeBackup()).map((line, n) => (n === 0 ? line.replace('0001_', '0000_') : line)),
    /another version/,
  ],
])('%s is refused and changes nothing', async (_name, linesFor, message) => {
  const target = createDatabase({ connectionString: asService.connectionString })
  try {
    const before = await contents(target)
    await expect(restoreDatabase(target, linesOf(await linesFor()), unrecorded)).rejects.toThrow(message)
    expect(await contents(target)).toEqual(before)
  } finally {
    await target.close()
  }
})
