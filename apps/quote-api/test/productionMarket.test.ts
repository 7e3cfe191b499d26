// Goal: the shipped production configuration sells on the chains that an operator has endpoints of, and on these
// alone: what is not set up stops nothing else. Attack: a chain or a feed without endpoint that ends the start or every
// price in silence. Method: the service of `main.ts` over a real database; its chains say what the shipped files and
// their sources say, because no public chain can be asked here.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post } from './serviceSupport/callService.ts'
import { configsDirectory } from './serviceSupport/configCopy.ts'
import {
  type ConfiguredChains,
  recordStandIns,
  solanaFillWallet,
  startConfiguredChains,
} from './serviceSupport/configuredChains.ts'
import { type ServiceProcess, spawnService } from './serviceSupport/serviceProcess.ts'

const environment = 'mainnets.prod'
const user = '0xc2c30ae52475521104a7baaa52989cf95221cac5'
const solanaUser = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q'
const nativeOnSolana = '11111111111111111111111111111111'
const native = `0x${'0'.repeat(40)}`
const usdc = {
  1: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  8453: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  10: '0x0b2c639c533813f4aa9d7837caf62653d097ff85',
  42161: '0xaf88d065e77c8cc2239327c5edb3a432268e5831',
  137: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
  792703809: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
} as const

let directory: string
let database: TestDatabase
let configured: ConfiguredChains

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-production-'))
  await cp(configsDirectory, directory, { recursive: true })
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(directory, `${name}.${environment}.json`), 'utf8'))
  const chains = await read('chains')
  configured = await startConfiguredChains(await read('quote'), chains)
  const recorded = JSON.stringify(recordStandIns(chains, configured))
  await writeFile(join(directory, `chains.${environment}.json`), recorded)
  database = await startTestDatabase()
})
afterAll(async () => {
  await configured?.close()
  await database?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** The service with endpoints of these chains, by default of all. */
function start(keys?: readonly string[]): ServiceProcess {
  return spawnService({
    ENVIRONMENT: environment,
    CONFIG_DIR: directory,
    ECDSA_PRIVATE_KEY: generatePrivateKey(),
    DATABASE_URL: database.connectionString,
    API_KEY_PEPPERS: `v1:${'9e27b1f0'.repeat(8)}`,
    PUBLIC_URL: 'https://api.example',
    ADMIN_API_KEY: 'admin-5d41402abc4b2a76b9',
    SOLVER_API_KEY: 'solver-5d41402abc4b2a76b9',
    FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
    SOLANA_FILL_WALLET_ADDRESS: solanaFillWallet,
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: '0',
    OPS_PORT: '0',
    ADMIN_PORT: '0',
    LOG_LEVEL: 'info',
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    RATE_LIMIT_PER_IP: '0',
    ...configured.variables(keys),
  })
}

type Chain = keyof typeof usdc

const priceAt =
  (url: string) =>
  (origin: Chain, destination: Chain, more: object = {}) =>
    post(`${url}/price`, {
      user,
      recipient: user,
      originChainId: origin,
      destinationChainId: destination,
      originCurrency: usdc[origin],
      destinationCurrency: usdc[destination],
      amount: '100000000',
      tradeType: 'EXACT_INPUT',
      ...more,
    })

/** Output in percent of the input amount: fees and rebalancing costs are far below one percent. */
function percentOf(text: string, amount: number): number {
  return (Number(JSON.parse(text).details.currencyOut.amount) / amount) * 100
}

describe('a production service with endpoints of Base and Optimism alone', () => {
  let service: ServiceProcess
  let price: ReturnType<typeof priceAt>
  beforeAll(async () => {
    service = start(['base', 'optimism'])
    price = priceAt((await service.listening()).publicUrl)
  })
  afterAll(() => service?.stop())

  test('sells the first example of the README, both ways', async () => {
    for (const [origin, destination] of [
      [8453, 10],
      [10, 8453],
    ] as const) {
      const { status, text } = await price(origin, destination)
      expect([status, text]).toEqual([200, expect.stringContaining('currencyOut')])
      expect(percentOf(text, 100_000_000)).toBeCloseTo(100, 0)
    }
  })

  test('sells between assets by two feeds that share no host', async () => {
    const { status, text } = await price(8453, 10, { destinationCurrency: native })
    expect([status, text]).toEqual([200, expect.stringContaining('currencyOut')])
    // At 2,500 USD each.
    expect(percentOf(text, 4e16)).toBeCloseTo(100, 0)
  })

  test('refuses a chain without endpoint by a typed answer, and goes on', async () => {
    const { status, text } = await price(8453, 1)
    expect([status, text]).toEqual([503, expect.stringContaining('SERVICE_UNAVAILABLE')])
    expect((await price(8453, 10)).status).toBe(200)
  })

  test('O-154: said at start which chains have none, and which prices lack them', () => {
    const output = service.output()
    for (const key of ['ethereum', 'arbitrum', 'polygon', 'solana'])
      expect(output).toContain(`"chain":"${key}","unsetVariables":["${key.toUpperCase()}_RPC_URL"`)
    expect(output).toContain('"price":"POL/USD","chains":["polygon","arbitrum"]')
    expect(output).not.toContain('"price":"USDC/USD","chains"')
  })
})

describe('a production service with endpoints of all six', () => {
  let service: ServiceProcess
  let price: ReturnType<typeof priceAt>
  beforeAll(async () => {
    service = start()
    price = priceAt((await service.listening()).publicUrl)
  })
  afterAll(() => service?.stop())

  const evm = [1, 8453, 10, 42161, 137] as const
  const solana = 792703809
  const toSolana = { recipient: solanaUser }
  const fromSolana = { user: solanaUser }

  test.each(evm.map((origin, index) => [origin, evm[(index + 1) % evm.length] ?? 1] as const))(
    'sells USDC and the native coin from %i to %i',
    async (origin, destination) => {
      const { status, text } = await price(origin, destination)
      expect([status, text]).toEqual([200, expect.stringContaining('currencyOut')])
      expect(percentOf(text, 100_000_000)).toBeCloseTo(100, 0)
      const coin = await price(origin, destination, { destinationCurrency: native })
      expect([coin.status, coin.text]).toEqual([200, expect.stringContaining('currencyOut')])
      const coinUsd = destination === 137 ? 0.1 : 2_500
      expect(percentOf(coin.text, (100 / coinUsd) * 1e18)).toBeCloseTo(100, 0)
    },
  )

  test('sells to and from Solana', async () => {
    const there = await price(8453, solana, toSolana)
    expect([there.status, there.text]).toEqual([200, expect.stringContaining('currencyOut')])
    const sol = await price(42161, solana, { ...toSolana, destinationCurrency: nativeOnSolana })
    expect([sol.status, sol.text]).toEqual([200, expect.stringContaining('currencyOut')])
    expect(percentOf(sol.text, (100 / 150) * 1e9)).toBeCloseTo(100, 0)
    const back = await price(solana, 10, fromSolana)
    expect([back.status, back.text]).toEqual([200, expect.stringContaining('currencyOut')])
  })

  test('lacks no price', () => {
    expect(service.output()).not.toContain('is refused until')
  })
})
