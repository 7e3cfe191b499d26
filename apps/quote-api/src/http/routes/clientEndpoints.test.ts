// Goal: what public clients look up beside quotes. Adversaries: who wants to see whose sponsor pays for a request
// that he can name, and who reads an operator's endpoint off a public list.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  marketWithPools,
  native,
  recipient,
  testRegistry,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'
import { linkedKey, testApiKeys, testSponsor } from '../../../test/fixtures/sponsor.ts'
import { quotedAmountsSchema, quotedSponsorshipSchema } from '../../requests/history/quotedAmounts.ts'
import type { RequestFilter } from '../../requests/history/requestFilter.ts'
import type { RequestRecord } from '../../requests/history/requestHistory.ts'
import { toStoredSponsorship } from '../../requests/orders/sponsoredOrderStore.ts'
import { toStoredOrder } from '../../requests/orders/storedOrder.ts'

async function openApp(options: TestAppOptions = {}) {
  const app = await testApp(options)
  onTestFinished(() => app.close())
  return app
}

async function get(url: string, options: TestAppOptions = {}) {
  const answer = await (await openApp(options)).inject({ url })
  return { status: answer.statusCode, json: answer.json(), text: answer.body }
}

describe('GET /requests/v3', () => {
  let kept: RequestRecord
  beforeAll(async () => {
    const sponsor = testSponsor(10n ** 12n)
    const app = await testApp({ ...sponsor })
    await app.inject({
      method: 'POST',
      url: '/quote',
      headers: { 'x-api-key': linkedKey },
      payload: {
        user,
        recipient,
        originChainId: chainA,
        destinationChainId: chainB,
        originCurrency: usdc,
        destinationCurrency: usdc,
        amount: '100000000',
        tradeType: 'EXACT_INPUT',
        subsidizeFees: true,
        referrer: 'an.app',
      },
    })
    await app.close()
    const [record] = sponsor.records
    if (record?.quote.sponsorship === undefined) throw new Error('a sponsored quote was not stored')
    const order = toStoredOrder(record)
    const sponsorship = toStoredSponsorship(record.quote.sponsorship)
    kept = {
      ...order,
      status: 'waiting',
      failReason: undefined,
      refundFailReason: undefined,
      depositAddress: undefined,
      supersededByRequestId: undefined,
      quoted: quotedAmountsSchema.parse(JSON.parse(order.quoted)),
      order: undefined,
      sponsorship: {
        sponsor: sponsorship.sponsor,
        quoted: quotedSponsorshipSchema.parse(JSON.parse(sponsorship.quoted)),
        debitMicroUsd: 40_000n,
        debitedMicroUsd: 40_000n,
        isHeldAtDeposit: false,
      },
      transactions: [],
      createdAtMs: 0,
      updatedAtMs: 0,
    }
  })

  async function ask(query: string, headers: Record<string, string> = {}, version = 'v3') {
    const filters: RequestFilter[] = []
    const app = await openApp({
      apiKeys: testApiKeys,
      history: {
        async list(filter) {
          filters.push(filter)
          return { requests: [kept], continuation: undefined }
        },
        isDepositAddress: async () => false,
        count: async () => 1,
      },
    })
    const answer = await app.inject({ url: `/requests/${version}${query}`, headers })
    return { status: answer.statusCode, json: answer.json(), filters }
  }

  test('shows a request that is named, without what is its sponsor’s to see', async () => {
    const { status, json, filters } = await ask(`?id=${kept.requestId}`)
    expect([status, json.requests[0].id]).toEqual([200, kept.requestId])
    expect(filters[0]).toMatchObject({ id: kept.requestId })
    expect(filters[0]?.apiKeyId).toBeUndefined()
    expect(json.requests[0].data).toMatchObject({ referrer: null })
    expect(json.requests[0].data).not.toHaveProperty('feeSponsorship')
  })

  test('shows the key’s own request whole, with the money that its sponsor paid', async () => {
    const { json, filters } = await ask(`?id=${kept.requestId}`, { 'x-api-key': linkedKey })
    expect(filters[0]?.apiKeyId).toBeUndefined()
    const { referrer, feeSponsorship } = json.requests[0].data
    expect(referrer).toBe('an.app')
    expect(feeSponsorship.actual.sponsorPayment).toEqual({
      amount: '40000',
      amountFormatted: '0.04',
      address: usdc,
      chainId: chainA,
    })
  })

  test('O-50: says in the words of each version that nothing failed', async () => {
    const reasons = async (version: string) => {
      const { json } = await ask(`?id=${kept.requestId}`, {}, version)
      const { failReason, refundFailReason } = json.requests[0].data
      return [failReason, refundFailReason]
    }
    expect([await reasons('v2'), await reasons('v3')]).toEqual([
      ['N/A', undefined],
      [null, null],
    ])
  })

  test.each(['', '?status=success', `?user=${user}`])(
    'lists nothing to who names nothing: "%s"',
    async (query) => {
      const { status, filters } = await ask(query)
      expect([status, filters]).toEqual([401, []])
    },
  )
})

