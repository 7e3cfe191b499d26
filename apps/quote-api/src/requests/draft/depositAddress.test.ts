// Goal: a quote by deposit address names one address that its order, and only its order's refund party, is
// bound to. Method: POST /quote over a settable market; what the address is made of is computed anew.

import { hexText } from '@causeway/core'
import { depositAddressOf, depositSwapSalt } from '@causeway/families/rules'
import { encodeFunctionData, erc20Abi } from 'viem'
import { describe, expect, onTestFinished, test } from 'vitest'
import { orderSigner, sharedTestApp, type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  marketWithPools,
  native,
  recipient,
  testRegistry,
  tide,
  usdc,
  usdx,
  user,
  weth,
} from '../../../test/fixtures/market.ts'
import { createOpenQuotes } from '../../pricing/openQuotes/openQuotes.ts'

const fillWallet = `0x${'f1'.repeat(20)}` as const
const refundTo = `0x${'4e'.repeat(20)}` as const
const zero = `0x${'0'.repeat(40)}`
const dead = `0x${'0'.repeat(36)}dead`
const body = {
  user,
  recipient,
  refundTo,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: native,
  destinationCurrency: native,
  amount: '1000000000000000000',
  tradeType: 'EXACT_INPUT',
  useDepositAddress: true,
}

const hex = (account: string) => hexText(20).parse(account)

const askShared = sharedTestApp({ fillWallet, openQuotes: createOpenQuotes({ perUserBps: 0 }) })

async function quote(change: object = {}, options?: TestAppOptions, url = '/quote') {
  const asked = { method: 'POST', url, payload: { ...body, ...change } } as const
  if (options === undefined) {
    const { response, stored } = await askShared(asked)
    return { json: response.json(), stored }
  }
  const app = await testApp(options)
  onTestFinished(() => app.close())
  const response = await app.inject(asked)
  return { json: response.json(), stored: app.stored }
}

