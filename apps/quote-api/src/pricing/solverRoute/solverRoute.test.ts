// Goal: along every plan money moves as the trade type says, and what cannot be paid, kept or refunded is refused at its
// bound, with the reason that helps. Method: quotes over two chains whose balances, pools and gas a test sets.
import { createOrderIdHasher, type Hex } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  e18,
  examplePrices,
  native,
  pool,
  pools,
  recipient,
  type TestChainOptions,
  testChainMarket,
  testSnapshot,
  tide,
  usdc,
  usdPrice,
  usdx,
  user,
  weth,
} from '../../../test/fixtures/market.ts'
import {
  account,
  coin,
  marketWithRentChain,
  mint,
  registryWithRentChain,
  rentChain,
} from '../../../test/fixtures/rentFamily.ts'
import { createInventoryViews } from '../market/inventoryView.ts'

const usdcUnits = 1_000_000n
const filler: Hex = `0x${'f1'.repeat(20)}`

type Asked = TestAppOptions & { readonly a?: TestChainOptions; readonly b?: TestChainOptions }

async function ask(change: object, { a = {}, b = {}, ...options }: Asked = {}) {
  const chains = [testChainMarket(chainA, { pools, ...a }), testChainMarket(chainB, { pools, ...b })]
  const app = await testApp({
    market: { current: testSnapshot({ chains }) },
    facts: { allowance: 2n ** 255n },
    fillWallet: filler,
    ...options,
  })
  onTestFinished(() => app.close())
  const payload = {
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    originCurrency: usdc,
    destinationCurrency: usdc,
    amount: '100000000',
    tradeType: 'EXACT_INPUT',
    ...change,
  }
  const response = await app.inject({ method: 'POST', url: '/quote', payload })
  return { status: response.statusCode, json: response.json(), priced: app.stored[0]?.quote.priced }
}

/** Words of a refusal: its code, message and data without the currency of its amount. */
async function refusalOf(change: object, options: Asked) {
  const { json } = await ask(change, options)
  const { currency: _currency, chainId: _chainId, ...data } = JSON.parse(json.errorData ?? '{}')
  return { code: json.errorCode, message: json.message, data }
}

const tides = { originCurrency: tide, amount: String(25n * e18) }
const exactOut = { tradeType: 'EXACT_OUTPUT', amount: '100000000' }
const expectedOut = { tradeType: 'EXPECTED_OUTPUT', amount: '100000000' }
const intoUsdx = { destinationCurrency: usdx }
/** Its TIDE is sold 1 % below the agreed price. */
const below: Asked = { a: { pools: [pool('f4', tide, 3_000, 60, [3_960_000_000_000n, 10n ** 24n])] } }

// Gas is 0.01 USD, the flat fee 0.02; the platform fee 15 bps with TIDE, 1 bps to USDX. Pools take 30 and 1 bps. Without
// an origin swap nothing slips before the solver, so the deposit is the input.
test.each<[string, object, string, string, string, Asked?]>([
  ['an input', {}, '100000000 ≤ 100000000 → 99970000 ≥ 99970000', '100000000 exactInput', '99990000'],
  [
    'an output',
    exactOut,
    '100030000 ≤ 100030000 → 100000000 ≥ 100000000',
    '100030000 exactOutput',
    '100020000',
  ],
  [
    'an input by permit',
    { usePermit: true },
    '100000000 ≤ 100000000 → 99960000 ≥ 99960000',
    '100000000 exactInput',
    '99980000',
  ],
  [
    'a swapped input of a pool below the price',
    tides,
    '25000000000000000000 ≤ 25000000000000000000 → 98522488 ≥ 97882091',
    '98059181 exactInput',
    '98049181',
    below,
  ],
  [
    'a swapped input',
    tides,
    '25000000000000000000 ≤ 25000000000000000000 → 99517968 ≥ 97875921',
    '98053002 exactInput',
    '98043002',
  ],
  [
    'a swapped input that may not slip',
    { ...tides, slippageTolerance: '0' },
    '25000000000000000000 ≤ 25000000000000000000 → 99517968 ≥ 99517968',
    '99697515 exactInput',
    '99687515',
  ],
  [
    'the input for an output',
    { ...tides, ...exactOut },
    '25121058195715797398 ≤ 25535555655945108056 → 100000000 ≥ 100000000',
    '100180271 exactOutput',
    '100170271',
  ],
  [
    'the input for an expected output',
    { ...tides, ...expectedOut },
    '25121058195715797398 ≤ 25121058195715797398 → 100000000 ≥ 98350000',
    '98527792 exactInput',
    '98517792',
  ],
  [
    'a swapped output',
    intoUsdx,
    '100000000 ≤ 100000000 → 99949005 ≥ 99689137',
    '100000000 exactInput',
    '99990000',
  ],
  [
    'an exact output of a swap',
    { ...intoUsdx, ...exactOut },
    '100051009 ≤ 100051009 → 100000000 ≥ 100000000',
    '100051009 exactOutput',
    '100041009',
  ],
  [
    'an expected output of a swap',
    { ...intoUsdx, ...expectedOut },
    '100051009 ≤ 100051009 → 100000000 ≥ 99740000',
    '100051009 exactInput',
    '100041009',
  ],
  [
    'swaps on both sides',
    { ...tides, ...intoUsdx },
    '25000000000000000000 ≤ 25000000000000000000 → 99507025 ≥ 97934814',
    '98122770 exactInput',
    '98112770',
  ],
])('Q-151, Q-153: %s', async (_what, change, amounts, deposit, refund, options) => {
  const { priced } = await ask(change, options)
  if (priced?.solver === undefined) throw new Error('a solver fills it')
  const { amountIn, amountInMax, amountOut, amountOutMin, solver } = priced
  expect(`${amountIn} ≤ ${amountInMax} → ${amountOut} ≥ ${amountOutMin}`).toBe(amounts)
  expect(`${solver.depositAmount} ${solver.originSwapTrade}`).toBe(deposit)
  expect(`${solver.refundMinimum}`).toBe(refund)
})

