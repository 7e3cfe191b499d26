// Goal: a service learns at start that its configuration and its chains do not fit, setting by setting.
import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import { loadArtifacts } from '@causeway/localnet'
import { encodeDeployData } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  type ContractExpectations,
  checkContracts,
  checkLocalNodes,
  createJsonRpcClient,
} from '../src/index.ts'
import { type EvmTestbed, startEvmTestbed } from './evmTestbed.ts'

const nowhere = `0x${'12'.repeat(20)}` as const

let chain: EvmTestbed
let feed: Hex
let good: ContractExpectations

beforeAll(async () => {
  chain = await startEvmTestbed()
  feed = await deployFeed()
  good = {
    chainId: 31_337n,
    multicall3: { setting: 'base.multicall3', address: chain.bed.multicall3 },
    contracts: [{ setting: 'base.factory', address: chain.bed.uniswap.factory }],
    feeds: [{ setting: 'ETH/USD', address: feed, description: 'ETH / USD', decimals: 8 }],
    tokens: [{ setting: 'base.USDC', address: chain.token, decimals: 6 }],
    words: [],
  }
})
afterAll(() => chain.stop())
beforeEach(() => chain.proxy.set({ kind: 'pass' }))

async function deployFeed(): Promise<Hex> {
  const { PriceFeed } = await loadArtifacts()
  const { publicClient, walletClient } = chain.bed
  const hash = await walletClient.sendTransaction({
    data: encodeDeployData({ abi: PriceFeed.abi, bytecode: PriceFeed.bytecode, args: ['ETH / USD'] }),
  })
  const { contractAddress } = await publicClient.waitForTransactionReceipt({ hash })
  if (contractAddress === null || contractAddress === undefined) throw new Error('no feed was deployed')
  return `0x${contractAddress.slice(2).toLowerCase()}`
}

describe('checkContracts', () => {
  test('finds nothing where chain and configuration fit, in one batch after the chain ids', async () => {
    chain.proxy.resetCounters()
    expect(await checkContracts(chain.client(), good)).toEqual([])
    expect(chain.proxy.counters()).toMatchObject({
      requests: 2,
      callsByMethod: { eth_chainId: 1, eth_getCode: 4, eth_call: 1 },
    })
  })

  test('names every setting that does not fit, and nothing else', async () => {
    const problems = await checkContracts(chain.client(), {
      ...good,
      contracts: [...good.contracts, { setting: 'base.depository', address: nowhere }],
      feeds: [
        { setting: 'BTC/USD', address: feed, description: 'BTC / USD', decimals: 8 },
        { setting: 'USDC/USD', address: feed, description: 'ETH / USD', decimals: 18 },
        { setting: 'DAI/USD', address: chain.token, description: 'DAI / USD', decimals: 8 },
      ],
      tokens: [
        { setting: 'base.DAI', address: chain.token, decimals: 18 },
        { setting: 'base.NONE', address: nowhere, decimals: 18 },
        { setting: 'base.ODD', address: chain.bed.uniswap.factory, decimals: 18 },
      ],
      words: [{ setting: 'base.router', address: chain.token, getter: 'depository', word: nowhere }],
    })
    expect(problems).toEqual([
      'base.depository: there is no contract on base',
      'base.NONE: there is no contract on base',
      'BTC/USD: description() is not the configured one',
      'DAI/USD: description() is not the configured one',
      'USDC/USD: decimals() is not the configured one',
      'DAI/USD: decimals() is not the configured one',
      'base.DAI: decimals() is not the configured one',
      'base.ODD: decimals() is not the configured one',
      'base.router: depository() is not the configured one',
    ])
  })

  test('names a missing Multicall3, through which nothing else can be read', async () => {
    const multicall3 = { setting: 'base.multicall3', address: nowhere }
    expect(await checkContracts(chain.client(), { ...good, multicall3 })).toEqual([
      'base.multicall3: there is no contract on base',
    ])
  })

  test('finds the one endpoint of several that is on another chain', async () => {
    await chain.proxy.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'eth_chainId' ? '0xa' : result),
    })
    const problems = await checkContracts(twoEndpoints(), good)
    expect(problems).toEqual(['httpRpcUrl of base: behind-proxy is not on chain 31337'])
  })

  test('goes on without an endpoint that is down, and cannot tell anything when all are', async () => {
    await chain.proxy.set({ kind: 'refuse' })
    expect(await checkContracts(twoEndpoints(), good)).toEqual([])
    await expect(checkContracts(chain.client(), good)).rejects.toBeInstanceOf(UpstreamUnavailableError)
  })

  test.each([
    ['nonsense', { kind: 'html200' }],
    [
      'other shapes',
      {
        kind: 'lie',
        rewrite: ({ method }: { method: string }, result: unknown) => (method === 'eth_chainId' ? result : 5),
      },
    ],
  ] as const)('does not blame the configuration when a node answers %s', async (_name, mode) => {
    await chain.proxy.set(mode)
    await expect(checkContracts(chain.client(), good)).rejects.toBeInstanceOf(UpstreamUnavailableError)
  })
})

describe('checkLocalNodes', () => {
  test('accepts anvil', async () => {
    expect(await checkLocalNodes('local', [chain.client()])).toEqual([])
  })

  test('refuses any other node, and one that does not answer', async () => {
    await chain.proxy.set({ kind: 'lie', rewrite: () => 'Geth/v1.14.0-stable/linux-amd64/go1.22' })
    expect(await checkLocalNodes('local', [twoEndpoints()])).toEqual([
      'httpRpcUrl of base: behind-proxy is no anvil node, as ENVIRONMENT=local demands',
    ])
    await chain.proxy.set({ kind: 'refuse' })
    expect(await checkLocalNodes('local', [twoEndpoints()])).toEqual([
      'httpRpcUrl of base: behind-proxy does not answer',
    ])
  })

  test('asks nothing in other environments', async () => {
    chain.proxy.resetCounters()
    expect(await checkLocalNodes('mainnets.prod', [chain.client()])).toEqual([])
    expect(chain.proxy.counters().requests).toBe(0)
  })
})

function twoEndpoints() {
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: [
      { url: chain.bed.anvil.url, alias: 'direct' },
      { url: chain.proxy.url, alias: 'behind-proxy' },
    ],
    now: Date.now,
  })
  onTestFinished(() => client.close())
  return client
}
