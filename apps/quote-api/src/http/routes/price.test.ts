// Goal: POST /price answers by the interface document, over a market whose every value is set here.
import { describe, expect, onTestFinished, test } from 'vitest'
import { sharedTestApp, type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  appRecipient,
  chainA,
  chainB,
  depository,
  e18,
  examplePrices,
  native,
  recipient,
  testChainMarket,
  testChains,
  testConfig,
  testSnapshot,
  tide,
  usdc,
  usdx,
  user,
} from '../../../test/fixtures/market.ts'
import { createRegistry } from '../../pricing/registry.ts'

/** The operator's share and the solver's cost are 10 bps together, gas 0.01 USD, the fixed fee 0.02 USD. */
const caseA = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: native,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  slippageTolerance: '50',
  appFees: [{ recipient: appRecipient, fee: '50' }],
}

/** Writes a `Transfer` for each movement of ether, where EIP-7708 is live. */
const noToken = `0x${'ff'.repeat(19)}fe`

const askPlain = sharedTestApp({ config: { majorBps: 10 } })

async function price(payload: object, options?: TestAppOptions) {
  if (options === undefined) return (await askPlain({ method: 'POST', url: '/price', payload })).response
  const app = await testApp({ config: { majorBps: 10 }, ...options })
  onTestFinished(() => app.close())
  return app.inject({ method: 'POST', url: '/price', payload })
}

const enoughAllowance = { balance: 250_000_000n, allowance: 10n ** 18n }

