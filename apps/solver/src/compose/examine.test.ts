// Goal: an operator reads in one pass what a solver lacks. Attacks: a key that quote-api does not take, a quote-api that is
// silent or something else, a database that is not there, a run that signs nothing, secrets in every URL.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { examineSolver } from './examine.ts'

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))
const canary = 'canary-5d41402a'
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function quoteApiThatAnswers(status: number, body = '{}', asked: string[] = []): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.statusCode = status
    response.end(body)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/${canary}`
}

async function examine(changed: Readonly<Record<string, string>>) {
  const variables = {
    ENVIRONMENT: 'testnets.prod',
    ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
    DATABASE_URL: `postgres://solver:${canary}@127.0.0.1:9/solver`,
    QUOTE_API_URL: `http://127.0.0.1:9/${canary}`,
    SOLVER_API_KEY: `${canary}-key`,
    ORDER_SIGNERS: `0x${'5e'.repeat(20)}`,
    BASE_SEPOLIA_RPC_URL: `http://127.0.0.1:9/${canary}`,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    ...changed,
  }
  const found = await examineSolver(variables, { repositoryRoot, nowMs: () => Date.now(), scope: 'all' })
  expect(JSON.stringify(found)).not.toMatch(/canary|(5a){8}/)
  return found.map(({ code, severity, setting }) => `${severity} ${setting} ${code}`)
}

test('L-21: what its settings name is looked at: without oracles it degrades, a database that is not there stops it, silence degrades it', async () => {
  expect((await examine({})).sort()).toEqual([
    'degrades ORACLES setting-missing',
    'degrades QUOTE_API_URL service-silent',
    'degrades SEPOLIA_RPC_URL chain-without-endpoint',
    'degrades httpRpcUrl of base-sepolia endpoint-silent',
    'degrades httpRpcUrl of base-sepolia endpoints-too-few',
    'note ECDSA_PRIVATE_KEY key-read',
    'stops DATABASE_URL database-unreachable',
  ])
})

test('endpoints that tell of no blocks are named, and a run without them lacks nothing', async () => {
  const found = await examine({ BASE_SEPOLIA_WS_RPC_URL: `ws://127.0.0.1:9/${canary}` })
  expect(found).toContain('degrades wsRpcUrl of base-sepolia endpoint-silent')
})

test.each([
  [401, 'degrades SOLVER_API_KEY service-silent'],
  [404, 'degrades QUOTE_API_URL service-silent'],
])('a quote-api that answers %i is named by the setting to mend', async (status, finding) => {
  expect(await examine({ QUOTE_API_URL: await quoteApiThatAnswers(status) })).toContain(finding)
})

test('one that takes the key is no finding, a run without signatures is', async () => {
  const found = await examine({ QUOTE_API_URL: await quoteApiThatAnswers(200), DRY_RUN: 'on' })
  expect(found.filter((one) => one.endsWith('service-silent'))).toEqual([])
  expect(found).toContain('degrades DRY_RUN setting-without-effect')
})

test('O-83: what quote-api contradicts is found by the doctor, which says what it would fill with and leaves no name', async () => {
  const differences = ['orders are signed by 0xa, and the solver accepts 0xb (ORDER_SIGNERS)']
  const asked: string[] = []
  const QUOTE_API_URL = await quoteApiThatAnswers(200, JSON.stringify({ items: [], differences }), asked)
  expect(await examine({ QUOTE_API_URL })).toContain('degrades QUOTE_API_URL solver-differs')
  const { searchParams } = new URL(asked[0] ?? '', 'http://quote-api')
  expect(searchParams.get('orderSigners')).toBe(`0x${'5e'.repeat(20)}`)
  expect(searchParams.get('pays')).toMatch(/^84532:0x[0-9a-f]{40}:0x[0-9a-f]{40}$/i)
  expect(searchParams.has('solver')).toBe(false)
})

