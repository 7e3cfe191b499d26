// Goal: what the service says about chains, currencies and prices is what is on chain. Method: the real
// service over real nodes; each answer is compared with contracts read by another library.
import type { Hex } from '@causeway/core'
import { checksumAddress } from '@causeway/core/encodings'
import { movePrice, priceFeedAbi } from '@causeway/localnet'
import { marketHealthSchema } from '@causeway/market'
import { erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chainsResponseSchema } from '../src/http/wire/chainsResponse.ts'
import { currenciesResponseSchema } from '../src/http/wire/currencies.ts'
import { post, readError, readOk, send } from './serviceSupport/callService.ts'
import { currencyAddress, nativeAddress, type UserChain } from './serviceSupport/localRequest.ts'
import { gasPriceAfter, type StillService, startStillService } from './serviceSupport/stillService.ts'

const baseFeeWei = 10n ** 9n

let still: StillService

beforeAll(async () => {
  still = await startStillService()
  await still.settle(baseFeeWei)
})
afterAll(() => still?.stop())

const chainName = (chainId: number): UserChain => (chainId === 10 ? 'optimism' : 'base')
const nodeOf = (chainId: number) => still.network.chains[chainName(chainId)].chain.client

/** Facts of a token, from its contract. */
async function onChain(chainId: number, address: Hex) {
  const contract = { address, abi: erc20Abi } as const
  const node = nodeOf(chainId)
  return {
    symbol: await node.readContract({ ...contract, functionName: 'symbol' }),
    decimals: await node.readContract({ ...contract, functionName: 'decimals' }),
  }
}

/** Answers name no endpoint: some hold keys in their path. */
function expectNoEndpoint(text: string): void {
  expect(text).not.toMatch(/127\.0\.0\.1|localhost/)
}