describe('POST /price', () => {
  test('Q-150: answers the worked example to the last digit', async () => {
    const response = await price(caseA, { facts: enoughAllowance })
    expect(response.statusCode).toBe(200)
    const { fees, details } = response.json()
    const shown = ({ amount, amountFormatted, amountUsd, minimumAmount }: Record<string, string>) => [
      amount,
      amountFormatted,
      amountUsd,
      minimumAmount,
    ]
    expect(shown(fees.gas)).toEqual(['6385000000000', '0.000006385', '0.015962', '6385000000000'])
    expect(shown(fees.relayerGas)).toEqual(['10000', '0.01', '0.010000', '10000'])
    expect(shown(fees.relayerService)).toEqual(['120000', '0.12', '0.120000', '120000'])
    expect(shown(fees.relayer)).toEqual(['130000', '0.13', '0.130000', '130000'])
    expect(shown(fees.app)).toEqual(['500000', '0.5', '0.500000', '500000'])
    expect(shown(fees.subsidized)).toEqual(['0', '0.0', '0.000000', '0'])
    expect(fees.gas.currency).toMatchObject({ chainId: chainA, address: native, symbol: 'ETH', decimals: 18 })
    expect(fees.app.currency).toEqual(fees.relayer.currency)
    expect(details).toMatchObject({
      operation: 'swap',
      sender: user,
      recipient,
      totalImpact: { usd: '-0.630000', percent: '-0.63' },
      swapImpact: { usd: '0.000000', percent: '0.00' },
      rate: '0.00039748',
      slippageTolerance: {
        total: '50',
        origin: { usd: '0.000000', value: '0', percent: '0.00' },
        destination: { usd: '0.496850', value: '198740000000000', percent: '0.50' },
      },
      timeEstimate: 4,
      userBalance: '250000000',
    })
    expect(shown(details.currencyIn)).toEqual(['100000000', '100.0', '100.000000', '100000000'])
    expect(shown(details.currencyOut)).toEqual([
      '39748000000000000',
      '0.039748',
      '99.370000',
      '39549260000000000',
    ])
  })

  test('says so on a refusal of the limiter as well', async () => {
    const app = await testApp({ rateLimits: { perKeyMax: 1, perIpMax: 1 } })
    onTestFinished(() => app.close())
    const send = () => app.inject({ method: 'POST', url: '/price', payload: caseA })
    await send()
    const { statusCode, headers } = await send()
    expect(statusCode).toBe(429)
    expect(headers['deprecation']).toMatch(/^@\d+$/)
  })

  test('counts the approval into gas while the allowance is too low or unknown', async () => {
    const gas = async (facts: object) => BigInt((await price(caseA, { facts })).json().fees.gas.amount)
    expect((await gas({})) - (await gas(enoughAllowance))).toBe((29_100n + 17_100n - 4_800n) * 100_000_000n)
    // A slot that is there already costs less to write.
    expect(await gas({ allowance: 99_999_999n })).toBe((await gas({})) - 17_100n * 100_000_000n)
  })

  test('F-114: state that became dearer is charged with the fill, and shown to the user who makes it', async () => {
    const dearer = { slotUnits: 100_000n, accountUnits: 200_000n }
    const chains = [chainA, chainB].map((chain) => testChainMarket(chain, { dearer }))
    const { fees } = (await price(caseA, { market: { current: testSnapshot({ chains }) } })).json()
    const plain = (await price(caseA)).json().fees
    // The fill makes its record and an account: 300,000 units at 10^8 wei are 0.075 USD.
    expect(BigInt(fees.relayerGas.amount) - BigInt(plain.relayerGas.amount)).toBe(75_000n)
    // The user's deposit creates an allowance and a depository balance: 2 accounts of 100,000 units at 10^8 wei.
    expect(BigInt(fees.gas.amount) - BigInt(plain.gas.amount)).toBe(200_000n * 100_000_000n)
  })

  test('Q-144: echoes addresses in the spelling they were sent in', async () => {
    const sender = `0x${'aB'.repeat(20)}`
    const receiver = `0x${'Cd'.repeat(20)}`
    const { details } = (await price({ ...caseA, user: sender, recipient: receiver })).json()
    expect([details.sender, details.recipient]).toEqual([sender, receiver])
  })

  test('prices for nobody, as pages do before a wallet is connected', async () => {
    const { recipient: _left, ...without } = caseA
    expect((await price({ ...without, user: native })).statusCode).toBe(200)
    expect((await price({ ...without, user: `0x${'0'.repeat(36)}dEaD` })).statusCode).toBe(200)
    expect((await price({ ...caseA, recipient: native })).json().errorCode).toBe('INVALID_ADDRESS')
  })

  test('Q-80: leaves an unknown balance out, and that of an account that nobody holds', async () => {
    expect((await price(caseA)).json().details).not.toHaveProperty('userBalance')
    const balanceOf = async (user: string) =>
      (await price({ ...caseA, user }, { facts: { balance: 0n } })).json().details.userBalance
    expect(await balanceOf(caseA.user)).toBe('0')
    for (const nobody of [native, `0x${'0'.repeat(36)}dEaD`]) expect(await balanceOf(nobody)).toBeUndefined()
  })

  test('Q-137: ignores sponsorship fields and unknown fields', async () => {
    const extra = { ...caseA, subsidizeFees: true, maxSubsidizationAmount: '1', somethingElse: [1] }
    const [plain, sponsored] = [await price(caseA), await price(extra)]
    expect(sponsored.statusCode).toBe(200)
    expect(sponsored.json()).toEqual(plain.json())
  })
})

describe('operations', () => {
  const sameChain = { ...caseA, destinationChainId: chainA, appFees: [] }
  test('what a user does alone costs no solver fee and moves one to one', async () => {
    const { fees, details } = (
      await price({ ...sameChain, destinationCurrency: usdc, slippageTolerance: undefined })
    ).json()
    expect([fees.relayer.amount, fees.relayerGas.amount, fees.relayerService.amount]).toEqual(['0', '0', '0'])
    expect(details.currencyOut.amount).toBe('100000000')
    expect(details.currencyOut.minimumAmount).toBe('100000000')
  })

  test('app fees on a send are shown as not collected', async () => {
    const { fees, details } = (
      await price({ ...sameChain, destinationCurrency: usdc, appFees: caseA.appFees })
    ).json()
    expect(fees.app.amount).toBe('0')
    expect(details.currencyOut.amount).toBe('100000000')
  })

  test('Q-152: a bridge without tolerance promises the whole output', async () => {
    const { details } = (
      await price({ ...caseA, destinationCurrency: usdc, slippageTolerance: undefined })
    ).json()
    expect(details.slippageTolerance.total).toBe('0')
    expect(details.currencyOut.minimumAmount).toBe(details.currencyOut.amount)
  })
})

