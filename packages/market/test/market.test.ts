// Goal: the market follows real chains and survives what their nodes do.
// Method: three anvils with the local contracts, a fault proxy before each of the two user chains.

import { ConfigurationError, type Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { gasShapes } from '@causeway/families/rules'
import {
  type FaultMode,
  gasPriceOracleAbi,
  movePrice,
  setBaseFee,
  tokenAbi,
  waitUntil,
} from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { marketHealthSchema } from '../src/health.ts'
import { oneUsdX18 } from '../src/prices/guards.ts'
import { createDefillama } from '../src/prices/http/defillama.ts'
import { hostOf } from '../src/prices/secondSource.ts'
import { evmFees } from './support/fixtures.ts'
import { type LiveMarket, startLiveMarket } from './support/liveMarket.ts'
import { sendsJson, startPriceServiceStandIn } from './support/priceServiceStandIn.ts'

const baseId = 8_453
const optimismId = 10
const gasHardMaxAgeMs = 2_500

let live: LiveMarket

beforeAll(async () => {
  live = await startLiveMarket({ limits: { gasHardMaxAgeMs } })
  await live.market.start()
})
afterAll(() => live?.stop())

const chainNow = (chainId: number) => live.market.snapshot().chain(chainId)
const usable = (chainId: number) => !('reason' in chainNow(chainId))
function refusal(chainId: number): string | undefined {
  const chain = chainNow(chainId)
  return 'reason' in chain ? chain.reason : undefined
}
/** The other chain may be late for a moment too, on a loaded machine. */
const onlyOptimismIs = (reason: string) => refusal(optimismId) === reason && usable(baseId)
function priceNow(key: string): bigint | string {
  const price = live.market.snapshot().price(key)
  return 'reason' in price ? price.reason : price.usdX18
}
function gasNow(chainId: number): bigint {
  const chain = chainNow(chainId)
  return 'reason' in chain ? 0n : evmFees(chain.fees).gasPrice.expectedWei
}

/** Ends the fault whatever happens, and waits until the chain is back. */
async function whileOptimismIs(mode: FaultMode, check: () => Promise<void>): Promise<void> {
  await waitUntil('both chains are usable', () => usable(optimismId) && usable(baseId))
  await live.proxies.optimism.set(mode)
  try {
    await check()
  } finally {
    await live.proxies.optimism.set({ kind: 'pass' })
  }
  await waitUntil('the chain is back', () => usable(optimismId))
}

describe('a started market', () => {
  test('prices every currency and both chains', () => {
    for (const { key } of live.config.prices) expect(priceNow(key)).toBeTypeOf('bigint')
    expect([refusal(baseId), refusal(optimismId)]).toEqual([undefined, undefined])
    expect(live.market.health()).toMatchObject({ status: 'ok' })
  })

  test("holds the solver's real balances of every currency it keeps", async () => {
    const { network, config } = live
    const { client } = network.chains.base.chain
    const wallet = network.keys.fillWallet.address
    const solver = config.chains['base']?.currencies.filter((currency) => currency.solver) ?? []
    expect(solver.length).toBeGreaterThan(1)
    const expected = await Promise.all(
      solver.map(async ({ address }) => {
        // CAST: local currencies are EVM addresses.
        const token = address as Hex
        const balance =
          token === ethereumCodec.nativeCurrency
            ? await client.getBalance({ address: wallet })
            : await client.readContract({
                address: token,
                abi: tokenAbi,
                functionName: 'balanceOf',
                args: [wallet],
              })
        return [`${baseId}:${address}`, balance] as const
      }),
    )
    const chain = chainNow(baseId)
    expect('reason' in chain ? chain : chain.inventory).toEqual(new Map(expected))
  })

  test('charges an L1 data fee for every shape, the more data the more', () => {
    const chain = chainNow(baseId)
    if ('reason' in chain) throw new Error(chain.reason)
    for (const shape of gasShapes) expect(evmFees(chain.fees).l1DataFeeWei[shape]).toBeGreaterThan(0n)
    // what one more byte costs, by the chain's own oracle.
    expect(evmFees(chain.fees).dataByteWei).toBeGreaterThan(0n)
    expect(evmFees(chain.fees).l1DataFeeWei['fill-swap']).toBeGreaterThan(
      evmFees(chain.fees).l1DataFeeWei['fill-erc20'],
    )
  })

  test('asks each chain for its head, and for all of a block in two batches', async () => {
    const { base } = live.proxies
    base.resetCounters()
    await waitUntil('pools were read', () => (base.counters().callsByMethod['eth_getLogs'] ?? 0) >= 2)
    const { requests, batches, callsByMethod } = base.counters()
    const blocks = callsByMethod['eth_feeHistory'] ?? 0
    expect(blocks).toBeGreaterThan(0)
    // The block's state and its pools; between blocks nothing but the head.
    expect(batches).toBeLessThanOrEqual(2 * blocks + 1)
    expect(requests - batches).toBeLessThanOrEqual(callsByMethod['eth_getBlockByNumber'] ?? 0)
  })
})

describe('a market that follows its chains', () => {
  test('shows a higher base fee within three refreshes', async () => {
    // Blocks are empty here, so without the change the fee only falls.
    const before = gasNow(baseId)
    const { base } = live.proxies
    await setBaseFee(live.network.chains.base.chain, before * 4n)
    base.resetCounters()
    await waitUntil('the base fee shows', () => gasNow(baseId) > before)
    expect(base.counters().callsByMethod['eth_feeHistory'] ?? 0).toBeLessThanOrEqual(3)
  })

  test('shows a base fee fifty times as high once a second reading confirmed it', async () => {
    const before = gasNow(baseId)
    await setBaseFee(live.network.chains.base.chain, before * 50n)
    await waitUntil('the base fee shows', () => gasNow(baseId) > before * 4n)
  })

  test('follows a balance of the solver', async () => {
    const { chains, deployment, keys } = live.network
    const key = `${baseId}:${deployment.base.tokens.USDC}` as const
    const balance = () => {
      const chain = chainNow(baseId)
      return 'reason' in chain ? undefined : chain.inventory.get(key)
    }
    const before = balance() ?? 0n
    const grants = [{ to: keys.fillWallet.address, amount: 12_345n }]
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [grants] })
    await chains.base.chain.send(keys.deployer, [{ what: 'mint', to: deployment.base.tokens.USDC, data }])
    await waitUntil('the balance shows', () => balance() === before + 12_345n)
  })

  test('follows the L1 data fee of a rollup', async () => {
    const { chains, deployment, keys } = live.network
    const fee = () => {
      const chain = chainNow(optimismId)
      return 'reason' in chain ? 0n : evmFees(chain.fees).l1DataFeeWei['fill-erc20']
    }
    const before = fee()
    const data = encodeFunctionData({
      abi: gasPriceOracleAbi,
      functionName: 'setL1BaseFee',
      args: [80_000_000_000n],
    })
    const { gasPriceOracle } = deployment.optimism
    await chains.optimism.chain.send(keys.keeper, [{ what: 'L1 base fee', to: gasPriceOracle, data }])
    await waitUntil('the L1 data fee shows', () => fee() > 2n * before)
  })

  test('follows a price that feed and pools move to', async () => {
    await movePrice(live.network, { price: 'ETH/USD', answer: 2_700n * 10n ** 8n })
    await waitUntil('the new price shows', () => near(priceNow('ETH/USD'), 2_700n))
    const [feed, pool] = live.market.health().prices.find(({ key }) => key === 'ETH/USD')?.sources ?? []
    expect([feed?.kind, feed?.state, pool?.kind, pool?.state]).toEqual(['feed', 'fresh', 'pool', 'fresh'])
  })

  test('refuses a price when the feed alone moves beyond the limit, and takes it back after', async () => {
    await movePrice(live.network, { price: 'ETH/USD', answer: 3_100n * 10n ** 8n, only: 'feed' })
    await waitUntil('the price is refused', () => priceNow('ETH/USD') === 'deviation')
    expect(priceNow('USDC/USD')).toBeTypeOf('bigint')
    await movePrice(live.network, { price: 'ETH/USD', answer: 2_700n * 10n ** 8n, only: 'feed' })
    await waitUntil('the price is back', () => near(priceNow('ETH/USD'), 2_700n))
  })

  test.each([0n, -1n])('prices nothing by a pool alone while the feed answers %i', async (answer) => {
    await movePrice(live.network, { price: 'TIDE/USD', answer, only: 'feed' })
    const feedFault = () =>
      live.market.health().prices.find(({ key }) => key === 'TIDE/USD')?.sources[0]?.fault
    await waitUntil('the feed counts no longer', () => feedFault() === 'not_positive')
    expect(['no_source', 'stale']).toContain(priceNow('TIDE/USD'))
    await movePrice(live.network, { price: 'TIDE/USD', answer: 4n * 10n ** 8n, only: 'feed' })
    await waitUntil('the feed counts again', () => feedFault() === undefined)
  })

  test('refuses a stablecoin far from its peg and flags one near it', async () => {
    await movePrice(live.network, { price: 'USDC/USD', answer: 90_000_000n, only: 'feed' })
    await waitUntil('the stablecoin is refused', () => priceNow('USDC/USD') === 'depeg')
    await movePrice(live.network, { price: 'USDC/USD', answer: 99_000_000n, only: 'feed' })
    const flagged = () => {
      const price = live.market.snapshot().price('USDC/USD')
      return 'reason' in price ? undefined : price.depegBps
    }
    await waitUntil('the stablecoin is flagged', () => flagged() === 100n)
    await movePrice(live.network, { price: 'USDC/USD', answer: 100_000_000n, only: 'feed' })
    await waitUntil('the stablecoin is at its peg', () => priceNow('USDC/USD') === oneUsdX18)
  })
})

