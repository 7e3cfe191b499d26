import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Rehearsal } from '@causeway/localnet'
import { rehearsalEnvironment, rehearsedCoins } from '@causeway/localnet'
import { z } from 'zod'

type Markets = Rehearsal['markets']
type Market = Markets['base']
type Members = Record<string, unknown>

/** The operator's budget for an hour, in the smallest unit of USDC. */
const hourlyUsdc = '150000000000'
const source = 'rehearsal'

/**
 * Has the operator's command draft the files into `folder`, and fills in what he knows before he deploys anything: the
 * chains of this machine stand for the public ones.
 * @param root of the repository, whose compiled command is run
 */
export async function writeFiles(folder: string, root: string, markets: Markets): Promise<void> {
  const flags = ['--chains', Object.keys(markets).join(','), '--environment', rehearsalEnvironment]
  const command = join(root, 'apps/quote-api/dist/cli.js')
  await promisify(execFile)(process.execPath, [command, 'config', 'draft', ...flags, '--out', folder])
  for (const [name, fill] of Object.entries(fillers)) {
    const path = join(folder, `${name}.${rehearsalEnvironment}.json`)
    const filled = fill(JSON.parse(await readFile(path, 'utf8')), markets)
    await writeFile(path, `${JSON.stringify(filled, null, 2)}\n`)
  }
}

const chainsFile = z.looseObject({ chains: z.array(z.looseObject({ id: z.string() })) })
const hubFile = z.looseObject({})
const quoteFile = z.looseObject({
  assets: z.array(z.looseObject({ priceKey: z.string() })),
  prices: z.array(z.looseObject({ key: z.string() })),
  chains: z.record(
    z.string(),
    z.looseObject({
      feeModel: z.looseObject({}),
      currencies: z.array(z.looseObject({ symbol: z.string() })),
    }),
  ),
})
const allocatorFile = z.looseObject({ depositories: z.array(z.looseObject({ chain: z.string() })) })

const marketOf = (markets: Markets, chain: string): Market => {
  const market = Object.values(markets).find(({ chainKey }) => chainKey === chain)
  if (market === undefined) throw new Error(`the rehearsal has no ${chain}`)
  return market
}

const depth = { mode: 'depth', blocks: 2 }

/** By file. The solver's has nothing to fill in. */
const fillers: Readonly<Record<string, (json: unknown, markets: Markets) => object>> = {
  chains(json) {
    const { chains, ...rest } = chainsFile.parse(json)
    const finality = { mode: 'depth-and-time', blocks: 2, seconds: 0 }
    return { ...rest, chains: chains.map((chain) => ({ ...chain, finality })) }
  },
  'chains.hub'(json) {
    return { ...hubFile.parse(json), finality: depth, auroraFinality: depth, recoveryDelaySeconds: 60 }
  },
  quote(json, markets) {
    const { assets, prices, chains, ...rest } = quoteFile.parse(json)
    const filled = Object.entries(chains).map(([key, chain]) => {
      const market = marketOf(markets, key)
      const { currencies } = chain
      return [
        key,
        {
          // No exchange and no feed of the sequencer is deployed there.
          ...without(chain, ['uniswapV3', 'sequencerUptimeFeed']),
          multicall3: market.multicall3,
          wrappedNative: market.wrappedNative,
          // Its node makes a block for each transaction too; timestamps of blocks are a second apart at least.
          blockTimeMs: 1_000,
          headMaxAgeMs: 15_000,
          // Nobody else transacts there, so that a wallet's own tips of a gwei are what blocks cost.
          feeModel: {
            ...chain.feeModel,
            gasPriceOracle: market.gasPriceOracle,
            ceilingFromWei: '10000000000',
          },
          pinPolicy: [{ upToMicroUsd: '1000000000', blocks: 0 }, { blocks: 1 }],
          currencies: currencies.flatMap((currency) => currencyOf(currency, market)),
        },
      ] as const
    })
    return {
      ...rest,
      assets: assets.filter(({ priceKey }) => isRehearsed(priceKey)),
      prices: prices.flatMap((price) => priceOf(price, markets)),
      chains: Object.fromEntries(filled),
    }
  },
  allocator(json, markets) {
    const { depositories, ...rest } = allocatorFile.parse(json)
    const capped = depositories.map((one) => ({
      ...one,
      caps: { [marketOf(markets, one.chain).usdc]: hourlyUsdc },
    }))
    return { ...rest, firstBlock: 0, depositories: capped }
  },
}

type RehearsedPrice = keyof typeof rehearsedCoins

function isRehearsed(key: string): key is RehearsedPrice {
  return Object.hasOwn(rehearsedCoins, key)
}

function priceOf(price: Members & { readonly key: string }, { base }: Markets): readonly object[] {
  const { key } = price
  if (!isRehearsed(key)) return []
  const feed = {
    chain: base.chainKey,
    address: base.feeds[key],
    description: key.replace('/', ' / '),
    decimals: 8,
    heartbeatSeconds: 3_600,
    source,
  }
  return [{ ...price, feeds: [feed], pools: [], http: [{ adapter: 'defillama', id: rehearsedCoins[key] }] }]
}

/** A token of the same symbol stands elsewhere, or not at all. */
function currencyOf(currency: Members & { readonly symbol: string }, market: Market): readonly object[] {
  const { symbol } = currency
  if (symbol === 'ETH') return [currency]
  const addresses = new Map([
    ['WETH', market.wrappedNative],
    ['USDC', market.usdc],
  ])
  const address = addresses.get(symbol)
  return address === undefined ? [] : [{ ...currency, address, source }]
}

function without(members: object, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}