describe('trade types', () => {
  test('EXACT_OUTPUT finds the input and promises the output exactly', async () => {
    const { details, fees } = (
      await price({ ...caseA, tradeType: 'EXACT_OUTPUT', amount: '40000000000000000' })
    ).json()
    expect(details.currencyIn.amount).toBe('100633803')
    expect(details.currencyOut.amount).toBe('40000000000000000')
    expect(details.currencyOut.minimumAmount).toBe('40000000000000000')
    const { amount: relayer } = fees.relayer
    expect(BigInt(details.currencyIn.amount)).toBe(100_000_000n + BigInt(relayer) + BigInt(fees.app.amount))
  })

  test('EXPECTED_OUTPUT is sized the same and lets the output slip', async () => {
    const { details } = (
      await price({ ...caseA, tradeType: 'EXPECTED_OUTPUT', amount: '40000000000000000' })
    ).json()
    expect(details.currencyIn.amount).toBe('100633803')
    expect(details.currencyOut.minimumAmount).toBe('39800000000000000')
  })
})

describe('several app fees', () => {
  test('Q-151: each is floored alone and their sum is shown in the fee currency', async () => {
    const appFees = ['33', '33', '34'].map((fee) => ({ recipient: appRecipient, fee }))
    const { fees } = (await price({ ...caseA, amount: '100000099', appFees })).json()
    expect(fees.app.amount).toBe(String(330_000 + 330_000 + 340_000))
    expect(fees.app.currency.address).toBe(usdc)
  })

  test('more than the whole input is refused', async () => {
    const appFees = [
      { recipient: appRecipient, fee: '9999' },
      { recipient: appRecipient, fee: '2' },
    ]
    const response = await price({ ...caseA, appFees })
    expect(response.json()).toMatchObject({ statusCode: 400, errorCode: 'INVALID_REQUEST' })
    expect(response.json().errorData).toContain('appFees')
  })
})

describe('app fees that nobody could claim', () => {
  const precompile = 'a precompile, or a contract of the network itself'
  test.each([
    ['00'.repeat(20), 'an account that nobody holds, so nobody can claim the fee.'],
    [`${'0'.repeat(36)}dEaD`, 'an account that nobody holds, so nobody can claim the fee.'],
    [`${'0'.repeat(39)}1`, `${precompile}, on chain ${chainA}: name an account that somebody holds.`],
    [usdc.slice(2), `the USDC token itself, on chain ${chainA}: name an account that somebody holds.`],
    [depository.slice(2), `a depository, on chain ${chainA}: name an account that somebody holds.`],
  ])('Q-4: 0x%s are refused by name, of any share', async (digits, why) => {
    for (const fee of ['0', '50']) {
      const appFees = [
        { recipient: appRecipient, fee: '1' },
        { recipient: `0x${digits}`, fee },
      ]
      for (const url of ['/price', '/quote', '/quote/v2']) {
        const { response } = await askPlain({ method: 'POST', url, payload: { ...caseA, appFees } })
        const { message, errorCode, statusCode, errorData } = response.json()
        expect([message, errorCode, statusCode]).toEqual([
          `appFees.1.recipient is ${why}`,
          'INVALID_RECIPIENT',
          400,
        ])
        expect(JSON.parse(errorData)).toMatchObject({ field: 'appFees.1.recipient' })
      }
    }
  })

  test('Q-4: another account is somebody', async () => {
    const appFees = [{ recipient: `0x${'0'.repeat(35)}10000`, fee: '50' }]
    expect((await price({ ...caseA, appFees })).statusCode).toBe(200)
  })
})