describe('a market whose node misbehaves', () => {
  test.each([
    ['hangs', { kind: 'hang' }],
    ['is gone', { kind: 'refuse' }],
    ['cuts connections', { kind: 'reset' }],
    ['answers HTML', { kind: 'html200' }],
    ['answers half a document', { kind: 'halfJson' }],
    ['answers bytes', { kind: 'garbage' }],
    ['answers 429', { kind: 'http', status: 429 }],
    ['answers errors', { kind: 'nodeError', code: -32_000, message: 'busy' }],
    ['knows no fee history', { kind: 'unsupported', methods: ['eth_feeHistory'] }],
  ] as const)('refuses the chain after its hard age when the node %s, and recovers', async (_name, mode) => {
    await whileOptimismIs(mode, async () => {
      await waitUntil(
        'the chain alone is refused, for its gas',
        () => onlyOptimismIs('stale_gas') && typeof priceNow('ETH/USD') === 'bigint',
      )
      const optimism = () => live.market.health().chains.find(({ chain }) => chain === 'optimism')
      await waitUntil('the failure is named', () => optimism()?.lastError !== undefined)
      expect(optimism()?.lastError).toMatch(/^(RPC_HTTP_ERROR|REQUEST_TIMED_OUT)$/)
    })
  })

  test('refuses with stale_head while the node is stuck at an old block, and recovers', async () => {
    const block = await live.network.chains.optimism.chain.client.getBlockNumber()
    await whileOptimismIs({ kind: 'staleHead', block }, async () => {
      await waitUntil('the chain alone is refused, for its head', () => onlyOptimismIs('stale_head'))
    })
  })

  test('refuses a chain whose process is frozen, and recovers when it goes on', async () => {
    const { pid } = live.network.chains.optimism
    process.kill(pid, 'SIGSTOP')
    try {
      await waitUntil('the chain alone is refused, for its gas', () => onlyOptimismIs('stale_gas'))
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await waitUntil('the chain is back', () => usable(optimismId))
  })

  test('refuses every price whose only sources are on the silent chain, and recovers', async () => {
    await live.proxies.base.set({ kind: 'hang' })
    try {
      await waitUntil(
        'the price is stale, and the other chain is not',
        () => priceNow('ETH/USD') === 'stale' && usable(optimismId),
      )
    } finally {
      await live.proxies.base.set({ kind: 'pass' })
    }
    await waitUntil('the price is back', () => typeof priceNow('ETH/USD') === 'bigint')
  })

  test('is not fooled by a head from far ahead', async () => {
    const ahead = `0x${(Math.floor(Date.now() / 1_000) + 3_600).toString(16)}`
    const lie: FaultMode = {
      kind: 'lie',
      rewrite: (call, result) =>
        call.method === 'eth_getBlockByNumber' ? { ...Object(result), timestamp: ahead } : result,
    }
    await whileOptimismIs(lie, () =>
      waitUntil('the chain is refused', () => refusal(optimismId) === 'stale_head'),
    )
  })
})

describe('start', () => {
  test('does not wait longer than its limit for a chain that hangs', async () => {
    const market = live.open({ limits: { startTimeoutMs: 1_500 } })
    await whileOptimismIs({ kind: 'hang' }, async () => {
      await market.start()
      // On a loaded machine the other chain may be later than the limit too.
      await waitUntil('the other chain came', () => 'fees' in market.snapshot().chain(baseId))
      expect(market.snapshot().chain(optimismId)).toEqual({ reason: 'no_data' })
      expect(market.health()).toMatchObject({ status: 'degraded' })
    })
    await waitUntil('the late chain came', () => !('reason' in market.snapshot().chain(optimismId)))
    market.close()
  })

  test('O-32: does not wait for a chain behind a gate, and reads nothing of it before the gate opens', async () => {
    let isOpen = false
    const gate = async () => {
      if (!isOpen) throw new Error('not checked yet')
    }
    // A start that waited would take an hour.
    const limits = { startTimeoutMs: 3_600_000 }
    const market = live.open({ limits, gates: new Map([['optimism', gate]]) })
    await market.start()
    await waitUntil('the other chain is read again', () => market.health().chains[0]?.state === 'ok')
    expect(market.snapshot().chain(optimismId)).toEqual({ reason: 'no_data' })
    isOpen = true
    await waitUntil('the gate is passed', () => !('reason' in market.snapshot().chain(optimismId)))
    market.close()
  })

  test('refuses a feed that is not the one configured', async () => {
    const prices = live.config.prices.map((price) => ({
      ...price,
      feeds: price.feeds.map((feed) => ({ ...feed, description: feed.description.replace('ETH', 'BTC') })),
    }))
    // A start that waits no longer goes on without having read what feeds say of themselves.
    const market = live.open({ config: { ...live.config, prices }, limits: { startTimeoutMs: 60_000 } })
    await expect(market.start()).rejects.toThrow(ConfigurationError)
    market.close()
  })

  test('leaves a chain without a client refused', async () => {
    const base = createJsonRpcClient({
      chainId: 'base',
      endpoints: [{ url: live.network.chains.base.url }],
    })
    const market = live.open({ clients: new Map([['base', base]]) })
    await market.start()
    expect(market.snapshot().chain(baseId)).toHaveProperty('fees')
    expect(market.snapshot().chain(optimismId)).toEqual({ reason: 'no_data' })
    market.close()
    await base.close()
  })
})

describe('a market that is exempt from nothing', () => {
  /** ETH/USD of the real feed, and of a service on a host of its own that says `usd` with a time so long ago. */
  async function openWith(service: { usd: number; ageSeconds: number } | undefined) {
    const answer = service && {
      price: service.usd,
      timestamp: Math.floor(Date.now() / 1_000) - service.ageSeconds,
      confidence: 0.99,
    }
    const standIn = await startPriceServiceStandIn(sendsJson({ coins: answer ? { eth: answer } : {} }))
    const prices = live.config.prices.map((price) =>
      price.key === 'ETH/USD' ? { ...price, http: [{ adapter: 'defillama' as const, id: 'eth' }] } : price,
    )
    const market = live.open({
      config: { ...live.config, prices },
      adapters: [createDefillama({ baseUrl: standIn.baseUrl })],
      sourceHosts: {
        isExempt: false,
        chains: new Map([
          ['base', [hostOf(live.proxies.base.url)]],
          ['optimism', [hostOf(live.proxies.optimism.url)]],
        ]),
        adapters: new Map([['defillama', 'prices.example']]),
      },
    })
    onTestFinished(async () => {
      market.close()
      await standIn.close()
    })
    await market.start()
    await waitUntil('the service was asked', () => standIn.requests.length > 0)
    return {
      eth: () => market.snapshot().price('ETH/USD'),
      usdc: () => market.snapshot().price('USDC/USD'),
      rules: () => market.health().prices.map(({ key, secondSource }) => `${key} ${secondSource}`),
    }
  }
  const feedUsd = 2_700

  test('prices by its feed while a service on another host agrees, and says what each price asks for', async () => {
    const { eth, rules } = await openWith({ usd: feedUsd * 1.002, ageSeconds: 5 })
    await waitUntil('ETH has a price', () => 'usdX18' in eth())
    expect(eth()).toMatchObject({ usdX18: BigInt(feedUsd) * oneUsdX18, spreadBps: 20n })
    expect(rules()).toEqual([
      'USDC/USD single',
      'USDX/USD single',
      'ETH/USD required',
      'TIDE/USD single',
      'SOL/USD single',
      'BTC/USD single',
      'TRX/USD single',
    ])
  })

  test.each([
    ['knows nothing of it', undefined, 'second_source_missing'],
    ['said it too long ago', { usd: feedUsd, ageSeconds: 3_600 }, 'second_source_missing'],
    ['says twice as much', { usd: 2 * feedUsd, ageSeconds: 5 }, 'deviation'],
  ])('refuses that price alone while the service %s', async (_name, service, reason) => {
    const { eth, usdc } = await openWith(service)
    const refusedWith = () => {
      const price = eth()
      return 'reason' in price ? price.reason : undefined
    }
    await waitUntil('ETH is refused', () => refusedWith() === reason)
    expect(usdc()).toHaveProperty('usdX18')
  })
})

describe('health', () => {
  test('keeps its schema over a real market', async () => {
    await waitUntil('all is well', () => live.market.health().status === 'ok')
    const health = live.market.health()
    expect(marketHealthSchema.parse(JSON.parse(JSON.stringify(health)))).toEqual(health)
    expect(new Set(health.prices.map(({ secondSource }) => secondSource))).toEqual(new Set(['exempt']))
  })
})

/** Within one percent of whole USD. */
function near(price: bigint | string, usd: bigint): boolean {
  if (typeof price === 'string') return false
  const difference = price > usd * oneUsdX18 ? price - usd * oneUsdX18 : usd * oneUsdX18 - price
  return difference * 100n < usd * oneUsdX18
}
