// Goal: a family is added to quotes by its record alone. A family that exists in this test is priced, and its steps
// are built, by the shipped pricing, requests and routes, which were not told of it.
import { convertUp, createOrderIdHasher, currencyKey, type Hex } from '@causeway/core'
import { type NetworkFees, type OriginRoute, quotingFamilies } from '@causeway/families/rules'
import { expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  e18,
  examplePrices,
  recipient,
  testChainMarket,
  testRegistry,
  testSnapshot,
  usdc,
  usdPrice,
  user,
} from '../../test/fixtures/market.ts'
import {
  account,
  coin,
  marketWithRentChain,
  mint,
  rates,
  registryWithRentChain,
  rentChain,
  rentFamily,
  unitsOf,
} from '../../test/fixtures/rentFamily.ts'
import { resolveClaim } from '../money/appFees/claimTerms.ts'
import { createInventoryViews } from './market/inventoryView.ts'

const prices = { ...examplePrices, 'COIN/USD': usdPrice(100n * e18) }
const coinUnit = { decimals: 9, usdX18: 100n * e18 }
const usdcUnit = { decimals: 6, usdX18: e18 }

/** Without a change it is a GET. */
async function ask(
  change: object | undefined,
  { url = '/quote', registry = registryWithRentChain(), ...options }: TestAppOptions & { url?: string } = {},
) {
  const market = { current: testSnapshot({ prices, chains: marketWithRentChain() }) }
  const app = await testApp({
    registry,
    inventoryView: createInventoryViews(registry),
    orderIdOf: createOrderIdHasher(registry.networkByKey),
    market,
    ...options,
  })
  onTestFinished(() => app.close())
  const payload = { user, originChainId: chainA, originCurrency: usdc, tradeType: 'EXACT_INPUT', ...change }
  const response = await app.inject(
    change === undefined ? { method: 'GET', url } : { method: 'POST', url, payload },
  )
  return { statusCode: response.statusCode, json: response.json(), stored: app.stored }
}

const toRent = {
  destinationChainId: rentChain,
  destinationCurrency: mint,
  recipient: account,
  amount: '100000000',
}
const fromRent = {
  user: account,
  originChainId: rentChain,
  originCurrency: coin,
  destinationChainId: chainA,
  destinationCurrency: usdc,
  recipient,
  amount: '1000000000',
}

test('a deposit on it is one step of its own form, whose fee its own units give', async () => {
  const { json } = await ask(fromRent)
  const [step, ...others] = json.steps
  expect(others).toEqual([])
  expect(step).toMatchObject({ id: 'deposit', kind: 'transaction', depositAddress: '' })
  const { orderId, orderData, paymentDetails } = json.protocol.v2
  expect(step.items[0].data).toEqual({
    instructions: [
      { unitPrice: rates.perMillionUnits.toString() },
      { program: paymentDetails.depository, id: orderId, from: account, amount: fromRent.amount },
    ],
    addressLookupTableAddresses: [],
  })
  expect(orderData.inputs[0].payment).toMatchObject({ chainId: 'rent', currency: coin })
  expect(orderData.inputs[0].refunds[0].recipient).toBe(account)
  const fee = rates.signature + (unitsOf.coin * rates.perMillionUnits) / 1_000_000n
  expect(json.fees.gas).toMatchObject({ amount: fee.toString(), currency: { address: coin, decimals: 9 } })
})

test('Q-159: rent of an account that the recipient lacks is a fee of its own, and dearer execution another', async () => {
  const lackOf = async ({ chainId }: { chainId: number }) =>
    chainId === rentChain ? { stateBytes: 165 } : {}
  const rent = (128n + 165n) * rates.rentByte
  const [lacking, having] = [await ask(toRent, { lackOf }), await ask(toRent)]
  const partsOf = ({ stored }: typeof lacking) => stored[0]?.quote.priced.split.parts
  expect(partsOf(lacking)?.rent).toBe(convertUp(rent, coinUnit, usdcUnit))
  expect(partsOf(having)?.rent).toBe(0n)
  const costOf = (units: bigint) => rates.signature + (units * rates.perMillionUnits) / 1_000_000n
  expect(partsOf(lacking)?.gas).toBe(convertUp(costOf(unitsOf.withAccount), coinUnit, usdcUnit))
  expect(partsOf(having)?.gas).toBe(convertUp(costOf(unitsOf.token), coinUnit, usdcUnit))
  const outOf = ({ json }: typeof lacking) => BigInt(json.details.currencyOut.amount)
  expect(outOf(having) - outOf(lacking)).toBe(
    convertUp(rent, coinUnit, usdcUnit) +
      convertUp(costOf(unitsOf.withAccount), coinUnit, usdcUnit) -
      convertUp(costOf(unitsOf.token), coinUnit, usdcUnit),
  )
})