describe('GET /chains', () => {
  const published = {
    publicRpcUrl: 'https://public.example/rpc',
    publicWebsocketUrl: 'wss://public.example/rpc',
    explorerUrl: 'https://explorer.example',
    explorerName: 'Explorer',
    iconUrl: 'https://pictures.example/chain.svg',
  }

  test('Q-147: names public endpoints and pictures as configured, and no other', async () => {
    const registry = testRegistry()
    const chains = registry.chains.map((chain) =>
      chain.chainId === chainA ? { ...chain, config: { ...chain.config, ...published } } : chain,
    )
    const { json } = await get('/chains', { registry: { ...registry, chains } })
    expect(json.chains[0]).toMatchObject({
      httpRpcUrl: published.publicRpcUrl,
      wsRpcUrl: published.publicWebsocketUrl,
      explorerUrl: published.explorerUrl,
      explorerName: published.explorerName,
      iconUrl: published.iconUrl,
    })
    expect(JSON.stringify(json.chains[1])).not.toMatch(/https?:|wss?:/)
  })
})

describe('what public clients look up', () => {
  test('/lives has the short name too', async () => {
    expect(await get('/lives?skipPostgres=1')).toMatchObject({ status: 200, json: { status: 'ok' } })
  })

  test('/currencies/token/price is a number where /v2 has digits', async () => {
    const query = `address=${native}&chainId=${chainA}`
    expect((await get(`/currencies/token/price?${query}`)).json).toEqual({ price: 2_500 })
    expect((await get(`/currencies/token/price/v2?${query}`)).json).toEqual({ price: '2500.0' })
  })

  test('/currencies/trending lists what is configured', async () => {
    const { json } = await get(`/currencies/trending?chainId=${chainB}&limit=2`)
    expect(json.map(({ chainId, symbol }: { chainId: number; symbol: string }) => [chainId, symbol])).toEqual(
      [
        [chainB, 'ETH'],
        [chainB, 'WETH'],
      ],
    )
  })

  test('/chains/liquidity tells what the solver holds of its own currencies', async () => {
    const { json } = await get(`/chains/liquidity?chainId=${chainA}`)
    expect(json.liquidity).toEqual([
      {
        chainId: chainA,
        currencyId: 'eth',
        symbol: 'ETH',
        address: native,
        decimals: 18,
        balance: '500000000000000000000',
        amountUsd: '1250000.000000',
      },
      {
        chainId: chainA,
        currencyId: 'usdc',
        symbol: 'USDC',
        address: usdc,
        decimals: 6,
        balance: '2000000000000',
        amountUsd: '2000000.000000',
      },
    ])
  })

  test('/chains/health and /swap-sources know the chains that are listed', async () => {
    expect((await get(`/chains/health?chainId=${chainA}`)).json).toEqual({ healthy: true })
    expect((await get('/chains/health')).json).toEqual({ healthy: true })
    expect((await get(`/swap-sources?chainId=${chainA}`)).json).toEqual({ sources: ['uniswap-v3'] })
    for (const path of ['/chains/health', '/chains/liquidity', '/swap-sources', '/currencies/trending']) {
      expect((await get(`${path}?chainId=1`)).json).toMatchObject({ errorCode: 'UNSUPPORTED_CHAIN' })
    }
  })

  test('/config/v2 bounds what can be bridged by what the solver can pay', async () => {
    const route = `originChainId=${chainA}&destinationChainId=${chainB}&currency=usdc`
    const rich = { facts: { balance: 10n ** 15n }, fillWallet: recipient }
    const { json } = await get(`/config/v2?${route}&user=${user}`, rich)
    const capacity = '1900000000000'
    expect(json).toMatchObject({
      enabled: true,
      user: { balance: '1000000000000000', maxBridgeAmount: capacity },
      solver: { address: recipient, balance: '2000000000000', capacityPerRequest: capacity },
      supportsExternalLiquidity: false,
    })
    expect(Number(json.fee)).toBeGreaterThan(0)
    const poor = await get(`/config/v2?${route}&user=${user}`, { facts: { balance: 1n } })
    expect(poor.json.user).toEqual({ balance: '1', maxBridgeAmount: '0' })
    expect((await get(`/config/v2?${route}`)).json).not.toHaveProperty('user')
    expect((await get(`/config/v2?${route}&user=me`)).json).toMatchObject({ errorCode: 'INVALID_ADDRESS' })
  })

  test('Q-109: /config/v2 tells the fee in the currency that is moved', async () => {
    const route = `originChainId=${chainA}&destinationChainId=${chainB}&currency=tide`
    const { json } = await get(`/config/v2?${route}`, { market: { current: marketWithPools() } })
    // At 4 USD per TIDE, of 18 decimals, it is more than a cent. The solver takes USDC, of 6 decimals.
    expect(BigInt(json.fee)).toBeGreaterThan(10n ** 18n / 400n)
  })

  test('Q-109: /config/v2 takes the zero address for the native currency, and for no user', async () => {
    const route = `originChainId=${chainA}&destinationChainId=${chainB}`
    const plain = await get(`/config/v2?${route}`)
    expect(plain.status).toBe(200)
    expect((await get(`/config/v2?${route}&currency=${native}`)).json).toEqual(plain.json)
    // A client that has no user sends it.
    expect((await get(`/config/v2?${route}&user=${native}`)).json).toEqual(plain.json)
  })

  test('Q-111: /currencies/v1 lists by asset, and what is not served names what is', async () => {
    const app = await openApp()
    const payload = { limit: 100 }
    const flat = (await app.inject({ method: 'POST', url: '/currencies/v2', payload })).json()
    const grouped = (await app.inject({ method: 'POST', url: '/currencies/v1', payload })).json()
    expect(grouped.length).toBeLessThan(flat.length)
    const members = grouped.flat().map(({ groupID, ...currency }: { groupID: string }) => currency)
    expect(members).toHaveLength(flat.length)
    expect(members).toEqual(expect.arrayContaining(flat))
    for (const group of grouped)
      expect(new Set(group.map(({ groupID }: { groupID: string }) => groupID)).size).toBe(1)
    for (const [method, url, named] of [
      ['GET', `/chains/${chainA}/currencies/${usdc}/chart`, 'prices'],
      ['POST', '/execute/swap/multi-input', '/quote/v2'],
      ['POST', '/fast-fill', 'deposit'],
    ] as const) {
      const answer = await app.inject({ method, url, ...(method === 'POST' && { payload: {} }) })
      expect([answer.statusCode, answer.json().errorCode]).toEqual([404, 'NOT_FOUND'])
      expect(answer.json().message).toContain(named)
    }
  })

  test('Q-111: older names are answered as the newer ones', async () => {
    for (const [older, newer] of [
      [`/requests?id=0x${'4d'.repeat(32)}`, `/requests/v2?id=0x${'4d'.repeat(32)}`],
      [`/requests?user=${user}`, `/requests/v2?user=${user}`],
      ['/requests?limit=50', '/requests/v2?limit=50'],
      [`/requests?id=0x${'4d'.repeat(32)}&features=x`, `/requests/v2?id=0x${'4d'.repeat(32)}&features=x`],
      [
        `/config?originChainId=${chainA}&destinationChainId=${chainB}&currency=${usdc}`,
        `/config/v2?originChainId=${chainA}&destinationChainId=${chainB}&currency=usdc`,
      ],
    ] as const) {
      const [one, other] = [await get(older), await get(newer)]
      const { requestId: _, ...answer } = one.json
      expect([one.status, answer]).toEqual([other.status, expect.objectContaining(answer)])
      expect(one.status).not.toBe(404)
    }
  })

  test('Q-111: one currency is told with its price, and an unknown one is named', async () => {
    expect(await get(`/chains/${chainA}/currencies/${usdc.toUpperCase().replace('0X', '0x')}`)).toMatchObject(
      {
        status: 200,
        json: { chainId: chainA, address: usdc, symbol: 'USDC', decimals: 6, vmType: 'evm', price: 1 },
      },
    )
    expect((await get(`/chains/${chainA}/currencies/${user}`)).json).toMatchObject({
      statusCode: 400,
      errorCode: 'UNSUPPORTED_CURRENCY',
      message: expect.any(String),
    })
  })

  test('/transactions/status names the route to ask instead', async () => {
    const { status, json } = await get('/transactions/status?requestId=0x')
    expect([status, json.errorCode]).toEqual([404, 'NOT_FOUND'])
    expect(json.message).toContain('/intents/status/v3')
  })
})
