// Goal: no fee history and no price source makes anybody pay more for gas, impact or the disagreement of sources
// than the ceilings say, and small honest quotes are not refused. Method: POST /price and /quote over a market
// whose every value is set here.
import type { QuoteCeilings } from '@causeway/core/config'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  e18,
  examplePrices,
  native,
  recipient,
  testChainMarket,
  testConfig,
  testSnapshot,
  usdc,
  usdPrice,
  user,
} from '../../../test/fixtures/market.ts'
import { linkedKey, testSponsor } from '../../../test/fixtures/sponsor.ts'

const gwei = 10n ** 9n

/** Gas is 40,000 units at 2,500 USD per ETH: 0.1 USD per gwei. */
async function ask(options: {
  body?: object
  gasWei?: bigint
  spreadBps?: bigint
  sponsored?: boolean
  ceilings?: Partial<QuoteCeilings>
  kappaBps?: number
  inventoryOfB?: Readonly<Record<string, bigint>>
}) {
  const { gasWei = gwei / 10n, spreadBps = 0n, sponsored = false, kappaBps = 0, inventoryOfB } = options
  const current = testSnapshot({
    prices: { ...examplePrices, 'ETH/USD': usdPrice(2_500n * e18, { spreadBps }) },
    chains: [
      testChainMarket(chainA),
      testChainMarket(chainB, {
        expectedWei: gasWei,
        ...(inventoryOfB !== undefined && { inventory: inventoryOfB }),
      }),
    ],
  })
  const sponsor = testSponsor(10n ** 15n)
  const app = await testApp({
    market: { current },
    config: { kappaBps },
    fillWallet: `0x${'f1'.repeat(20)}`,
    ...sponsor,
    ceilings: { ...testConfig().ceilings, ...options.ceilings },
  })
  onTestFinished(() => app.close())
  const payload = {
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    originCurrency: usdc,
    destinationCurrency: usdc,
    amount: '2500000000',
    tradeType: 'EXACT_INPUT',
    ...(sponsored && { subsidizeFees: true }),
    ...options.body,
  }
  const headers = sponsored ? { 'x-api-key': linkedKey } : {}
  const response = await app.inject({ method: 'POST', url: '/quote', payload, headers })
  const json = response.json()
  return {
    status: response.statusCode,
    code: json.errorCode,
    data: json.errorData === undefined ? undefined : JSON.parse(json.errorData),
    relayerGas: json.fees?.relayerGas.amount,
    held: sponsor.holds.map(({ amountMicroUsd }) => amountMicroUsd),
  }
}

const convert = { originCurrency: usdc, destinationCurrency: native }

describe('relayerGas against the amount', () => {
  test('Q-176: of 74.25 USD on 2,500 USDC is refused, naming the ceiling and its value', async () => {
    const refused = await ask({ gasWei: (7_425n * gwei) / 10n })
    expect(refused).toMatchObject({ status: 400, code: 'RELAYER_GAS_TOO_HIGH', held: [] })
    expect(refused.data).toEqual({
      ceiling: 'relayerGas',
      limitBps: 200,
      limitMicroUsd: '25000000',
      costMicroUsd: '74250000',
      // From 3,712.5 USDC on, and a twentieth above it.
      minimumAmount: '3937500000',
      currency: usdc,
      chainId: chainA,
    })
  })

  test('is allowed from the amount that the refusal names', async () => {
    const gasWei = (7_425n * gwei) / 10n
    expect(await ask({ gasWei, body: { amount: '3712500000' } })).toMatchObject({ status: 200 })
    expect(await ask({ gasWei, body: { amount: '3712499999' } })).toMatchObject({
      code: 'RELAYER_GAS_TOO_HIGH',
    })
  })

  test.each([
    ['EXACT_INPUT', '30000000'],
    ['EXACT_OUTPUT', '1000000'],
    ['EXPECTED_OUTPUT', '1000000'],
  ])('does not refuse a small %s on a dear chain', async (tradeType, amount) => {
    // 25 USD of gas, the most that is allowed whatever is paid out.
    expect(await ask({ gasWei: 250n * gwei, body: { tradeType, amount } })).toMatchObject({
      status: 200,
      relayerGas: '25000000',
    })
  })

  test('does not count a gas top-up, which the recipient gets', async () => {
    const body = { topupGas: true, topupGasAmount: '60000000' }
    expect(await ask({ body })).toMatchObject({ status: 200, relayerGas: '60020000' })
  })

  test('is the operator’s to set', async () => {
    const ceilings = { relayerGas: { maxBps: 0, orMicroUsd: 9_999n } }
    const refused = await ask({ ceilings })
    expect(refused).toMatchObject({ code: 'RELAYER_GAS_TOO_HIGH' })
    expect(refused.data).not.toHaveProperty('minimumAmount')
  })
})