test('Q-150: an exact output from a chain that moves steps alone tells the rest of its input as a fee', async () => {
  const step = 1_000n
  const inSteps: typeof rentFamily = {
    ...rentFamily,
    bind: (chain) => ({ ...rentFamily.bind(chain), granularity: () => step }),
  }
  const registry = registryWithRentChain({ ...quotingFamilies, 'solana-vm': inSteps })
  for (const amount of [1_000_001n, 22_222_222n, 98_765_432n]) {
    const { stored } = await ask(
      { ...fromRent, tradeType: 'EXACT_OUTPUT', amount: amount.toString() },
      { registry },
    )
    const { split } = stored[0]?.quote.priced ?? {}
    if (split === undefined) throw new Error('it is quoted')
    expect(split.amountIn % step).toBe(0n)
    expect(split.net).toBe(convertUp(amount, usdcUnit, coinUnit))
    expect(split.amountIn).toBe(split.net + split.relayer + split.app - split.subsidized)
  }
})

const unknownOn = (chainId: number, address: string) =>
  marketWithRentChain().map((chain) => {
    if (chain.chainId !== chainId) return chain
    const inventory = new Map(chain.inventory)
    inventory.delete(currencyKey(chainId, address))
    return { ...chain, inventory }
  })

test.each([
  ['a price from it', '/price', { body: fromRent, unknown: [rentChain, coin] }],
  ['a quote from it', '/quote', { body: fromRent, unknown: [rentChain, coin] }],
  ['a price to it', '/price', { body: toRent, unknown: [rentChain, mint] }],
  ['a quote to it', '/quote', { body: toRent, unknown: [rentChain, mint] }],
  ['a price from an EVM chain', '/price', { body: toRent, unknown: [chainA, usdc] }],
  ['a price to an EVM chain', '/price', { body: fromRent, unknown: [chainA, usdc] }],
  ['what the solver holds', `/chains/liquidity?chainId=${chainA}`, { unknown: [chainA, usdc] }],
  [
    'what can be moved',
    `/config/v2?originChainId=${chainB}&destinationChainId=${chainA}&currency=usdc`,
    { unknown: [chainA, usdc] },
  ],
] as const)('Q-83: an unknown balance is not zero: %s', async (_what, url, { unknown, ...asked }) => {
  const [chainId, address] = unknown
  const market = { current: testSnapshot({ prices, chains: unknownOn(chainId, address) }) }
  const { statusCode, json } = await ask('body' in asked ? asked.body : undefined, { url, market })
  expect([statusCode, json.errorCode]).toEqual([503, 'SERVICE_UNAVAILABLE'])
  expect(json.message).toMatch(
    new RegExp(`^What the solver holds of \\w+ on chain ${chainId} cannot be read`),
  )
})

test('Q-83: an unknown balance refuses nobody who names another chain', async () => {
  const market = { current: testSnapshot({ prices, chains: unknownOn(chainB, usdc) }) }
  expect([(await ask(toRent, { market })).statusCode, (await ask(fromRent, { market })).statusCode]).toEqual([
    200, 200,
  ])
})

test('Q-159: rent is never a guess: while nobody knows what the recipient has, nothing is quoted', async () => {
  const { statusCode, json } = await ask(toRent, { lackOf: async () => undefined })
  expect([statusCode, json.errorCode]).toEqual([503, 'SERVICE_UNAVAILABLE'])
})

test.each([
  [
    'calls',
    { ...toRent, txs: [{ to: usdc, value: '0', data: '0x' }], txsGasLimit: 1 },
    'EXTRA_TXS_NOT_SUPPORTED',
  ],
  ['an address of another family', { ...toRent, recipient }, 'INVALID_ADDRESS'],
  ['a permit', { ...fromRent, usePermit: true }, 'UNSUPPORTED_CURRENCY'],
  ['a deposit address', { ...fromRent, useDepositAddress: true }, 'UNSUPPORTED_EXECUTION_TYPE'],
])('Q-183: %s that it does not take is refused by name', async (_what, change, code) => {
  const { statusCode, json } = await ask(change)
  expect([statusCode, json.errorCode]).toEqual([400, code])
})

test('Q-183: an amount beyond 64 bits is refused with the most that it can carry', async () => {
  const within = { destinationChainId: rentChain, destinationCurrency: coin, recipient: account }
  const { statusCode, json } = await ask({ ...fromRent, ...within, amount: (2n ** 64n).toString() })
  expect([statusCode, json.errorCode]).toEqual([400, 'INVALID_REQUEST'])
  expect(JSON.parse(json.errorData)).toMatchObject({ maximumAmount: (2n ** 64n - 1n).toString() })
})

test.each([
  ['none', undefined, '/price'],
  ['the user, as clients do that were given none', user, '/quote'],
])(
  'Q-2: where the recipient is %s, a user of another family is told what is missing',
  async (...[, to, url]) => {
    const { json } = await ask({ ...toRent, recipient: to }, { url })
    expect(json).toMatchObject({ errorCode: 'INVALID_ADDRESS', statusCode: 400 })
    expect(json.message).toBe(`recipient is required: user is not a valid address on chain ${rentChain}.`)
    expect(JSON.parse(json.errorData)).toMatchObject({ field: 'recipient', chainId: rentChain })
  },
)

