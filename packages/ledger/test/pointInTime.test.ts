// Goal: a database that somebody destroyed comes back as it was a moment before, from a base backup and the archived
// log, and its books add up. Method: a real server that archives, the page's own steps by SQL because the package has
// no pg_basebackup, and a second server that recovers to a named point.
import { execFile } from 'node:child_process'
import { appendFile, chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createDatabase,
  type Database,
  type EmbeddedPostgres,
  migrate,
  startEmbeddedPostgres,
} from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLedger, ledgerMigrations, verifyLedger, writeCheckpoints } from '../src/index.ts'
import { fund, holdNamed, noCaps, requestIdOf } from './support/ledgerBed.ts'

const run = promisify(execFile)
const ledger = createLedger({ caps: noCaps })
let folder: string
const servers = new Set<EmbeddedPostgres>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-recovery-'))
  await chmod(folder, 0o755)
})
afterAll(async () => {
  for (const server of servers) await server.stop()
  await rm(folder, { recursive: true, force: true })
})

async function start(name: string) {
  const server = await startEmbeddedPostgres({ dataDirectory: join(folder, name) })
  servers.add(server)
  const database = createDatabase({ connectionString: server.connectionString })
  return {
    ...{ server, database },
    async stop() {
      await database.close()
      await server.stop()
      servers.delete(server)
    },
  }
}

/** The server's user writes there, whoever runs this. */
async function archiveFolder(): Promise<string> {
  const archive = join(folder, 'archive')
  await mkdir(archive)
  await chmod(archive, 0o777)
  return archive
}

async function hold(database: Database, name: string): Promise<void> {
  await database.transaction((tx) => ledger.reserve(tx, holdNamed(name)))
}

const rowsOf = async (database: Database) =>
  Promise.all(
    ['account', 'transfer', 'hold', 'checkpoint'].map((table) =>
      database.query(`select t::text as row from ${table} t order by 1`),
    ),
  )

test('comes back to the moment before the loss, with everything that was written after the backup', async () => {
  const archive = await archiveFolder()
  const first = await start('first')
  for (const [name, value] of [
    ['archive_mode', 'on'],
    ['archive_command', `cp %p ${archive}/%f`],
  ])
    await first.database.query(`alter system set ${name} = '${value}'`)
  await first.stop()

  const { database, ...running } = await start('first')
  const { connectionString } = running.server
  await migrate({ connectionString, directories: [{ name: 'ledger', path: ledgerMigrations }] })
  await fund(database, 'sponsor', 10n ** 12n)
  await hold(database, 'before the backup')

  await mkdir(join(folder, 'second'))
  await database.transaction(async (tx) => {
    await tx.query(`select pg_backup_start('nightly', true)`)
    for (const part of ['cluster', 'password'])
      await run('cp', ['-a', join(folder, 'first', part), join(folder, 'second', part)])
    const [stopped] = await tx.query<{ label: string }>('select labelfile as label from pg_backup_stop()')
    await writeFile(join(folder, 'second', 'cluster', 'backup_label'), stopped?.label ?? '')
  })

  await hold(database, 'after the backup')
  await ledger.post(database, {
    requestId: requestIdOf('before the backup'),
    amountMicroUsd: 3n,
    evidence: {},
  })
  await writeCheckpoints(database)
  const before = await rowsOf(database)
  await database.query(`select pg_create_restore_point('before_the_loss')`)
  await database.query('drop table hold cascade')
  await database.query('select pg_switch_wal()')
  await running.stop()

  const cluster = join(folder, 'second', 'cluster')
  await rm(join(cluster, 'postmaster.pid'), { force: true })
  await writeFile(join(cluster, 'recovery.signal'), '')
  await appendFile(
    join(cluster, 'postgresql.auto.conf'),
    [
      `restore_command = 'cp ${archive}/%f %p'`,
      `recovery_target_name = 'before_the_loss'`,
      `recovery_target_action = 'promote'`,
      `archive_mode = 'off'\n`,
    ].join('\n'),
  )
  await run('chown', ['-R', `--reference=${join(folder, 'first', 'cluster')}`, cluster])
  const { database: recovered } = await start('second')
  await expect
    .poll(async () => (await recovered.query<{ is: boolean }>('select pg_is_in_recovery() as is'))[0]?.is)
    .toBe(false)
  expect(await rowsOf(recovered)).toEqual(before)
  expect(await verifyLedger(recovered)).toEqual([])
  await hold(recovered, 'after the recovery')
  expect(await verifyLedger(recovered)).toEqual([])
  await recovered.close()
})
