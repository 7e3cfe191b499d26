// Goal: one of three endpoints of a chain that lies, faster than the honest ones, moves no price and no gas
// and stops no route, and one dear transaction on a quiet chain moves no gas. Method: the real service over
// real nodes behind proxies, of which the first lies and the others take 60 ms longer.
import type { Hex } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import {
  askNode,
  type FaultMode,
  type FaultProxy,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { marketHealthSchema } from '@causeway/market'
import { decodeFunctionResult, encodeFunctionData, encodeFunctionResult, erc20Abi, multicall3Abi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { priceResponseSchema } from '../src/http/wire/priceResponse.ts'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { startTestService, type TestService } from './fixtures/service.ts'
import { post, price, readOk, send } from './serviceSupport/callService.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import { currencyAddress, localRequest, userOf } from './serviceSupport/localRequest.ts'

const oneEther = 10n ** 18n
const honestDelayMs = 60
/** Longer than it took to be believed: three refreshes and a second sample. */
const watchedMs = 7_000

let network: TestNetwork
let server: TestDatabase
let configs: ConfigCopy
let proxies: Record<'base' | 'optimism', readonly FaultProxy[]>
let service: TestService
let url: string

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  server = await startTestDatabase()
  configs = await copyConfigs()
  await configs.replace('quote.local.json', '"blockTimeMs": 2000', '"blockTimeMs": 1000')
  const before = async (chain: 'base' | 'optimism') => {
    const targetUrl = network.chains[chain].url
    const three = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl })))
    for (const honest of three.slice(1)) await honest.set({ kind: 'latency', delayMs: honestDelayMs })
    return three
  }
  proxies = { base: await before('base'), optimism: await before('optimism') }
  const urls = (chain: 'base' | 'optimism') => proxies[chain].map((proxy) => proxy.url).join(',')
  service = await startTestService(network, {
    DATABASE_URL: server.connectionString,
    CONFIG_DIR: configs.directory,
    BASE_RPC_URL: urls('base'),
    OPTIMISM_RPC_URL: urls('optimism'),
  })
  url = (await service.listen()).publicUrl
})
afterAll(async () => {
  await service?.stop()
  await Promise.all([...(proxies?.base ?? []), ...(proxies?.optimism ?? [])].map((proxy) => proxy.stop()))
  await server?.stop()
  await network?.stop()
  await configs?.remove()
})
beforeEach(async () => {
  await liarTells({ kind: 'pass' })
  await waitUntil('the service prices by the truth', async () => {
    const { usdcPerEther, gas } = await figures().catch(() => ({ usdcPerEther: 0n, gas: 0n }))
    return usdcPerEther > 2_400_000_000n && usdcPerEther < 2_600_000_000n && gas < 100_000n
  })
})

async function liarTells(mode: FaultMode): Promise<void> {
  await Promise.all([proxies.base[0]?.set(mode), proxies.optimism[0]?.set(mode)])
}

const etherToUsdc = () => localRequest(network, { pay: 'native', receive: 'USDC', amount: oneEther })
const bridge = () => localRequest(network, { amount: 2_500_000_000n })
const word = (value: bigint) => value.toString(16).padStart(64, '0')
const slot0Selector = '3850c7bd'

/** Every feed answer of 2,500 USD in any contract's data. */
function feedTimes(factor: bigint): FaultMode {
  const told = 2_500n * 10n ** 8n
  return {
    kind: 'lie',
    rewrite: ({ method }, result) =>
      method === 'eth_call' && typeof result === 'string'
        ? result.replaceAll(word(told), word(told * factor))
        : result,
  }
}

/** Makes a doubled feed a price by removing the pools, which would contradict it. */
function doubledFeedWithoutPools(): FaultMode {
  const feed = feedTimes(2n)
  return {
    kind: 'lie',
    rewrite(call, result) {
      const isPool = JSON.stringify(call.params[0] ?? '').includes(slot0Selector)
      if (isPool) return '0x'
      return feed.kind === 'lie' ? feed.rewrite(call, result) : result
    },
  }
}

function gasTimes(factor: bigint): FaultMode {
  const times = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(times)
    return typeof value === 'string' ? `0x${(BigInt(value) * factor).toString(16)}` : value
  }
  return {
    kind: 'lie',
    rewrite({ method }, result) {
      if (method !== 'eth_feeHistory') return result
      const history: Record<string, unknown> = Object(result)
      return { ...history, baseFeePerGas: times(history['baseFeePerGas']), reward: times(history['reward']) }
    },
  }
}

type Figures = { readonly usdcPerEther: bigint; readonly gas: bigint }

async function figures(): Promise<Figures> {
  const [sold, bridged] = await Promise.all([price(url, etherToUsdc()), price(url, bridge())])
  return {
    usdcPerEther: BigInt(sold.details.currencyOut.amount),
    gas: BigInt(bridged.fees.relayerGas.amount),
  }
}