test('a transfer that its user sends alone carries no call to look for', async () => {
  const { json, stored } = await ask({
    ...fromRent,
    destinationChainId: rentChain,
    destinationCurrency: coin,
    recipient: account,
  })
  expect(json.steps.map(({ id }: { id: string }) => id)).toEqual(['send'])
  expect(stored[0]?.quote.calls).toEqual([])
})

test('app fees are claimed for accounts of the family, in their own spelling', () => {
  const claim = { wallet: usdc, chainId: rentChain, currency: mint, recipient: account, amount: undefined }
  expect(resolveClaim(registryWithRentChain(), claim).recipient).toBe(account)
  const foreign = { ...claim, recipient: usdc }
  expect(() => resolveClaim(registryWithRentChain(), foreign)).toThrow('not a valid address')
})

test('the account that fills elsewhere is not shown where it is no account', async () => {
  const registry = registryWithRentChain()
  const fillWallet = `0x${'f1'.repeat(20)}` as const
  const market = { current: testSnapshot({ prices, chains: marketWithRentChain() }) }
  const app = await testApp({ registry, market, fillWallet })
  onTestFinished(() => app.close())
  const { chains } = (await app.inject({ method: 'GET', url: '/chains' })).json()
  const shown = (id: number) => chains.find((chain: { id: number }) => chain.id === id).solverAddresses
  expect([shown(chainA), shown(rentChain)]).toEqual([[fillWallet], []])
})

test('fees of another family pay no step', () => {
  const { quoting } = registryWithRentChain().chainById.get(chainA) ?? {}
  const fees: NetworkFees = {
    costOf: () => 0n,
    gasOf: () => undefined,
    rentOf: () => 0n,
    leastPayment: () => 0n,
    equals: () => true,
  }
  const currency = { address: usdc, isNative: false, resetsAllowance: false }
  const amounts = { amountIn: 1n, amountInMax: 1n, amountOut: 1n, amountOutMin: 1n }
  const route: OriginRoute = {
    user,
    recipient,
    currencyIn: currency,
    currencyOut: currency,
    ...amounts,
    by: 'send',
    swap: undefined,
    deposited: undefined,
  }
  const requestId: Hex = `0x${'5a'.repeat(32)}`
  const identity = { requestId, orderId: undefined, deadlineSeconds: 0, depositAddress: undefined }
  const encode = (paying: NetworkFees) =>
    quoting?.encode({ kind: 'send-input', isNative: false }, route, { identity, fees: paying })
  expect(() => encode(fees)).toThrow('fees of its own family')
  expect(encode(testChainMarket(chainA).fees)?.data).toMatchObject({ from: user, to: usdc })
})

test('without its line a chain of it stops the start, and a request for it is answered as for any unknown chain', async () => {
  const { 'solana-vm': _its, ...others } = quotingFamilies
  expect(() => registryWithRentChain(others)).toThrow('chains.rent: a chain of solana-vm cannot be quoted')
  const { statusCode, json } = await ask(toRent, { registry: testRegistry() })
  expect([statusCode, json.errorCode]).toEqual([400, 'UNSUPPORTED_CHAIN'])
})

test('a setting of deposit addresses that its family cannot use is refused by name, never ignored', () => {
  expect(() => registryWithRentChain(undefined, { depositAddressKey: `0x02${'11'.repeat(32)}` })).toThrow(
    'chains.rent.depositAddressKey: chains of solana-vm make no deposit addresses with it',
  )
  expect(() => registryWithRentChain(undefined, { depositAddressProgram: mint })).toThrow(
    'chains.rent.depositAddressProgram: chains of solana-vm make no deposit addresses with it',
  )
})

test.each([
  ['from', rentChain, chainA],
  ['to', chainA, rentChain],
])(
  'Q-109: what can be moved %s it, and for which fee, is told in the units of each side',
  async (_way, originChainId, destinationChainId) => {
    const file = registryWithRentChain().chainById.get(rentChain)?.config
    const currencies = file?.currencies.map((currency) => ({ ...currency, decimals: 8 })) ?? []
    const registry = registryWithRentChain(undefined, { currencies })
    const url = `/config/v2?originChainId=${originChainId}&destinationChainId=${destinationChainId}&currency=usdc`
    const asked = `${url}&user=${originChainId === rentChain ? account : user}`
    const { json } = await ask(undefined, { url: asked, registry, facts: { balance: 10n ** 30n } })
    expect(json.enabled).toBe(true)
    expect(Number(json.fee)).toBeGreaterThan(0)
    const [capacity, most] = [BigInt(json.solver.capacityPerRequest), BigInt(json.user.maxBridgeAmount)]
    expect(most).toBe(originChainId === rentChain ? capacity * 100n : capacity / 100n)
  },
)
