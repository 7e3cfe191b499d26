// Goal: nobody works on another database than the one that his files name without reading so. Who loses: an operator whose
// shell still exports a variable of yesterday. Method: real processes of node with real env files.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { findOverridden, type Launch } from './overridden.ts'
import { admitStart, printOverridden, runDoctor } from './tellReport.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-overridden-'))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true })
})

const said =
  'process.stdout.write(JSON.stringify({ environment: process.env, nodeOptions: process.execArgv }))'

/** Launch of a process of node, as it sees its env files and what its shell exported. */
async function launchOf(
  options: readonly string[],
  exported: Readonly<Record<string, string>>,
): Promise<Launch> {
  const { stdout } = await promisify(execFile)(process.execPath, [...options, '-e', said], { env: exported })
  return JSON.parse(stdout)
}

async function envFile(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

const names = async (launch: Launch) => (await findOverridden(launch)).map(({ setting }) => setting)

test('O-97: a variable of an env file that a shell exports otherwise is named, with the file and no value', async () => {
  const file = await envFile(
    'env',
    "DATABASE_URL='postgres://in-the-file'\nexport OPS_PORT=3001\nLOG_LEVEL=info\n",
  )
  const exported = { DATABASE_URL: 'postgres://in-the-shell', LOG_LEVEL: 'info', HOME: '/' }
  const launch = await launchOf([`--env-file=${file}`], exported)
  expect(launch.environment).toMatchObject({ DATABASE_URL: 'postgres://in-the-shell', OPS_PORT: '3001' })
  const findings = await findOverridden(launch)
  expect(findings).toEqual([
    expect.objectContaining({ code: 'setting-overridden', severity: 'note', setting: 'DATABASE_URL' }),
  ])
  expect(JSON.stringify(findings)).toContain(file)
  expect(JSON.stringify(findings)).not.toContain('postgres://')
})

test('O-97: what a shell exports empty hides the file too', async () => {
  const file = await envFile('env', 'API_KEY_PEPPERS=v1:secret\n')
  const launch = await launchOf(['--env-file', file], { API_KEY_PEPPERS: '' })
  expect(launch.environment).toMatchObject({ API_KEY_PEPPERS: '' })
  expect(await names(launch)).toEqual(['API_KEY_PEPPERS'])
})

test('O-97: of two env files the later is the one that counts', async () => {
  const [first, second] = [await envFile('first', 'OPS_PORT=1\n'), await envFile('second', 'OPS_PORT=2\n')]
  const options = [`--env-file=${first}`, `--env-file=${second}`]
  expect(await names(await launchOf(options, {}))).toEqual([])
  expect(await names(await launchOf(options, { OPS_PORT: '2' }))).toEqual([])
  expect(await names(await launchOf(options, { OPS_PORT: '1' }))).toEqual(['OPS_PORT'])
})

test('O-97: a secret that the environment sets otherwise is named, and a blank variable hides none', async () => {
  const secrets = join(folder, 'secrets')
  await mkdir(secrets)
  await writeFile(join(secrets, 'a'), 'DATABASE_URL=a\nSOLVER_API_KEY=b\nADMIN_API_KEY=c\n')
  const environment = {
    SECRETS_DIR: secrets,
    DATABASE_URL: 'another',
    SOLVER_API_KEY: 'b',
    ADMIN_API_KEY: ' ',
  }
  expect(await names({ environment, nodeOptions: [] })).toEqual(['DATABASE_URL'])
})

test('O-97: doctor, start and command say it', async () => {
  const file = await envFile('env', 'OPS_PORT=3001\n')
  const launch = await launchOf([`--env-file=${file}`], { OPS_PORT: '4' })
  const service = { name: 'oracle', repositoryRoot: folder, launch }
  const examine = async () => []
  const printed: string[] = []
  const output = { write: (text: string) => printed.push(text) }
  expect(await runDoctor(service, [], { variables: async () => ({}), examine }, output)).toBe(0)
  expect(printed.join('')).toContain('"setting-overridden"')
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
  await admitStart(service, {}, examine)
  expect(stderr.mock.calls.join()).toContain('OPS_PORT')
  stderr.mockClear()
  await printOverridden({ launch })
  expect(stderr.mock.calls.map(([line]) => line)).toEqual([
    `OPS_PORT is another one in the environment than in ${file}; the environment wins.\n`,
  ])
  stderr.mockClear()
  await admitStart({ ...service, launch: { environment: {}, nodeOptions: [] } }, {}, examine)
  expect(stderr).not.toHaveBeenCalled()
})