const stock = (ofUsdc: bigint, ofEth = e18): Asked => ({
  b: { inventory: { [usdc]: ofUsdc * usdcUnits, [native]: ofEth } },
})
const dearRefunds: Asked = { a: { expectedWei: 10n ** 10n } }
const skewed: Asked = { ...stock(2_000_000n), config: { kappaBps: 150 } }
const shortOf = (symbol: string) => `The solver cannot pay this much ${symbol} on chain ${chainB} now.`
const call = (value: bigint) => ({ to: usdx, value: String(value), data: '0x01' })
const ethOut = { destinationCurrency: native, tradeType: 'EXACT_OUTPUT', amount: String(e18 / 25n) }
const gasOfTwoFills = 2n * 40_000n * 10n ** 8n
const shallow: Asked = { a: { pools: [pool('f4', tide, 3_000, 60, [10_000n, 2_500n * 10n ** 12n])] } }
/** More than half of a TIDE's worth is lost in it. */
const smallPool: Asked = { a: { pools: [pool('f4', tide, 3_000, 60, [2_000_000n, e18 / 2n])] } }
const appFee = { appFees: [{ recipient: user, fee: '9900' }] }
const halfFee = { appFees: [{ recipient: user, fee: '5000' }] }

const registry = registryWithRentChain()
const rent: Asked = {
  registry,
  inventoryView: createInventoryViews(registry),
  orderIdOf: createOrderIdHasher(registry.networkByKey),
  market: {
    current: testSnapshot({
      prices: { ...examplePrices, 'COIN/USD': usdPrice(100n * e18) },
      chains: marketWithRentChain(),
    }),
  },
  lackOf: async () => ({ isAbsent: true }),
}
const fromRent = { user: account, originChainId: rentChain, originCurrency: coin, destinationChainId: chainA }
const toRent = { recipient: account, destinationChainId: rentChain, topupGas: true }

type Case = readonly [change: object, options: Asked]