test('Q-120: the service serves the pages of its repository', async () => {
  const list = await send(`${still.url}/llms.txt`)
  expectNoEndpoint(list.text)
  expect([list.status, list.text]).toEqual([200, expect.stringContaining('(docs/guides/tron.md)')])
  const page = await send(`${still.url}/docs/guides/tron.md`)
  expect([page.status, page.text]).toEqual([200, expect.stringMatching(/^# Quotes from and to Tron\n/)])
})

describe('GET /chains', () => {
  test('lists both user chains with the contracts that stand on them', async () => {
    const answer = await send(`${still.url}/chains`)
    const { chains } = readOk(answer, chainsResponseSchema)
    expectNoEndpoint(answer.text)
    expect(chains.map(({ id, vmType, disabled }) => [id, vmType, disabled])).toEqual([
      [8_453, 'evm', false],
      [10, 'evm', false],
    ])
    for (const { id, protocol, contracts, solverAddresses } of chains) {
      expect(protocol.v2.chainId).toBe(chainName(id))
      for (const address of [protocol.v2.depository, contracts.multicall3]) {
        // CAST: compared with what has code right below.
        expect(await nodeOf(id).getCode({ address: address as Hex }), `${address} on ${id}`).toMatch(/^0x../)
      }
      expect(solverAddresses).toEqual([still.network.keys.fillWallet.address])
    }
  })

  test('describes every token as its contract does', async () => {
    const { chains } = readOk(await send(`${still.url}/chains`), chainsResponseSchema)
    for (const { id, currency, erc20Currencies, solverCurrencies, featuredTokens } of chains) {
      expect(currency).toMatchObject({ address: nativeAddress, decimals: 18, supportsBridging: true })
      expect(erc20Currencies.map(({ symbol }) => symbol)).toEqual(['WETH', 'USDC', 'USDX', 'TIDE'])
      for (const { address, symbol, decimals } of erc20Currencies) {
        // CAST: the local network has EVM chains only.
        expect(await onChain(id, address as Hex)).toEqual({ symbol, decimals })
      }
      expect(solverCurrencies.map(({ symbol }) => symbol)).toEqual(['ETH', 'USDC'])
      expect(featuredTokens.map(({ symbol }) => symbol)).toEqual(['USDC'])
    }
  })
})

describe('POST /currencies/v2', () => {
  const find = async (body: object) =>
    readOk(await post(`${still.url}/currencies/v2`, body), currenciesResponseSchema)
  const names = async (body: object) =>
    (await find(body)).map(({ chainId, symbol }) => `${symbol} on ${chainId}`)
  const tide = () => currencyAddress(still.network, 'base', 'TIDE')
  const usdc = () => currencyAddress(still.network, 'base', 'USDC')
  const checksummed = () => checksumAddress(tide())

  test('without a filter lists every currency of every chain', async () => {
    const all = await find({})
    expect(all).toHaveLength(10)
    expect(all[0]).toEqual({
      chainId: 8_453,
      address: nativeAddress,
      symbol: 'ETH',
      name: 'Ether',
      decimals: 18,
      vmType: 'evm',
      metadata: { logoURI: '', verified: true, isNative: true },
    })
  })

  const cases: readonly (readonly [string, () => object, readonly string[]])[] = [
    [
      'chainIds',
      () => ({ chainIds: [10] }),
      ['ETH on 10', 'WETH on 10', 'USDC on 10', 'USDX on 10', 'TIDE on 10'],
    ],
    ['several chainIds, one of them unknown', () => ({ chainIds: [10, 999], term: 'tide' }), ['TIDE on 10']],
    [
      'part of a symbol in any case',
      () => ({ term: 'uSd' }),
      ['USDC on 8453', 'USDX on 8453', 'USDC on 10', 'USDX on 10'],
    ],
    ['part of a name', () => ({ term: 'wrapped' }), ['WETH on 8453', 'WETH on 10']],
    ['an address', () => ({ address: tide() }), ['TIDE on 8453', 'TIDE on 10']],
    ['an address in another case', () => ({ address: checksummed() }), ['TIDE on 8453', 'TIDE on 10']],
    ['an asset', () => ({ currencyId: 'eth' }), ['ETH on 8453', 'WETH on 8453', 'ETH on 10', 'WETH on 10']],
    [
      'tokens by chain and address',
      () => ({ tokens: [`10:${tide()}`, `8453:${usdc()}`] }),
      ['USDC on 8453', 'TIDE on 10'],
    ],
    ['filters that exclude each other', () => ({ currencyId: 'eth', term: 'tide' }), []],
    ['a token without chain', () => ({ tokens: [tide()] }), []],
    ['a limit', () => ({ limit: 2, chainIds: [10] }), ['ETH on 10', 'WETH on 10']],
    [
      'a member nobody knows beside one',
      () => ({ term: 'tide', colour: 'blue' }),
      ['TIDE on 8453', 'TIDE on 10'],
    ],
  ]
  test.each(cases)('filters by %s', async (_name, body, expected) => {
    expect(await names(body())).toEqual(expected)
  })

  test.each([
    ['a limit of zero', 'limit', { limit: 0 }],
    ['a limit above 100', 'limit', { limit: 101 }],
    ['a limit as text', 'limit', { limit: '5' }],
    ['chain ids as text', 'chainIds', { chainIds: ['10'] }],
    ['201 chain ids', 'chainIds', { chainIds: Array.from({ length: 201 }, (_, index) => index + 1) }],
    ['a term of 129 characters', 'term', { term: 'x'.repeat(129) }],
    ['tokens that are no list', 'tokens', { tokens: 'USDC' }],
  ])('refuses %s and names the member', async (_name, field, body) => {
    const answer = await post(`${still.url}/currencies/v2`, body)
    expect(answer.status).toBe(400)
    expect(readError(answer)).toMatchObject({ errorCode: 'INVALID_REQUEST' })
    expect(readError(answer).errorData).toContain(field)
  })
})

describe('GET /currencies/token/price/v2', () => {
  const tokenPrice = (query: string) => send(`${still.url}/currencies/token/price/v2?${query}`)
  const priceOf = async (chainId: number, address: string) => {
    const answer = await tokenPrice(`chainId=${chainId}&address=${address}`)
    return readOk(answer, z.object({ price: z.string() })).price
  }

  test('is the price of feed and pools, the same for native and wrapped on every chain', async () => {
    await movePrice(still.network, { price: 'TIDE/USD', answer: 512_000_000n })
    await still.refreshesUntil('base', (snapshot) => {
      const tide = snapshot.price('TIDE/USD')
      return !('reason' in tide) && tide.usdX18 > 5n * 10n ** 18n
    })
    const ether = await priceOf(8_453, nativeAddress)
    expect(Number(ether)).toBeCloseTo(2_500, 6)
    expect(await priceOf(10, currencyAddress(still.network, 'optimism', 'wrapped'))).toBe(ether)
    expect(await priceOf(8_453, currencyAddress(still.network, 'base', 'USDC'))).toBe('1.0')
    expect(Number(await priceOf(10, currencyAddress(still.network, 'optimism', 'TIDE')))).toBeCloseTo(5.12, 6)
  })

  test.each([
    ['an unknown chain', `chainId=7&address=${nativeAddress}`, 'UNSUPPORTED_CHAIN'],
    ['an unknown currency', `chainId=10&address=0x${'12'.repeat(20)}`, 'UNSUPPORTED_CURRENCY'],
    ['something that is no address', 'chainId=10&address=USDC', 'UNSUPPORTED_CURRENCY'],
    ['no address', 'chainId=10', 'INVALID_REQUEST'],
    ['a chain that is no number', `chainId=ten&address=${nativeAddress}`, 'INVALID_REQUEST'],
  ])('refuses %s', async (_name, query, errorCode) => {
    const answer = await tokenPrice(query)
    expect(answer.status).toBe(400)
    expect(readError(answer)).toMatchObject({ errorCode, statusCode: 400, errorData: expect.any(String) })
  })
})

describe('GET /prices/health', () => {
  const health = async () => {
    const answer = await send(`${still.url}/prices/health`)
    expectNoEndpoint(answer.text)
    return readOk(answer, marketHealthSchema)
  }

  test('shows each feed with the answer that it has on chain', async () => {
    const { status, prices } = await health()
    expect(status).toBe('ok')
    const keys = ['USDC/USD', 'USDX/USD', 'ETH/USD', 'TIDE/USD', 'SOL/USD', 'BTC/USD', 'TRX/USD'] as const
    expect(prices.map(({ key }) => key)).toEqual(keys)
    const { feeds } = still.network.deployment.base
    for (const key of keys) {
      const price = prices.find((one) => one.key === key)
      const feed = price?.sources.find(({ kind }) => kind === 'feed')
      const [, answer] = await nodeOf(8_453).readContract({
        address: feeds[key],
        abi: priceFeedAbi,
        functionName: 'latestRoundData',
      })
      expect(feed?.source).toBe(`feed base ${feeds[key]}`)
      expect(Number(feed?.usd)).toBe(Number(answer) / 1e8)
      expect(price?.confidence).toBe('fresh')
    }
  })

  test('shows the pool as the second source of what is traded against dollars', async () => {
    const { prices } = await health()
    const pools = prices.filter(({ sources }) =>
      sources.some(({ kind, state }) => kind === 'pool' && state === 'fresh'),
    )
    expect(pools.map(({ key }) => key)).toEqual(['USDX/USD', 'ETH/USD', 'TIDE/USD'])
  })

  test('shows the head, the gas price and the mirrored pools of each chain', async () => {
    await still.settle(baseFeeWei)
    const { chains } = await health()
    for (const { chainId, state, head, gas, pools } of chains) {
      const block = await nodeOf(chainId).getBlock()
      expect([state, head?.number, head?.hash]).toEqual(['ok', block.number.toString(), block.hash])
      expect(gas).toMatchObject({ expectedWei: gasPriceAfter(baseFeeWei).toString() })
      expect(pools).toMatchObject({ configured: 5, mirrored: 5 })
    }
    expect(chains.map(({ chainId }) => chainId)).toEqual([8_453, 10])
  })

  test('says which price is refused, why, and that the service is degraded', async () => {
    await movePrice(still.network, { price: 'TIDE/USD', answer: 900_000_000n, only: 'feed' })
    await still.refreshesUntil('base', (snapshot) => 'reason' in snapshot.price('TIDE/USD'))
    const { status, prices } = await health()
    expect(status).toBe('degraded')
    const refused = prices.filter(({ confidence }) => confidence === 'refused')
    expect(refused.map(({ key, refusal }) => [key, refusal])).toEqual([['TIDE/USD', 'deviation']])
  })
})

test('GET /lives/v1 says ok', async () => {
  const answer = await send(`${still.url}/lives/v1`)
  expect([answer.status, answer.text]).toEqual([200, '{"status":"ok"}'])
})
