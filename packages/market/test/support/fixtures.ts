import { type CurrencyKey, type Hex, type PoolState, sqrtPriceX96FromAmounts } from '@causeway/core'
import { type QuoteFile, quoteFileSchema } from '@causeway/core/config'
import { type EthereumFeeFacts, EthereumFees, type GasPrice, gasShapes } from '@causeway/families/rules'
import type { ChainReading } from '../../src/chain/chainReading.ts'
import { feeReading } from '../../src/chain/chainSource.ts'

export const native = '0x0000000000000000000000000000000000000000'
export const weth = '0x4200000000000000000000000000000000000006'
export const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
export const ethFeed = '0x00000000000000000000000000000000000000f1'
export const usdcFeed = '0x00000000000000000000000000000000000000f2'
export const wethUsdcPool = '0x00000000000000000000000000000000000000aa'
const multicall3 = '0xca11bde05977b3631167028862be2a173976ca11'

const chain = (chainId: number, name: string) => ({
  chainId,
  name,
  displayName: name,
  blockTimeMs: 2_000,
  headMaxAgeMs: 20_000,
  multicall3,
  wrappedNative: weth,
  feeModel: { kind: 'eip1559' as const },
  uniswapV3: {
    factory: '0x33128a8fc17869897dce68ed026d694621f6fdfd',
    quoterV2: '0x3d4e44eb1374240ce5f1b871ab261cd16335b76a',
    pools: [{ address: wethUsdcPool, token0: weth, token1: usdc, feePips: 500, tickSpacing: 10 }],
    source: 'test',
  },
  pinPolicy: [{ blocks: 0 }],
  currencies: [
    {
      address: native,
      symbol: 'ETH',
      name: 'Ether',
      decimals: 18,
      asset: 'eth',
      solver: true,
      source: 'test',
    },
    {
      address: usdc,
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
      asset: 'usdc',
      solver: true,
      source: 'test',
    },
  ],
})

const feed = (address: string, description: string, heartbeatSeconds: number) => ({
  chain: 'base',
  address,
  description,
  decimals: 8,
  heartbeatSeconds,
  source: 'test',
})

/** Two chains; ETH/USD from a feed and a pool on base, USDC/USD from a feed on base. */
export const quoteFileInput = {
  environment: 'local',
  servers: [],
  schedule: { flatMicroUsd: '20000', sameAssetBps: 0, stableBps: 1, majorBps: 6, longtailBps: 15 },
  orderLifetimeSeconds: 3_600,
  quoteLifetimeSeconds: 60,
  swapImpactMaxBps: 500,
  rateLimits: { perKeyPerSecond: 0, perIpPerSecond: 0 },
  assets: [
    { id: 'eth', class: 'major', priceKey: 'ETH/USD' },
    { id: 'usdc', class: 'stable', priceKey: 'USDC/USD' },
  ],
  prices: [
    {
      key: 'ETH/USD',
      class: 'major',
      feeds: [feed(ethFeed, 'ETH / USD', 3_600)],
      pools: [{ chain: 'base', pool: wethUsdcPool, token: weth }],
      http: [{ adapter: 'defillama', id: 'coingecko:ethereum' }],
    },
    { key: 'USDC/USD', class: 'stable', feeds: [feed(usdcFeed, 'USDC / USD', 86_400)] },
  ],
  chains: { base: chain(8_453, 'base'), optimism: chain(10, 'optimism') },
}

export function quoteFile(change: (input: typeof quoteFileInput) => unknown = (input) => input): QuoteFile {
  return quoteFileSchema.parse(change(structuredClone(quoteFileInput)))
}

// CAST: built from every shape.
const noDataFees = Object.fromEntries(
  gasShapes.map((shape) => [shape, 0n]),
) as EthereumFeeFacts['l1DataFeeWei']

function gasPrice(expectedWei: bigint): GasPrice {
  return { expectedWei, maxFeePerGasWei: expectedWei * 2n, maxPriorityFeePerGasWei: 1n }
}

/** `seed` as every byte of a block hash. */
export function blockHash(seed: number): Hex {
  return `0x${(seed % 256).toString(16).padStart(2, '0').repeat(32)}`
}

/** A WETH/USDC pool at a whole number of USDC per ETH, deep enough to count. */
export function poolAt(usdPerEth: number, hash: Hex): PoolState {
  return {
    address: wethUsdcPool,
    token0: weth,
    token1: usdc,
    feePips: 500,
    tickSpacing: 10,
    sqrtPriceX96: sqrtPriceX96FromAmounts({ amount0: 10n ** 18n, amount1: BigInt(usdPerEth) * 10n ** 6n }),
    tick: 0,
    liquidity: 10n ** 18n,
    ticks: [],
    blockHash: hash,
  }
}

export type ReadingOptions = {
  readonly nowMs: number
  readonly block?: number
  readonly headAgeMs?: number
  /** `undefined`: endpoints contradict each other. */
  readonly gasWei?: bigint | undefined
  readonly gasCeilingWei?: bigint
  readonly inventory?: ReadonlyMap<CurrencyKey, bigint>
  /** USD with 8 fraction digits; `undefined`: the feed did not answer. */
  readonly ethAnswer?: bigint | undefined
  readonly usdcAnswer?: bigint
  readonly feedAgeSeconds?: number
  readonly poolUsdPerEth?: number | undefined
  readonly describedAs?: string
}

/** One reading of `base`, everything fresh and ETH at 2,000 USD unless said otherwise. */
export function baseReading(options: ReadingOptions): ChainReading {
  const { nowMs, block = 100, headAgeMs = 1_000, feedAgeSeconds = 10, gasCeilingWei = 10n ** 18n } = options
  const gasWei = 'gasWei' in options ? options.gasWei : 1_000_000n
  const { ethAnswer = 200_000_000_000n, usdcAnswer = 100_000_000n, describedAs = 'ETH / USD' } = options
  const timestampSeconds = Math.floor((nowMs - headAgeMs) / 1_000)
  const updatedAtSeconds = BigInt(timestampSeconds - feedAgeSeconds)
  const usdPerEth = 'poolUsdPerEth' in options ? options.poolUsdPerEth : 2_000
  const hash = blockHash(block)
  return {
    head: { number: BigInt(block), hash, timestampSeconds },
    fees: feeReading(
      gasWei === undefined
        ? undefined
        : { price: gasPrice(gasWei), ceilingWei: gasCeilingWei, tipFrom: 'agreed' },
      { l1DataFeeWei: noDataFees },
    ),
    inventory: options.inventory ?? new Map<CurrencyKey, bigint>([[`8453:${usdc}`, 5_000_000n]]),
    feeds: new Map([
      [
        ethFeed,
        {
          round:
            'ethAnswer' in options && options.ethAnswer === undefined
              ? undefined
              : { answer: ethAnswer, updatedAtSeconds },
          identity: { description: describedAs, decimals: 8 },
        },
      ],
      [
        usdcFeed,
        {
          round: { answer: usdcAnswer, updatedAtSeconds },
          identity: { description: 'USDC / USD', decimals: 8 },
        },
      ],
    ]),
    contractsAt: { block: BigInt(block), timestampSeconds },
    pools: usdPerEth === undefined ? [] : [poolAt(usdPerEth, hash)],
    poolsLive: true,
    poolProblems: new Map(),
  }
}

/** @throws Error for fees of another family, or refused ones */
export function evmFees(fees: unknown): EthereumFees {
  if (!(fees instanceof EthereumFees)) throw new Error('these are no fees of the family')
  return fees
}