test.each<[string, Case | undefined, Case, object]>([
  [
    'Q-132: coin for less than two fills',
    [{}, stock(100_000n, gasOfTwoFills)],
    [{}, stock(100_000n, gasOfTwoFills - 1n)],
    { code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(`^The fill wallet has too little ETH`) },
  ],
  [
    'Q-153: a refund that costs more than 5 %',
    [{ amount: '20000000' }, dearRefunds],
    [{ amount: '19999999' }, dearRefunds],
    { code: 'AMOUNT_TOO_LOW', data: { minimumAmount: '21328124' } },
  ],
  [
    'Q-153: dust, before its rounding looks like a loss in a pool',
    undefined,
    [{ ...intoUsdx, tradeType: 'EXACT_OUTPUT', amount: '1' }, {}],
    {
      code: 'AMOUNT_TOO_LOW',
      message: expect.stringMatching('refunding'),
      data: { minimumAmount: '180921' },
    },
  ],
  [
    'F-144: a refund that an empty account would not keep',
    // 890,880 of the coin and what a refund costs.
    [{ ...fromRent, amount: '907880' }, rent],
    [{ ...fromRent, amount: '907879' }, rent],
    { code: 'AMOUNT_TOO_LOW', message: expect.stringMatching('empty account') },
  ],
  [
    'F-144: a top-up that an empty account would not keep',
    [{ ...toRent, destinationCurrency: mint, topupGasAmount: '89088' }, rent],
    [{ ...toRent, destinationCurrency: mint, topupGasAmount: '89087' }, rent],
    { code: 'AMOUNT_TOO_LOW', data: { field: 'topupGasAmount' } },
  ],
  [
    'F-144: an output that an empty account would not keep',
    undefined,
    [{ ...toRent, ...halfFee, topupGas: false, destinationCurrency: coin, amount: '200000' }, rent],
    { code: 'AMOUNT_TOO_LOW', message: expect.stringMatching('would keep no payment') },
  ],
  [
    'calls that send on more coin than the output is',
    [{ ...ethOut, txs: [call(e18 / 50n), call(e18 / 50n)] }, {}],
    [{ ...ethOut, txs: [call(e18 / 50n), call(e18 / 50n + 1n)] }, {}],
    {
      code: 'INVALID_EXTRA_TXS',
      data: { field: 'txs', value: '40000000000000001', maximum: '40000000000000000' },
    },
  ],
  [
    'calls that send on coin where the output is a token',
    [{ txs: [call(0n)] }, {}],
    [{ txs: [call(1n)] }, {}],
    { code: 'INVALID_EXTRA_TXS', data: { field: 'txs', value: '1', maximum: '0' } },
  ],
  [
    'Q-154: an output above what the solver may pay',
    [{ ...exactOut, amount: '950000000' }, stock(1_000n)],
    [{ ...exactOut, amount: '950000001' }, stock(1_000n)],
    { code: 'INSUFFICIENT_LIQUIDITY', message: shortOf('USDC'), data: { maximumAmount: '950000000' } },
  ],
  [
    'Q-154: an input of another currency than is paid',
    undefined,
    [{ ...tides, amount: String(5_000n * e18) }, stock(1_000n)],
    { code: 'INSUFFICIENT_LIQUIDITY', data: { maximumAmount: '237500000000000000000' } },
  ],
  [
    'Q-154: an output that is wrapped',
    undefined,
    [{ ...exactOut, destinationCurrency: weth, amount: String(50n * e18) }, stock(1_000n)],
    {
      code: 'INSUFFICIENT_LIQUIDITY',
      message: shortOf('ETH'),
      data: { maximumAmount: '950000000000000000' },
    },
  ],
  [
    'Q-154: an output that is swapped, of which a little less than the stock is worth',
    undefined,
    [{ ...exactOut, destinationCurrency: tide, amount: String(5_000n * e18) }, stock(1_000n, e18 / 1_000n)],
    { code: 'INSUFFICIENT_LIQUIDITY', data: { maximumAmount: '233789062500000000000' } },
  ],
  [
    'Q-154: anything from nothing',
    undefined,
    [exactOut, stock(0n)],
    { code: 'INSUFFICIENT_LIQUIDITY', message: shortOf('USDC'), data: {} },
  ],
  [
    'a move that costs more than the solver’s inventory bears',
    undefined,
    [{ amount: '1500000000000' }, skewed],
    { code: 'INSUFFICIENT_LIQUIDITY', message: shortOf('USDC'), data: { maximumAmount: '1312500000000' } },
  ],
  [
    'Q-155: an amount that costs itself as a move',
    undefined,
    [{ amount: '9000000000000000000' }, skewed],
    { code: 'INSUFFICIENT_LIQUIDITY', message: shortOf('USDC'), data: { maximumAmount: '1321093750000' } },
  ],
  [
    'Q-155: an amount that no pool takes, although little of it would not cover fees',
    [{ ...tides, amount: String(e18), overridePriceImpact: true }, smallPool],
    [{ ...tides, amount: String(1_000n * e18) }, shallow],
    {
      code: 'INSUFFICIENT_LIQUIDITY',
      message: expect.stringMatching('hold too little to swap so much TIDE'),
    },
  ],
  [
    'Q-154: an amount that its fees take whole',
    undefined,
    [{ amount: '30000' }, {}],
    {
      code: 'AMOUNT_TOO_LOW',
      message: 'The amount does not cover the fees of this request.',
      data: { minimumAmount: '210661' },
    },
  ],
  [
    'fees that take nearly everything',
    undefined,
    [{ amount: '100000', ...appFee }, {}],
    { code: 'AMOUNT_TOO_LOW', data: { field: 'appFees', minimumAmount: '3163144' } },
  ],
])('%s is refused', async (_what, accepted, refused, refusal) => {
  expect(await refusalOf(...refused)).toMatchObject(refusal)
  if (accepted !== undefined) expect((await ask(...accepted)).status).toBe(200)
})

test('Q-132: a balance of coin that is unknown stops nothing', async () => {
  expect((await ask({}, { b: { inventory: { [usdc]: 100_000n * usdcUnits } } })).status).toBe(200)
})
