import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseConfigSet, readRawConfigSet } from './configFiles.ts'
import { findBrokenReferences } from './crossReferences.ts'

const folder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'configs')
const mainnets = readRawConfigSet(folder, 'mainnets.prod')
const oneAddress = `0x${'1'.repeat(40)}`
const weth = '0x4200000000000000000000000000000000000006'

/** A deep copy in which the value at `path` (members and positions, joined by dots) is another one. */
function withValue(target: unknown, path: readonly string[], value: unknown): unknown {
  const [member, ...rest] = path
  if (member === undefined) return value
  const copy: Record<string, unknown> = { ...Object(target) }
  copy[member] = withValue(copy[member], rest, value)
  return Array.isArray(target) ? Object.values(copy) : copy
}

/** Problems after one change of the mainnet files, which agree. */
function problemsWith(path: string, value: unknown): readonly string[] {
  const { chains, hub, quote } = { ...mainnets, ...Object(withValue(mainnets, path.split('.'), value)) }
  return findBrokenReferences(parseConfigSet('mainnets.prod', { chains, hub, quote }))
}

const base = 'quote.chains.base'
const optimism = 'quote.chains.optimism'

describe('agreement of the configuration files', () => {
  test('finds nothing wrong in files that agree', () => {
    expect(problemsWith('quote.orderLifetimeSeconds', 3_600)).toEqual([])
  })

  test.each<[what: string, path: string, value: unknown, problem: string]>([
    ['a chain that is listed twice', 'chains.chains.1.id', 'ethereum', 'chain ethereum is listed twice'],
    ['a hub chain id of two chains', 'chains.chains.1.hubChainId', '1', 'hub chain id 1 is used twice'],
    [
      'a quote chain unknown to the chains file',
      'chains.chains.1.id',
      'op',
      'quote chain optimism is not in the',
    ],
    ['two ids of one chain', `${base}.chainId`, 1, 'quote chain base has id 1, the chains file 8453'],
    ['an asset without price', 'quote.assets.0.priceKey', 'EUR/USD', 'asset usdc has no price EUR/USD'],
    ['two classes of one asset', 'quote.assets.0.class', 'major', 'asset usdc is major, its price stable'],
    [
      'shares that do not add up',
      `${base}.currencies.0.targetShareBps`,
      2_999,
      'shares of eth add up to 9999',
    ],
    ['inventory without rule', 'quote.assets.1.inventory', undefined, 'but has no inventory rule'],
    [
      'a feed on an unknown chain',
      'quote.prices.0.feeds.0.chain',
      'moon',
      'reads a feed on moon, which is no quote chain',
    ],
    ['a price from an unlisted pool', 'quote.prices.1.pools.0.pool', oneAddress, 'which is no pool of base'],
    [
      'a price from a pool of other tokens',
      'quote.prices.1.pools.0.token',
      oneAddress,
      'does not hold 0x1111',
    ],
    ['a currency of an unknown asset', `${optimism}.currencies.1.asset`, 'gold', 'to the unknown asset gold'],
    [
      'an unlisted wrapped native',
      `${optimism}.wrappedNative`,
      oneAddress,
      'wrapped native currency is not listed',
    ],
    [
      'an unlisted native',
      `${optimism}.currencies.0.address`,
      oneAddress,
      'the native currency is not listed',
    ],
    [
      'a currency that is listed twice',
      `${base}.currencies.2.address`,
      weth,
      `currency ${weth} is listed twice`,
    ],
    ['a symbol of two currencies', `${optimism}.currencies.1.symbol`, 'ETH', 'the symbol ETH is used twice'],
    [
      'inventory without share',
      `${optimism}.currencies.1.solver`,
      true,
      'needs solver and targetShareBps together',
    ],
    [
      'a data fee without oracle',
      `${optimism}.feeModel`,
      { kind: 'op-stack' },
      'op-stack chain needs gasPriceOracle',
    ],
    [
      'a pool of an unlisted token',
      `${base}.uniswapV3.pools.1.token0`,
      oneAddress,
      'which is no currency of the chain',
    ],
    [
      'a pool with tokens out of order',
      `${base}.uniswapV3.pools.1.token1`,
      weth,
      'has its tokens in the wrong order',
    ],
    [
      'a spacing that the fee lacks',
      `${base}.uniswapV3.pools.1.tickSpacing`,
      10,
      'no valid pair of fee and spacing',
    ],
    [
      'a pin policy with a last bound',
      `${base}.pinPolicy.2.upToMicroUsd`,
      '99000000000',
      'only the last row',
    ],
    ['a pin policy that falls', `${base}.pinPolicy.1.seconds`, 1, 'does not rise from row to row'],
    [
      'a pin policy that asks for less than what its chain calls final',
      `${base}.pinPolicy.0.finalized`,
      true,
      'does not rise from row to row',
    ],
  ])('refuses %s', (_what, path, value, problem) => {
    expect(problemsWith(path, value).join('\n')).toContain(problem)
  })

  test('refuses a file of another environment', () => {
    expect(() => problemsWith('hub.environment', 'local')).toThrow(
      'chains.hub.mainnets.prod.json: environment: must be "mainnets.prod"',
    )
  })

  test('refuses a price that nothing feeds', () => {
    expect(problemsWith('quote.prices.0', { key: 'USDC/USD', class: 'stable', feeds: [] })).toEqual([
      'price USDC/USD has no source',
    ])
  })
})
