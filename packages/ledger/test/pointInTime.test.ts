// Goal: a database that somebody destroyed comes back as it was a moment before, from a base backup and the archived
// log, and its books add up; one whose disk is lost, as far as the page promises. Method: a real server with the page's
// own settings, its steps by SQL because the package has no pg_basebackup, and a second server that recovers.
import { execFile } from 'node:child_process'
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
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
    server,
    database,
    async stop() {
      await database.close()
      await server.stop()
      servers.delete(server)
    },
  }
}

/** The server's user writes there, whoever runs this. */
async function archiveFolder(name: string): Promise<string> {
  const archive = join(folder, name)
  await mkdir(archive)
  await chmod(archive, 0o777)
  return archive
}

const page = new URL('../../../docs/operating/backup.md', import.meta.url)

/** Settings of the page, with another folder in the place of `/archive`. */
async function settingsOf(archive: string): Promise<ReadonlyMap<string, string>> {
  const [, section = ''] = (await readFile(page, 'utf8')).split('## Archive\n')
  const [, block = ''] = /```\n(.*?)```/s.exec(section) ?? []
  const lines = [...block.matchAll(/^(\w+) = '?(.*?)'?$/gm)]
  return new Map(lines.map(([, name = '', value = '']) => [name, value.replaceAll('/archive', archive)]))
}

/** A server that archives as the page says, but for `changes`. */
async function startArchiving(name: string, archive: string, changes: Readonly<Record<string, string>> = {}) {
  const first = await start(name)
  const settings = { ...Object.fromEntries(await settingsOf(archive)), ...changes }
  expect(Object.keys(settings).toSorted()).toEqual(['archive_command', 'archive_mode', 'archive_timeout'])
  for (const [setting, value] of Object.entries(settings))
    await first.database.query(`alter system set ${setting} = '${value}'`)
  await first.stop()
  const running = await start(name)
  const { connectionString } = running.server
  await migrate({ connectionString, directories: [{ name: 'ledger', path: ledgerMigrations }] })
  await fund(running.database, 'sponsor', 10n ** 12n)
  return running
}

/** Does the same as `pg_basebackup`. */
async function backUp(database: Database, from: string, to: string): Promise<void> {
  await mkdir(join(folder, to))
  await database.transaction(async (tx) => {
    await tx.query(`select pg_backup_start('nightly', true)`)
    for (const part of ['cluster', 'password'])
      await run('cp', ['-a', join(folder, from, part), join(folder, to, part)])
    const [stopped] = await tx.query<{ label: string }>('select labelfile as label from pg_backup_stop()')
    await writeFile(join(folder, to, 'cluster', 'backup_label'), stopped?.label ?? '')
  })
}

/** Steps 2 and 3 of the page. @returns the database once it takes writes */
async function recover(name: string, archive: string, target: readonly string[] = []): Promise<Database> {
  const cluster = join(folder, name, 'cluster')
  await rm(join(cluster, 'postmaster.pid'), { force: true })
  await writeFile(join(cluster, 'recovery.signal'), '')
  await appendFile(
    join(cluster, 'postgresql.auto.conf'),
    [`restore_command = 'cp ${archive}/%f %p'`, ...target, `archive_mode = 'off'\n`].join('\n'),
  )
  await run('chown', ['-R', `--reference=${join(cluster, 'PG_VERSION')}`, cluster])
  const { database } = await start(name)
  await expect
    .poll(async () => (await database.query<{ is: boolean }>('select pg_is_in_recovery() as is'))[0]?.is)
    .toBe(false)
  return database
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
  const archive = await archiveFolder('archive')
  const { database, ...running } = await startArchiving('first', archive)
  await hold(database, 'before the backup')
  await backUp(database, 'first', 'second')

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

  const recovered = await recover('second', archive, [
    `recovery_target_name = 'before_the_loss'`,
    `recovery_target_action = 'promote'`,
  ])
  expect(await rowsOf(recovered)).toEqual(before)
  expect(await verifyLedger(recovered)).toEqual([])
  await hold(recovered, 'after the recovery')
  expect(await verifyLedger(recovered)).toEqual([])
  await recovered.close()
})

test('O-99: what was written archive_timeout before the disk was lost comes back without anybody having done a thing', async () => {
  const archive = await archiveFolder('elsewhere')
  expect((await settingsOf(archive)).get('archive_timeout')).toBe('60')
  const { database, ...running } = await startArchiving('lost', archive, { archive_timeout: '1' })
  await backUp(database, 'lost', 'found')
  await hold(database, 'the last one')
  const before = await rowsOf(database)
  const [segment] = await database.query<{ name: string }>(
    'select pg_walfile_name(pg_current_wal_insert_lsn()) as name',
  )
  await expect.poll(() => readdir(archive), { timeout: 60_000 }).toContain(segment?.name)
  await running.stop()
  await rm(join(folder, 'lost'), { recursive: true })

  const recovered = await recover('found', archive)
  expect(await rowsOf(recovered)).toEqual(before)
  expect(await verifyLedger(recovered)).toEqual([])
  await recovered.close()
})

test('O-99: the archive takes a segment a second time, never another one of its name, and none in part', async () => {
  const archive = await archiveFolder('twice')
  const command = (await settingsOf(archive)).get('archive_command') ?? ''
  const segment = join(folder, 'segment')
  const take = (content: string) =>
    writeFile(segment, content).then(() =>
      run('sh', ['-c', command.replaceAll('%p', segment).replaceAll('%f', '000000010000000000000001')]),
    )
  await take('what was written')
  await take('what was written')
  await expect(take('something else')).rejects.toThrow()
  expect(await readdir(archive)).toEqual(['000000010000000000000001'])
  expect(await readFile(join(archive, '000000010000000000000001'), 'utf8')).toBe('what was written')
  // A copy that was cut off.
  await writeFile(join(archive, '000000010000000000000002.new'), 'what')
  await writeFile(segment, 'what followed')
  await run('sh', ['-c', command.replaceAll('%p', segment).replaceAll('%f', '000000010000000000000002')])
  expect(await readFile(join(archive, '000000010000000000000002'), 'utf8')).toBe('what followed')
})
