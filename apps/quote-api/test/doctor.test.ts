// Goal: what the settings name is looked at before a start, in one pass, and the command says it. Attacks: an endpoint of
// another chain, two of three endpoints dead, a clock five minutes off, an oracle that signs as another than is listed, a
// user that may only read, secrets in every URL. Method: a real node and a real database; an oracle as an HTTP server.
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { type Anvil, bundledScript, startAnvil } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { examineQuoteApi } from '../src/compose/examine.ts'
import { schemaModules } from '../src/operate/database.ts'
import { repositoryRoot } from './fixtures/service.ts'

const canary = 'canary-9b2c'
const listed = `0x${'ab'.repeat(20)}`
const stranger = `0x${'cd'.repeat(20)}`

let foreign: Anvil
let database: TestDatabase
let oracleUrl: string
const oracle = createServer((_request, response) => {
  response.end(JSON.stringify({ ready: true, draining: false, checks: {}, signer: stranger }))
})
beforeAll(async () => {
  await new Promise<void>((resolve) => oracle.listen(0, '127.0.0.1', resolve))
  const address = oracle.address()
  oracleUrl = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  foreign = await startAnvil({ chainId: 10, args: ['--block-time', '1'] })
  database = await startTestDatabase()
  await database.database.query(`create role reader login password '${canary}'`)
})
afterAll(async () => {
  await database?.stop()
  await foreign?.stop()
  oracle.closeAllConnections()
  oracle.close()
})

/** Settings in which nothing is wrong but what they name. */
function variables(changed: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    ENVIRONMENT: 'testnets.prod',
    ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
    DATABASE_URL: database.connectionString,
    API_KEY_PEPPERS: `v1:${'9e'.repeat(32)}`,
    PUBLIC_URL: 'https://api.testnets.example',
    ADMIN_API_KEY: `${canary}-admin-key`,
    SOLVER_API_KEY: `${canary}-solver-key`,
    FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    BASE_SEPOLIA_RPC_URL: foreign.url.replace('//', `//user:${canary}@`),
    ORACLES: `${oracleUrl}/${canary}|${canary}|${listed};http://127.0.0.1:9/${canary}|${canary}|${stranger}`,
    ...changed,
  }
}

async function examine(changed: Readonly<Record<string, string>> = {}, offsetMs = 0) {
  const nowMs = () => Date.now() + offsetMs
  const found = await examineQuoteApi(variables(changed), { repositoryRoot, nowMs, scope: 'all' })
  expect(JSON.stringify(found)).not.toMatch(/canary|(5a|9e){8}/)
  return found.map(({ code, severity, setting }) => `${severity} ${setting} ${code}`)
}

describe('one pass over what the settings name', () => {
  test('finds an endpoint of another chain, oracles that do not count, and nothing that is well', async () => {
    expect((await examine()).sort()).toEqual([
      'degrades DEFILLAMA_URL price-unconfirmed',
      'degrades ORACLES entry 2 peer-silent',
      'degrades ORACLES signer-unlisted',
      'degrades ORACLES threshold-unreachable',
      'note CUSTODY_ADDRESS setting-missing',
      'note DATABASE_URL database-schema',
      'note ECDSA_PRIVATE_KEY key-read',
      'note SEPOLIA_RPC_URL chain-without-endpoint',
      'stops httpRpcUrl of base-sepolia chain-contradicts',
    ])
  })

  test('finds two dead endpoints of three', async () => {
    const urls = `${foreign.url},http://127.0.0.1:9/${canary},http://127.0.0.1:7/${canary}`
    const found = await examine({ BASE_SEPOLIA_RPC_URL: urls })
    expect(found.filter((one) => one.endsWith('endpoint-silent'))).toHaveLength(2)
    expect(found).toContain('degrades httpRpcUrl of base-sepolia endpoints-too-few')
  })

  test.each([300_000, -300_000])(
    'finds a clock that is %i ms off, by blocks and by the database',
    async (offsetMs) => {
      const found = await examine({}, offsetMs)
      expect(found).toEqual(
        expect.arrayContaining(['degrades clock clock-off', 'degrades DATABASE_URL clock-off']),
      )
    },
  )

  test('finds a user of the database that may only read, and jobs that nobody runs', async () => {
    const url = new URL(database.connectionString)
    url.username = 'reader'
    url.password = canary
    expect(await examine({ DATABASE_URL: url.toString(), JOBS: 'off' })).toEqual(
      expect.arrayContaining(['stops DATABASE_URL database-rights', 'degrades JOBS jobs-elsewhere']),
    )
  })

  test('O-40: finds a chain that is stopped', async () => {
    const used = await startTestDatabase({ directories: schemaModules })
    try {
      await used.database.query(
        `insert into chain_stop (chain_id, told_by, reason, actor) values (84532, 'operator', 'forged', 'cli:root')`,
      )
      const found = await examine({ DATABASE_URL: used.connectionString })
      expect(found).toContain('degrades chain base-sepolia chain-stopped')
    } finally {
      await used.stop()
    }
  })

  test('F-6: finds transactions that cannot be read', async () => {
    const used = await startTestDatabase({ directories: schemaModules })
    try {
      await used.database.query(
        `insert into put_aside (chain_id, transaction_id, purpose, reason) values (84532, '0xaa', 'deposits', 'too_large')`,
      )
      const found = await examine({ DATABASE_URL: used.connectionString })
      expect(found).toContain('degrades chain base-sepolia put-aside')
    } finally {
      await used.stop()
    }
  })

  test('O-94: finds that a price service was forgotten, so that prices have one source', async () => {
    const of = async (changed: Readonly<Record<string, string>>) =>
      (await examine(changed)).filter((one) => one.endsWith('price-unconfirmed'))
    expect(await of({})).toEqual(['degrades DEFILLAMA_URL price-unconfirmed'])
    expect(await of({ DEFILLAMA_URL: 'https://prices.example' })).toEqual([])
  })

  test('goes on where a setting is wrong', async () => {
    expect(await examine({ LOG_LEVEL: 'loud', PUBLIC_URL: canary })).toEqual(
      expect.arrayContaining([
        ...['stops LOG_LEVEL setting-wrong', 'stops PUBLIC_URL setting-wrong'],
        ...['stops httpRpcUrl of base-sepolia chain-contradicts', 'degrades ORACLES signer-unlisted'],
      ]),
    )
  })
})

function run(words: readonly string[], environment: Readonly<Record<string, string>>) {
  const file = join(repositoryRoot, bundledScript('apps/quote-api/src/cli.ts'))
  const env = { PATH: process.env['PATH'], ...environment }
  return new Promise<{ code: number | null; output: string; problem: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [file, ...words],
      { cwd: repositoryRoot, env },
      (_error, output, problem) => resolve({ code: child.exitCode, output, problem }),
    )
  })
}

test('the command ends with 1 where a start would be refused, in JSON where nobody looks', async () => {
  const { code, output } = await run(['doctor'], variables({ PUBLIC_URL: '' }))
  expect(code).toBe(1)
  expect(output).not.toContain('canary')
  expect(JSON.parse(output)).toMatchObject({
    service: 'quote-api',
    startable: false,
    findings: expect.arrayContaining([expect.objectContaining({ setting: 'PUBLIC_URL', severity: 'stops' })]),
  })
})

test('the command names the way to the variables of another service', async () => {
  const { code, problem } = await run(['doctor', '--service', 'oracle'], {})
  expect([code, problem]).toEqual([2, expect.stringContaining('npm run causeway -- oracle doctor')])
  expect((await run(['doctor', '--jsn'], variables())).code).toBe(2)
})