describe('gas top-up', () => {
  test('is priced as a part of relayerGas', async () => {
    const bridge = { ...caseA, destinationCurrency: usdc }
    const plain = (await price(bridge)).json()
    const topped = (await price({ ...bridge, topupGas: true, topupGasAmount: '1500000' })).json()
    const difference = BigInt(topped.fees.relayerGas.amount) - BigInt(plain.fees.relayerGas.amount)
    expect(difference).toBe(1_500_000n + 10_000n)
  })

  test('is refused where the output already is the gas currency', async () => {
    const response = await price({ ...caseA, topupGas: true })
    expect(response.json()).toMatchObject({ statusCode: 400, errorCode: 'INVALID_REQUEST' })
  })
})

describe('destination calls', () => {
  const call = { to: `0x${'9'.repeat(40)}`, value: '1000000000000000', data: '0x1234' }

  test('their simulated gas is part of relayerGas', async () => {
    const plain = (await price(caseA)).json()
    const withCall = (await price({ ...caseA, txs: [call] })).json()
    // 50,000 units, and 90,000 of the clone that runs the call, at 10^8 wei are 0.035 USD.
    expect(BigInt(withCall.fees.relayerGas.amount) - BigInt(plain.fees.relayerGas.amount)).toBe(35_000n)
  })

  test('a given gas limit replaces what was measured', async () => {
    const response = await price({ ...caseA, txs: [call], txsGasLimit: 100_000 })
    expect(response.json().fees.relayerGas.amount).toBe('57500')
  })

  test.each([
    ['above the output', { value: '50000000000000000' }, caseA],
    ['with value while the output is a token', {}, { ...caseA, destinationCurrency: usdc }],
  ])('values %s are refused', async (_name, change, payload) => {
    const response = await price({ ...payload, txs: [{ ...call, ...change }] })
    expect(response.json()).toMatchObject({ statusCode: 400, errorCode: 'INVALID_EXTRA_TXS' })
  })
})

describe('deposit modes', () => {
  const nativeBridge = {
    ...caseA,
    originCurrency: native,
    destinationCurrency: native,
    amount: '1000000000000000000',
  }
  test.each([
    ['a native bridge', nativeBridge, 200, undefined],
    ['a token', { ...caseA, destinationCurrency: usdc }, 200, undefined],
    [
      'an exact output of a token that is swapped first',
      { ...caseA, originCurrency: tide, tradeType: 'EXACT_OUTPUT' },
      400,
      'UNSUPPORTED_EXECUTION_TYPE',
    ],
    [
      'calls',
      { ...nativeBridge, txs: [{ to: user, value: '0', data: '0x' }] },
      400,
      'EXTRA_TXS_NOT_SUPPORTED',
    ],
  ])('useDepositAddress with %s', async (_name, payload, statusCode, errorCode) => {
    const response = await price({ ...payload, useDepositAddress: true })
    expect(response.statusCode).toBe(statusCode)
    expect(response.json().errorCode).toBe(errorCode)
  })

  test('usePermit needs a currency that supports it', async () => {
    expect((await price({ ...caseA, usePermit: true })).statusCode).toBe(200)
    const native400 = await price({ ...nativeBridge, usePermit: true })
    expect(native400.json()).toMatchObject({ statusCode: 400, errorCode: 'UNSUPPORTED_CURRENCY' })
    const both = await price({ ...caseA, usePermit: true, useDepositAddress: true })
    expect(both.statusCode).toBe(400)
  })

  test('usePermit is priced with the gas of the deposit that the solver sends', async () => {
    const [plain, permit] = [
      await price({ ...caseA, usePermit: false }),
      await price({ ...caseA, usePermit: true, permitExpiry: 120 }),
    ]
    expect(permit.json().fees.gas.amount).toBe('0')
    expect(BigInt(permit.json().fees.relayerGas.amount)).toBeGreaterThan(
      BigInt(plain.json().fees.relayerGas.amount),
    )
    const late = await price({ ...caseA, usePermit: true, permitExpiry: 59 })
    expect(late.json()).toMatchObject({ errorCode: 'INVALID_REQUEST' })
  })

  test('useExternalLiquidity, useFallbacks and refundOnOrigin change no price that needs none of them', async () => {
    const flags = { useExternalLiquidity: true, useFallbacks: true, refundOnOrigin: true }
    const { fallbackType, externalLiquidity, ...details } = (await price({ ...caseA, ...flags })).json()
      .details
    expect(details).toEqual((await price(caseA)).json().details)
    expect([fallbackType, externalLiquidity]).toEqual(['none', 'none'])
  })
})

