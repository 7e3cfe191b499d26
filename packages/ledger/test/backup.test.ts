// Goal: a backup that was taken while others wrote brings every row back, to the digit and the byte, and the
// restored ledger goes on. Method: two databases, the restored one compared table by table.
import { createDatabase, migrate, startTestDatabase, type TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  backupDatabase,
  createLedger,
  ledgerMigrations,
  restoreDatabase,
  setPolicy,
  verifyLedger,
  writeCheckpoints,
} from '../src/index.ts'
import { fund, holdNamed, noCaps, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
let other: TestDatabase
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed()
  other = await startTestDatabase()
})
afterAll(async () => {
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

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

async function contents(database: TestDatabase['database']) {
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

  // What is written while the backup runs is not in it.
  const [lines] = await Promise.all([
    takeBackup(),
    database.transaction((tx) => ledger.reserve(tx, holdNamed('meanwhile', { sponsor: 'nobody' }))),
  ])
  await migrate({
    connectionString: other.connectionString,
    directories: [{ name: 'ledger', path: ledgerMigrations }],
  })
  await restoreDatabase(other.database, linesOf(lines))
  expect(await contents(other.database)).toEqual(before)
  expect(await verifyLedger(other.database)).toEqual([])

  const next = await other.database.transaction((tx) => ledger.reserve(tx, holdNamed('next')))
  expect(next).toMatchObject({ status: 'reserved' })
  const repeated = await other.database.transaction((tx) => ledger.reserve(tx, holdNamed('kept 2')))
  expect(repeated).toMatchObject({ status: 'already_reserved' })
  expect(await verifyLedger(other.database)).toEqual([])
})

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
  const target = createDatabase({ connectionString: other.connectionString })
  try {
    const before = await contents(target)
    await expect(restoreDatabase(target, linesOf(await linesFor()))).rejects.toThrow(message)
    expect(await contents(target)).toEqual(before)
  } finally {
    await target.close()
  }
})