describe('what a sponsor is debited', () => {
  test('is the fees where sources agree', async () => {
    expect(await ask({ sponsored: true, body: { ...convert, amount: '127000000' } })).toMatchObject({
      status: 200,
      held: [106_200n],
    })
  })

  test('Q-176: for a spread of 2.9 % between sources is refused: it would be 3.69 USD more, which a solver keeps', async () => {
    const spread = { sponsored: true, spreadBps: 290n, body: { ...convert, amount: '127000000' } }
    const refused = await ask(spread)
    expect(refused).toMatchObject({ status: 400, code: 'SPONSOR_COST_TOO_HIGH', held: [] })
    expect(refused.data).toEqual({
      ceiling: 'sponsorSpread',
      limitMicroUsd: '381000',
      costMicroUsd: '3683000',
    })
    expect(await ask({ ...spread, sponsored: false })).toMatchObject({ status: 200 })
  })

  test('for a spread is bounded as an amount too', async () => {
    const spread = { sponsored: true, spreadBps: 29n, body: { ...convert, amount: '100000000000' } }
    expect((await ask(spread)).data).toEqual({
      ceiling: 'sponsorSpread',
      limitMicroUsd: '50000000',
      costMicroUsd: '290000000',
    })
    expect(await ask({ ...spread, spreadBps: 5n })).toMatchObject({ status: 200 })
  })

  test('for a spread counts what its cap lets it pay, the platform fee first', async () => {
    const spread = { sponsored: true, spreadBps: 290n }
    const body = { ...convert, amount: '127000000', maxSubsidizationAmount: '106200' }
    expect(await ask({ ...spread, body })).toMatchObject({ status: 200, held: [106_200n] })
    expect(await ask({ ...spread, body: { ...body, maxSubsidizationAmount: '487201' } })).toMatchObject({
      code: 'SPONSOR_COST_TOO_HIGH',
    })
  })

  test('for gas is refused above its own ceiling, a top-up included', async () => {
    const dear = await ask({ sponsored: true, gasWei: 120n * gwei, body: { amount: '100000000' } })
    expect(dear).toMatchObject({ status: 400, code: 'SPONSOR_COST_TOO_HIGH', held: [] })
    expect(dear.data).toEqual({ ceiling: 'sponsorGas', limitMicroUsd: '10000000', costMicroUsd: '12020000' })
    const topup = { amount: '100000000', topupGas: true, topupGasAmount: '20000000' }
    expect(await ask({ sponsored: true, body: topup })).toMatchObject({ code: 'SPONSOR_COST_TOO_HIGH' })
  })

  test('for inventory impact is refused above its own ceiling', async () => {
    const skew = {
      sponsored: true,
      kappaBps: 150,
      inventoryOfB: { [usdc]: 1_900_000_000_000n },
      body: { amount: '1000000000000' },
      ceilings: { sponsorImpact: { maxBps: 5, orMicroUsd: 1_000_000n } },
    }
    const refused = await ask(skew)
    expect(refused).toMatchObject({ code: 'SPONSOR_COST_TOO_HIGH', held: [] })
    expect(refused.data).toMatchObject({ ceiling: 'sponsorImpact', limitMicroUsd: '500000000' })
  })
})
