// Goal: a service learns at start that its configuration and its chains do not fit, setting by setting.
import { readFileSync } from 'node:fs'
import { connectQuotingChain, loadChains, networkContradictions, resolvePlaceholders } from '@causeway/chains'
import { DomainError, type Hex, UpstreamUnavailableError } from '@causeway/core'
import { quoteFileSchema } from '@causeway/core/config'
import {
  type ContractExpectations,
  checkContracts,
  checkLocalNodes,
  codeProblems,
  type ExpectedCode,
  expectedCodes,
} from '@causeway/families'
import { loadArtifacts } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { encodeDeployData, keccak256 } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type EvmTestbed, startEvmTestbed } from '../families/evmTestbed.ts'

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
    codes: [],
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
    expect(await checkLocalNodes('local', chain.client())).toEqual([])
  })

  test('O-32: refuses any other node, and can tell nothing of one that does not answer', async () => {
    await chain.proxy.set({ kind: 'lie', rewrite: () => 'Geth/v1.14.0-stable/linux-amd64/go1.22' })
    expect(await checkLocalNodes('local', twoEndpoints())).toEqual([
      'httpRpcUrl of base: behind-proxy is no anvil node, as ENVIRONMENT=local demands',
    ])
    await chain.proxy.set({ kind: 'refuse' })
    await expect(checkLocalNodes('local', chain.client())).rejects.toBeInstanceOf(UpstreamUnavailableError)
  })

  test('asks nothing in other environments', async () => {
    chain.proxy.resetCounters()
    expect(await checkLocalNodes('mainnets.prod', chain.client())).toEqual([])
    expect(chain.proxy.counters().requests).toBe(0)
  })
})

const localFile = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../configs/${name}.local.json`, import.meta.url), 'utf8'))

test.each(['solana', 'bitcoin', 'tron', 'hyperliquid', 'lighter'])(
  'O-32: nothing can be told of %s while its endpoint does not answer, so that no start waits for it',
  async (key) => {
    const [silent, chainsJson] = ['http://127.0.0.1:1', localFile('chains')]
    const variables = { [`${key.toUpperCase()}_RPC_URL`]: silent, LIGHTER_EXPLORER_API_URL: silent }
    const { chains } = loadChains({ environment: 'local', chainsJson, variables })
    const quoted = quoteFileSchema.parse(resolvePlaceholders(localFile('quote'), variables).value)
    const [listed, config] = [chains.get(key), quoted.chains[key]]
    const client = listed && connectQuotingChain(listed)
    if (listed === undefined || config === undefined || client === undefined) throw new Error('not listed')
    onTestFinished(() => client.close())
    for (const isLocal of [true, false])
      await expect(networkContradictions(listed, config, client, isLocal)).rejects.toBeInstanceOf(DomainError)
  },
)

function twoEndpoints() {
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: [
      { url: chain.bed.anvil.url, alias: 'direct' },
      { url: chain.proxy.url, alias: 'behind-proxy' },
    ],
  })
  onTestFinished(() => client.close())
  return client
}

describe('codeProblems', () => {
  const isFactory = (code: Hex) => keccak256(code) === factoryHash
  let factoryHash: Hex
  let expected: readonly ExpectedCode[]
  beforeAll(async () => {
    factoryHash = keccak256(await codeAt(chain.bed.uniswap.factory))
    expected = [{ setting: 'base.factory', address: chain.bed.uniswap.factory, isRight: isFactory }]
  })

  async function codeAt(address: Hex): Promise<Hex> {
    const code = await chain.bed.publicClient.getCode({ address })
    if (code === undefined) throw new Error('no code')
    return code
  }

  test('finds nothing where every endpoint shows the expected code', async () => {
    expect(await codeProblems({ client: twoEndpoints(), expected, threshold: 2 })).toEqual([])
  })

  test('names the setting at which another contract stands, and the one at which none does', async () => {
    const problems = await codeProblems({
      client: chain.client(),
      threshold: 1,
      expected: [
        { setting: 'base.token', address: chain.token, isRight: isFactory },
        { setting: 'base.none', address: nowhere, isRight: isFactory },
      ],
    })
    expect(problems).toEqual([
      expect.stringContaining('shows other code at base.token'),
      expect.stringContaining('shows no contract at base.none'),
    ])
  })

  test('O-151: an endpoint that lies for another contract is outvoted by any that does not', async () => {
    const code = await codeAt(chain.bed.uniswap.factory)
    await chain.proxy.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'eth_getCode' ? code : result),
    })
    const placed = [{ setting: 'base.token', address: chain.token, isRight: isFactory }]
    expect(await codeProblems({ client: chain.client(), expected: placed, threshold: 1 })).toEqual([])
    const problems = await codeProblems({ client: twoEndpoints(), expected: placed, threshold: 2 })
    expect(problems).toEqual([expect.stringContaining('shows other code at base.token')])
  })

  test('one endpoint that hides the right contract is named, whatever the others show', async () => {
    await chain.proxy.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'eth_getCode' ? '0xfe' : result),
    })
    const problems = await codeProblems({ client: twoEndpoints(), expected, threshold: 2 })
    expect(problems).toEqual([expect.stringMatching(/behind-proxy shows other code at base\.factory/)])
  })

  test('too few answers tell nothing', async () => {
    await chain.proxy.set({ kind: 'refuse' })
    const asked = codeProblems({ client: twoEndpoints(), expected, threshold: 2 })
    await expect(asked).rejects.toBeInstanceOf(UpstreamUnavailableError)
  })
})

describe('expectedCodes', () => {
  const code: Hex = '0x6001'
  const contracts = [{ name: 'Hub', setting: 'hub: hubAddress', address: nowhere }] as const
  const isRight = (codeHashes: Readonly<Record<string, string>> | undefined, isKnown: boolean, found: Hex) =>
    expectedCodes(contracts, { isKnown: () => isKnown, codeHashes })[0]?.isRight(found)

  test('O-151: without a recorded hash only known code is right', () => {
    expect(isRight(undefined, true, code)).toBe(true)
    expect(isRight(undefined, false, code)).toBe(false)
  })

  test('a recorded hash counts in place of what is known, for its address alone', () => {
    expect(isRight({ [nowhere]: keccak256(code) }, false, code)).toBe(true)
    expect(isRight({ [nowhere]: keccak256(code) }, true, '0x6002')).toBe(false)
    expect(isRight({ [`0x${'13'.repeat(20)}`]: keccak256(code) }, false, code)).toBe(false)
  })

  test('what is left unchecked must be a contract all the same', () => {
    expect(isRight({ [nowhere]: 'unchecked' }, false, code)).toBe(true)
    expect(isRight({ [nowhere]: 'unchecked' }, false, '0x')).toBe(false)
  })
})