test('O-105: its oracles are looked at: one that signs as listed, one that signs as another, one that is silent', async () => {
  const [first, second, third] = ['a1', 'a2', 'a3'].map((one) => `0x${one.repeat(20)}`)
  const signingAs = (signer = '') => quoteApiThatAnswers(200, JSON.stringify({ ready: true, signer }))
  const of = async (oracles: readonly string[]) =>
    (await examine({ ORACLES: oracles.join(';') })).filter((one) => one.includes(' ORACLES'))
  const good = `${await signingAs(first)}||${first}`
  expect(
    await of([good, `${await signingAs(first)}||${second}`, `http://127.0.0.1:9/${canary}||${third}`]),
  ).toEqual(
    expect.arrayContaining([
      ...['degrades ORACLES signer-unlisted', 'degrades ORACLES entry 3 peer-silent'],
      'degrades ORACLES threshold-unreachable',
    ]),
  )
  expect(await of([good, `${await signingAs(second)}||${second}`])).toEqual([])
})

test('everything that is missing is found at once', async () => {
  const names = ['DATABASE_URL', 'QUOTE_API_URL', 'SOLVER_API_KEY', 'ORDER_SIGNERS']
  const found = await examine({
    ...Object.fromEntries(names.map((name) => [name, ''])),
    ECDSA_PRIVATE_KEY: '',
    BASE_SEPOLIA_RPC_URL: '',
  })
  const stops = found.filter((one) => one.startsWith('stops')).map((one) => one.split(' ')[1])
  expect(stops).toEqual(expect.arrayContaining([...names, 'ECDSA_PRIVATE_KEY', 'solver:']))
  // One chain without an endpoint is left out; a solver without any pays nobody.
  expect(found).toContain('degrades BASE_SEPOLIA_RPC_URL chain-without-endpoint')
})

test('what a family is paid with, and lacks, is found beside the rest', async () => {
  const CONFIG_DIR = await configsPayingOn('hyperliquid')
  const names = ['HYPERLIQUID_PRIVATE_KEY', 'ORACLES', 'HUB_ECDSA_PRIVATE_KEY']
  const missing = (found: readonly string[]) => found.filter((one) => names.includes(one.split(' ')[1] ?? ''))
  const bare = { CONFIG_DIR, HYPERLIQUID_RPC_URL: `http://127.0.0.1:9/${canary}` }
  const found = await examine(bare)
  expect(missing(found)).toEqual(names.map((name) => `stops ${name} setting-missing`))
  // Its hub has no endpoint.
  expect(found).toContain('stops chains configuration-wrong')
  const key = (digits: string) => `0x${digits.repeat(32)}`
  const set = {
    RELAY_TESTNET_RPC_URL: `http://127.0.0.1:9/${canary}`,
    HYPERLIQUID_PRIVATE_KEY: key('5b'),
    HUB_ECDSA_PRIVATE_KEY: key('5c'),
    ORACLES: [1, 2, 3].map((one) => `http://127.0.0.1:9||0x${`a${one}`.repeat(20)}`).join(';'),
  }
  expect(
    (await examine({ ...bare, ...set })).filter((one) => /stops (HYP|ORA|HUB|chains)/.test(one)),
  ).toEqual([])
})

/** The shipped test networks, with one chain of another family that is quoted and paid on. */
async function configsPayingOn(key: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-examined-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(join(repositoryRoot, 'configs'), folder, { recursive: true })
  const edit = async (name: string, change: (file: Record<string, unknown>) => object) => {
    const path = join(folder, `${name}.testnets.prod.json`)
    const text = await readFile(path, 'utf8')
    await writeFile(path, JSON.stringify(change(JSON.parse(text))))
  }
  await edit('chains.hub', (file) => ({ ...file, genericMappingAddress: `0x${'e9'.repeat(20)}` }))
  await edit('chains', (file) => {
    const depository = `0x${'ec'.repeat(20)}`
    const chain = {
      id: key,
      vmType: 'hyperliquid-vm',
      hubChainId: '1',
      depository,
      httpRpcUrl: '$HYPERLIQUID_RPC_URL',
    }
    return { ...file, chains: [...Object(file['chains']), chain] }
  })
  await edit('quote', (file) => ({
    ...file,
    chains: {
      ...Object(file['chains']),
      [key]: {
        chainId: 1_337,
        name: key,
        displayName: key,
        blockTimeMs: 1_000,
        headMaxAgeMs: 60_000,
        feeModel: { kind: 'flat' },
        pinPolicy: [{ blocks: 0 }],
        currencies: [],
      },
    },
  }))
  await edit('solver', (file) => {
    const policy = { maxFeePerGasWei: '1', gasPerHourWei: '1', relayGasPerHourWei: '0', floors: [] }
    return { ...file, chains: { ...Object(file['chains']), [key]: policy } }
  })
  return folder
}
