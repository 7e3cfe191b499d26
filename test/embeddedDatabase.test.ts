// Goal: who began with the embedded database gets to a server of his own with all rows, by the commands of the page on
// upgrades as they stand there. Method: the commands as processes, an embedded database of each service, and a server
// whose role owns its databases and nothing else.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../apps/quote-api/test/fixtures/service.ts'

/** Only ends a test that would hang. */
const longTest = { timeout: 600_000 }
let directory: string
let server: TestDatabase
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-embedded-'))
  server = await startTestDatabase()
  await server.database.query(`create role causeway_role login password 'password'`)
  for (const name of ['quote_api', 'solver'])
    await server.database.query(`create database ${name} owner causeway_role`)
})
afterAll(async () => {
  await server?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** In the repository, with a local network's folder that the test has. */
async function shell(text: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', text], {
    cwd: repositoryRoot,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ENVIRONMENT: 'local',
      CAUSEWAY_LOCAL_DIR: directory,
      ...more,
    },
  })
  return stdout
}

/** The block of the page, with the server and the folder of this test. */
async function blockOfPage(): Promise<string> {
  const page = await readFile(join(repositoryRoot, 'docs/operating/upgrade.md'), 'utf8')
  const section = page.split('## From the embedded database to a server')[1] ?? ''
  const block = /```sh\n(?<lines>[^`]+)```/.exec(section)?.groups?.['lines'] ?? ''
  const { host } = new URL(server.connectionString)
  return block
    .replaceAll('postgres://causeway:password@db.example', `postgres://causeway_role:password@${host}`)
    .replaceAll(/(quote-api|solver)\.backup/g, (name) => join(directory, name))
}

test(
  'O-103, O-125: keys, stops and their history come to a server by the commands of the page, with a line of who did it',
  longTest,
  async () => {
    const causeway = 'npm run -s causeway --'
    await shell(`${causeway} keys create --label moved`)
    await shell('npm run -s causeway -- solver stop we move')
    const told = {
      keys: `${causeway} keys list`,
      stop: 'npm run -s causeway -- solver status',
      audit: 'npm run -s causeway -- solver audit list',
    }
    const before = {
      keys: await shell(told.keys),
      stop: await shell(told.stop),
      audit: await shell(told.audit),
    }
    expect(before.keys).toContain('moved')
    expect(before.stop).toContain('Stopped: we move')

    const block = await blockOfPage()
    expect(block).toMatch(/ledger restore.*\n.*ledger verify.*\n.*solver restore/)
    await shell(`set -e\n${block}`)
    const { host } = new URL(server.connectionString)
    const at = (name: string) => ({ DATABASE_URL: `postgres://causeway_role:password@${host}/${name}` })
    const [restored = '', ...audit] = (await shell(told.audit, at('solver'))).split(/(?<=\n)/)
    expect({
      keys: await shell(told.keys, at('quote_api')),
      stop: await shell(told.stop, at('solver')),
      audit: audit.join(''),
    }).toEqual(before)
    expect(restored).toMatch(/ {2}cli:\S+ {2}restore {2}- {2}done {2}\S+solver\.backup\n$/)
    expect(await shell(`${causeway} audit list`, at('quote_api'))).toContain('ledger.restore')
  },
)

test(
  'O-103, O-125: a file that holds what npm says is restored, and a second time it is refused whole',
  longTest,
  async () => {
    await shell(`npm run causeway -- solver backup > ${join(directory, 'solver.backup')}`)
    expect(await readFile(join(directory, 'solver.backup'), 'utf8')).toMatch(/^\n> /)
    await server.database.query('create database solver_again owner causeway_role')
    const { host } = new URL(server.connectionString)
    const target = { DATABASE_URL: `postgres://causeway_role:password@${host}/solver_again` }
    const restore = `npm run -s causeway -- solver restore ${join(directory, 'solver.backup')}`
    expect(await shell(restore, target)).toBe('Restored.\n')
    const audit = () => shell('npm run -s causeway -- solver audit list', target)
    const before = await audit()
    expect(before).toContain('  restore  ')
    await expect(shell(restore, target)).rejects.toThrow('holds rows')
    expect(await audit()).toBe(before)
  },
)