test.each(['originCurrency', 'destinationCurrency'])(
  'F-46: %s that tells of moved ether is refused by name',
  async (field) => {
    const { message } = (await price({ ...caseA, [field]: noToken })).json()
    expect(message).toMatch(new RegExp(`^${field} is not a known currency .* it is no token, .*EIP-7708`))
  },
)

test('F-46: a quote file that lists what tells of moved ether is refused', () => {
  const config = testConfig()
  const chains = Object.fromEntries(
    Object.entries(config.chains).map(([key, chain]) => [
      key,
      {
        ...chain,
        currencies: chain.currencies.map((one) =>
          one.symbol === 'USDC' ? { ...one, address: noToken } : one,
        ),
      },
    ]),
  )
  expect(() => createRegistry({ ...config, chains }, testChains)).toThrow(/USDC cannot be .*EIP-7708/)
})

describe('refusals', () => {
  const badPrice = { ...examplePrices, 'ETH/USD': { reason: 'deviation' as const } }
  test.each([
    ['an unknown chain', { ...caseA, originChainId: 5 }, 'UNSUPPORTED_CHAIN'],
    ['an unknown input currency', { ...caseA, originCurrency: user }, 'INVALID_INPUT_CURRENCY'],
    ['an unknown output currency', { ...caseA, destinationCurrency: 'x' }, 'INVALID_OUTPUT_CURRENCY'],
    ['a malformed user', { ...caseA, user: '0x12' }, 'INVALID_ADDRESS'],
    ['a malformed recipient', { ...caseA, recipient: 'bc1qqqq' }, 'INVALID_ADDRESS'],
    ['a malformed refund address', { ...caseA, refundTo: '0x' }, 'INVALID_ADDRESS'],
    [
      'a token contract as recipient',
      { ...caseA, recipient: usdc.toUpperCase().replace('0X', '0x') },
      'INVALID_RECIPIENT',
    ],
    ['an amount of zero', { ...caseA, amount: '0' }, 'AMOUNT_TOO_LOW'],
    ['an amount below its fees', { ...caseA, amount: '30100' }, 'AMOUNT_TOO_LOW'],
    [
      'Q-153: an amount whose refund costs more than 5 %',
      { ...caseA, amount: '199999', appFees: [] },
      'AMOUNT_TOO_LOW',
    ],
    ['more than the solver holds', { ...caseA, amount: '1900000000000' }, 'INSUFFICIENT_LIQUIDITY'],
    ['a pair without pools', { ...caseA, destinationCurrency: usdx }, 'NO_SWAP_ROUTES_FOUND'],
  ])('%s', async (_name, payload, errorCode) => {
    const response = await price(payload)
    expect(response.json()).toMatchObject({ statusCode: 400, errorCode, message: expect.any(String) })
    expect(typeof response.json().errorData).toBe('string')
  })

  test('Q-154: an amount below its fees names the least amount that works', async () => {
    const data = JSON.parse(
      (await price({ ...caseA, amount: '30100', slippageTolerance: '0' })).json().errorData,
    )
    // The least, and room for what gas and prices do while it is read.
    expect(Number(data.minimumAmount)).toBeGreaterThanOrEqual(200_000)
    expect(Number(data.minimumAmount)).toBeLessThan(216_000)
    expect(data).toMatchObject({ currency: usdc, chainId: chainA })
    expect((await price({ ...caseA, amount: data.minimumAmount })).statusCode).toBe(200)
    expect((await price({ ...caseA, amount: '200000' })).statusCode).toBe(200)
    expect((await price({ ...caseA, amount: '199999' })).json().errorCode).toBe('AMOUNT_TOO_LOW')
  })

  test('an amount of zero names the least amount that works', async () => {
    const refused = (await price({ ...caseA, amount: '0', slippageTolerance: '0' })).json()
    expect(refused).toMatchObject({ errorCode: 'AMOUNT_TOO_LOW', message: 'amount must be above zero.' })
    expect(JSON.parse(refused.errorData)).toMatchObject({ field: 'amount', minimumAmount: '210045' })
    const unknown = (await price({ ...caseA, amount: '0', destinationCurrency: usdx })).json()
    expect(JSON.parse(unknown.errorData)).toMatchObject({ field: 'amount' })
  })

  test('Q-170: no usable price is a retryable 503, never a guess', async () => {
    const response = await price(caseA, { market: { current: testSnapshot({ prices: badPrice }) } })
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ errorCode: 'PRICE_FETCH_FAILED', retryable: true })
    expect(response.headers['retry-after']).toBe('1')
    expect(response.json()).not.toHaveProperty('errorData')
  })

  test('a stale chain is a retryable 503', async () => {
    const chains = [testChainMarket(chainA), { chainId: chainB, refusal: { reason: 'stale_head' as const } }]
    const response = await price(caseA, { market: { current: testSnapshot({ chains }) } })
    expect(response.json()).toMatchObject({
      statusCode: 503,
      errorCode: 'SERVICE_UNAVAILABLE',
      retryable: true,
    })
  })

  test('Q-163: gas above its ceiling is a retryable 503 that names both', async () => {
    const refusal = {
      reason: 'gas_above_ceiling' as const,
      charge: 'Gas',
      cost: 'costs 4001 wei',
      ceiling: '4000 wei that its last blocks give',
    }
    const chains = [testChainMarket(chainA), { chainId: chainB, refusal }]
    const response = await price(caseA, { market: { current: testSnapshot({ chains }) } })
    expect(response.json()).toMatchObject({
      statusCode: 503,
      errorCode: 'GAS_PRICE_TOO_HIGH',
      retryable: true,
      message: `Gas on chain ${chainB} costs 4001 wei, above the ceiling of 4000 wei that its last blocks give.`,
    })
  })

  test('Q-140: a wrong key is 401 even without sponsorship', async () => {
    const app = await testApp()
    onTestFinished(() => app.close())
    const response = await app.inject({
      method: 'POST',
      url: '/price',
      payload: caseA,
      headers: { 'x-api-key': 'nope' },
    })
    expect(response.json()).toMatchObject({ statusCode: 401, errorCode: 'UNAUTHORIZED' })
    expect(response.json()).not.toHaveProperty('errorData')
  })

  test('a failure nobody foresaw is a constant 500', async () => {
    const response = await price(caseA, {
      snapshot: () => {
        throw new Error('secret detail')
      },
    })
    expect(response.json()).toEqual({
      message: 'Internal error.',
      errorCode: 'UNKNOWN_ERROR',
      statusCode: 500,
    })
  })
})

test('the price of a destination asset moves the output by the right amount', async () => {
  const prices = {
    ...examplePrices,
    'ETH/USD': { usdX18: 2_600n * e18, updatedAtMs: 0, confidence: 'fresh' as const, spreadBps: 0n },
  }
  const { fees, details } = (await price(caseA, { market: { current: testSnapshot({ prices }) } })).json()
  const net = 100_000_000n - BigInt(fees.relayer.amount) - BigInt(fees.app.amount)
  expect(details.currencyOut.amount).toBe(((net * 10n ** 12n) / 2_600n).toString())
})