describe('deposit addresses', () => {
  test('are derived from signer, sweeper and refund party, and named by salt and step', async () => {
    const { json, stored } = await quote()
    const contract = testRegistry().chainById.get(chainA)?.config.depositAddresses
    const made = stored[0]?.quote.depositAddress
    if (contract === undefined || made === undefined) throw new Error('there is no address')
    expect(made.terms).toMatchObject({ orderSigner, sweeper: fillWallet, depositor: refundTo })
    const terms = { ...made.terms, sweeper: hex(made.terms.sweeper), depositor: hex(made.terms.depositor) }
    expect(made.address).toBe(depositAddressOf(terms, contract))
    const { salt, inputs } = json.protocol.v2.orderData
    expect(salt.slice(0, 42)).toBe(made.address)
    expect(inputs[0].refunds[0].recipient).toBe(refundTo)
    expect(json.steps).toHaveLength(1)
    expect(json.steps[0]).toMatchObject({
      id: 'deposit',
      depositAddress: made.address,
      items: [{ data: { to: made.address, data: '0x', value: body.amount } }],
    })
  })

  test.each([
    ['refundTo', {}, refundTo],
    ['recipient without it', { refundTo: undefined }, recipient],
    ['user without both', { refundTo: undefined, recipient: undefined }, user],
  ])('Q-206: credit %s', async (_who, change, depositor) => {
    const { stored } = await quote(change, { fillWallet }, '/quote/v2')
    expect(stored[0]?.quote.depositAddress?.terms.depositor).toBe(depositor.toLowerCase())
  })

  test('take any user, the zero address too', async () => {
    const { json } = await quote({ user: zero })
    expect(json.steps[0].items[0].data.from).toBe(zero)
  })

  test('Q-63: are priced before anybody is named', async () => {
    const { stored } = await quote({ user: dead, recipient: dead, refundTo: undefined })
    expect(stored[0]?.quote.depositAddress?.terms.depositor).toBe(fillWallet)
  })

  test('Q-66: are given where nobody can be refunded, as published pages ask', async () => {
    const { refundTo: _named, ...asked } = { ...body, user: dead, referrer: 'a.example' }
    const app = await testApp({ fillWallet, hasCode: async ({ chainId }) => chainId === chainB })
    onTestFinished(() => app.close())
    const json = (await app.inject({ method: 'POST', url: '/quote/v2', payload: asked })).json()
    const [made] = app.stored
    expect(json.steps[0].depositAddress).toBe(made?.quote.depositAddress?.address)
    expect(json.protocol.v2.orderData.inputs[0].refunds).toMatchObject([{ recipient: dead }])
    expect(made?.quote.depositAddress?.terms.depositor).toBe(fillWallet)
  })

  test('Q-195: cost the gas of the sweep, in the fee and in what a refund gives back', async () => {
    const [{ json: by }, { json: direct }] = [await quote(), await quote({ useDepositAddress: false })]
    const gasOf = (json: typeof by) => BigInt(json.fees.relayerGas.amount)
    const refundOf = (json: typeof by) => BigInt(json.details.refundCurrency.amount)
    expect(gasOf(by)).toBeGreaterThan(gasOf(direct))
    expect(refundOf(by)).toBeLessThan(refundOf(direct))
    expect(refundOf(direct) - refundOf(by)).toBe(gasOf(by) - gasOf(direct))
  })

  test.each<[string, object, TestAppOptions, string, string | undefined]>([
    ['a chain whose addresses nobody empties', {}, {}, 'UNSUPPORTED_EXECUTION_TYPE', 'useDepositAddress'],
    [
      'EXACT_OUTPUT',
      { tradeType: 'EXACT_OUTPUT' },
      { fillWallet },
      'UNSUPPORTED_EXECUTION_TYPE',
      'tradeType',
    ],
    [
      'nobody to refund',
      { refundTo: undefined, user: zero },
      { fillWallet, hasCode: async ({ chainId }) => chainId === chainB },
      'INVALID_ADDRESS',
      'refundTo',
    ],
    [
      'a payment to oneself in one currency of one chain',
      { destinationChainId: chainA, originCurrency: native },
      { fillWallet },
      'UNSUPPORTED_ROUTE',
      'useDepositAddress',
    ],
    [
      'an exact output of a currency that is swapped first, for one use too',
      { originCurrency: tide, tradeType: 'EXACT_OUTPUT', strict: true },
      { fillWallet },
      'UNSUPPORTED_EXECUTION_TYPE',
      'tradeType',
    ],
    [
      'one use without refundTo',
      { strict: true, refundTo: undefined },
      { fillWallet },
      'INVALID_ADDRESS',
      'refundTo',
    ],
    [
      'a swap on the destination without refundTo',
      { destinationCurrency: tide, refundTo: undefined },
      { fillWallet },
      'INVALID_ADDRESS',
      'refundTo',
    ],
    [
      'one use of no address',
      { strict: true, useDepositAddress: false },
      { fillWallet },
      'INVALID_REQUEST',
      'strict',
    ],
    [
      'calls',
      { txs: [{ to: user, value: '0', data: '0x' }] },
      { fillWallet },
      'EXTRA_TXS_NOT_SUPPORTED',
      'txs',
    ],
  ])('Q-205: are refused for %s, and nothing is stored', async (_what, change, options, errorCode, field) => {
    const { json, stored } = await quote(change, options)
    expect(json).toMatchObject({ statusCode: 400, errorCode })
    if (field !== undefined) expect(json.errorData).toContain(field)
    expect(stored).toEqual([])
  })

  test('of a token are paid by a plain transfer, without an approval', async () => {
    const { json, stored } = await quote({ originCurrency: usdc, amount: '100000000' })
    const made = stored[0]?.quote.depositAddress
    if (made === undefined) throw new Error('there is no address')
    const transfer = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [hex(made.address), 100_000_000n],
    })
    expect(json.steps).toHaveLength(1)
    expect(json.steps[0]).toMatchObject({
      id: 'deposit',
      depositAddress: made.address,
      items: [{ data: { to: usdc, data: transfer, value: '0' } }],
    })
    expect(json.protocol.v2.orderData.inputs[0].payment).toMatchObject({
      currency: usdc,
      amount: '100000000',
    })
  })

  test('of a token cost the gas of its sweep, in the fee and in what a refund gives back', async () => {
    const token = { originCurrency: usdc, destinationCurrency: usdc, amount: '100000000' }
    const [{ json: by }, { json: direct }] = [
      await quote(token),
      await quote({ ...token, useDepositAddress: false }),
    ]
    const gasOf = (json: typeof by) => BigInt(json.fees.relayerGas.amount)
    const refundOf = (json: typeof by) => BigInt(json.details.refundCurrency.amount)
    expect(gasOf(by)).toBeGreaterThan(gasOf(direct))
    expect(refundOf(direct) - refundOf(by)).toBe(gasOf(by) - gasOf(direct))
  })

  test.each<[string, object]>([
    ['a token for another asset', { originCurrency: usdc, amount: '100000000' }],
    ['wrapped coin, which the solver takes at par', { originCurrency: weth }],
    ['a swap on the destination', { originCurrency: usdc, destinationCurrency: usdx, amount: '100000000' }],
    ['another currency of one chain', { destinationChainId: chainA, destinationCurrency: usdc }],
    ['the wrapped coin of one chain', { destinationChainId: chainA, destinationCurrency: weth }],
  ])('Q-205: take %s, for an order', async (_what, change) => {
    const { json, stored } = await quote(change, { fillWallet, market: { current: marketWithPools() } })
    expect(json.steps?.[0], JSON.stringify(json)).toMatchObject({ id: 'deposit' })
    expect(stored[0]?.quote.ordered?.order.salt.slice(0, 42)).toBe(stored[0]?.quote.depositAddress?.address)
  })

  test.each<[string, object]>([
    ['EXACT_INPUT', { amount: '1000000000000000000000' }],
    ['EXPECTED_OUTPUT', { tradeType: 'EXPECTED_OUTPUT', amount: '100000000' }],
    ['EXACT_INPUT for one use', { amount: '1000000000000000000000', strict: true }],
  ])(
    'take a currency that is swapped first, and the salt commits to its price: %s',
    async (_what, change) => {
      const { json, stored } = await quote(
        { originCurrency: tide, destinationCurrency: usdc, ...change },
        { fillWallet, market: { current: marketWithPools() } },
      )
      const { depositAddress, depositSwap, ordered } = stored[0]?.quote ?? {}
      if (depositAddress === undefined || depositSwap === undefined || ordered === undefined)
        throw new Error(JSON.stringify(json))
      const { payment } = ordered.order.inputs[0] ?? {}
      expect(depositSwap).toMatchObject({ tokenIn: tide, tokenOut: payment?.currency })
      expect(String(depositSwap.amountIn)).toBe(json.details.currencyIn.amount)
      expect(String(depositSwap.amountOutMin)).toBe(payment?.amount)
      expect(ordered.order.salt).toBe(depositSwapSalt(hex(depositAddress.address), depositSwap))
      const transfer = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [hex(depositAddress.address), depositSwap.amountIn],
      })
      expect(json.steps).toHaveLength(1)
      expect(json.steps[0].items[0].data).toMatchObject({ to: tide, data: transfer })
    },
  )

  test('of one use take an exact output', async () => {
    const exact = { strict: true, tradeType: 'EXACT_OUTPUT', amount: '900000000000000000' }
    const { json, stored } = await quote(exact)
    expect(json.steps[0].items[0].data.value).toBe(json.details.currencyIn.amount)
    expect(json.details.currencyOut.minimumAmount).toBe(exact.amount)
    expect(stored[0]?.request.strict).toBe(true)
  })

  test('take an expected output', async () => {
    const { json } = await quote({ tradeType: 'EXPECTED_OUTPUT', amount: '900000000000000000' })
    expect(json.steps[0].items[0].data.value).toBe(json.details.currencyIn.amount)
  })
})