/** Asks again and again while the lie is told: half a percent of a price, twice the gas, no refusal. */
async function expectUnmoved(before: Figures): Promise<void> {
  const untilMs = Date.now() + watchedMs
  while (Date.now() < untilMs) {
    const answers = await Promise.all([post(`${url}/price`, etherToUsdc()), post(`${url}/quote`, bridge())])
    expect(answers.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual([200, 200])
    const [sold, bridged] = answers.map((answer) => readOk(answer, priceResponseSchema))
    const usdc = BigInt(sold?.details.currencyOut.amount ?? 0)
    const apart = usdc > before.usdcPerEther ? usdc - before.usdcPerEther : before.usdcPerEther - usdc
    expect(apart * 200n, `${usdc} for 1 ETH`).toBeLessThanOrEqual(before.usdcPerEther)
    expect(BigInt(bridged?.fees.relayerGas.amount ?? 0)).toBeLessThanOrEqual(2n * before.gas + 2n)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

describe('one fast liar of three endpoints', () => {
  test.each<readonly [string, () => FaultMode]>([
    ['that doubles the ETH/USD feed and spoils the pools', doubledFeedWithoutPools],
    ['that tells ten times the feed', () => feedTimes(10n)],
    ['that tells gas times 400', () => gasTimes(400n)],
    ['that tells gas times 30,000', () => gasTimes(30_000n)],
    ['that answers nothing', () => ({ kind: 'hang' })],
    ['that stays at an old block', () => ({ kind: 'staleHead', block: 5n })],
  ])('Q-178: %s moves nothing and stops nothing', async (_name, lie) => {
    const before = await figures()
    await liarTells(lie())
    await expectUnmoved(before)
  })

  test('is seen: health says how many agreed, and who dissents is counted', async () => {
    await liarTells(feedTimes(2n))
    await expect
      .poll(
        async () => {
          const { chains } = readOk(await send(`${url}/prices/health`), marketHealthSchema)
          return chains.find(({ chain }) => chain === 'base')?.agreement.find(({ on }) => on === 'state')
        },
        { timeout: 30_000 },
      )
      .toEqual({ on: 'state', agreed: 2, required: 2, configured: 3, dissenting: 1 })
  })
})

// Attacker: an operator of one endpoint, who gets a sweep paid, or a fill without a deposit.
describe('a deposit address', () => {
  const units = 100_000_000n
  const reindexed = z.object({ triggeredCurrencies: z.array(z.object({ balance: z.string() })) })

  /** Every balance that is asked for beside `account` is `amount`. */
  function balancesAre(account: Hex, amount: bigint): FaultMode {
    const named = account.slice(2).toLowerCase()
    return {
      kind: 'lie',
      rewrite({ method, params }, result) {
        if (method !== 'eth_call' || !JSON.stringify(params[0] ?? '').includes(named)) return result
        // CAST: what a node answers to a call is hex.
        const told = { abi: multicall3Abi, functionName: 'aggregate3', data: result as Hex } as const
        const lied = decodeFunctionResult(told).map(({ success }) => ({
          success,
          returnData: `0x${word(amount)}` as const,
        }))
        return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: lied })
      },
    }
  }

  async function quotedAddress(): Promise<Hex> {
    const { address: refundTo } = userOf(network, 2)
    const wish = localRequest(network, { amount: units, more: { useDepositAddress: true, refundTo } })
    const { steps } = readOk(await post(`${url}/quote`, wish), quoteResponseSchema)
    // CAST: the wire describes an address as text.
    return steps[0]?.depositAddress as Hex
  }
  const chainId = () => network.deployment.base.chainId
  const lookAt = async (depositAddress: Hex) =>
    readOk(
      await post(`${url}/transactions/deposit-address/reindex`, { chainId: chainId(), depositAddress }),
      reindexed,
    ).triggeredCurrencies
  const sweepsOf = (address: Hex) =>
    server.database.query<{ id: string }>(
      `select id from work_item where kind = 'sweep' and lower(payload ->> 'depositAddress') = lower($1)`,
      [address],
    )

  test('that one endpoint fills with money is not swept', async () => {
    const address = await quotedAddress()
    await liarTells(balancesAre(address, units))
    expect(await lookAt(address)).toEqual([])
    await new Promise((resolve) => setTimeout(resolve, watchedMs))
    expect(await sweepsOf(address)).toEqual([])
  })

  test('that one endpoint shows as empty is swept', async () => {
    const address = await quotedAddress()
    await liarTells(balancesAre(address, 0n))
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address, units] })
    const to = currencyAddress(network, 'base', 'USDC')
    await network.chains.base.chain.send(userOf(network, 1), [{ what: 'payment', to, data }])
    await waitUntil('a sweep is offered', async () => (await sweepsOf(address)).length === 1)
  })
})

test('one transaction that pays a tip of 100 gwei on a quiet chain moves no gas', async () => {
  const before = await figures()
  const { url: node } = network.chains.optimism
  const [from, to] = network.keys.users.map(({ address }) => address)
  await askNode(node, 'anvil_impersonateAccount', [from])
  const tip = '0x174876e800'
  await askNode(node, 'eth_sendTransaction', [
    { from, to, value: '0x1', maxPriorityFeePerGas: tip, maxFeePerGas: '0x2e90edd000' },
  ])
  await expectUnmoved(before)
})
