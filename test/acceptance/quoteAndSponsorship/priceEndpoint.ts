// POST /price, deprecated: its request fields and what they do, its answers.
import { describe, expect, test } from 'vitest'
import { post, send } from '../../../apps/quote-api/test/serviceSupport/callService.ts'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { answerSchema, operationOf, readDescription } from '../support/interfaceDescription.ts'
import { bodyOf, newUser, ofOneMarket, price, quote, refusalOf, type Wish } from '../support/quoteRequests.ts'
import { errorShape, priceShape } from '../support/quoteShapes.ts'
import { priceFields } from '../support/quoteTables.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'
import { describeFields } from './fieldTests.ts'
import { failureOf } from './resources.ts'

export function describePriceEndpoint(at: () => QuoteWorld): void {
  describeFields(at, '/price', priceFields)
  describe('what the fields do', () => describeEffects(at))

  const path = () => `${at().urls.publicUrl}/price`

  test('Q-price-res-01: 200 answers fees and details as defined, and nothing else', async () => {
    const answer = await post(path(), bodyOf(at()))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ])
    expect(Object.keys(priceShape.parse(JSON.parse(answer.text)))).toEqual(['fees', 'details'])
  })

  test.each<[string, string | object, object]>([
    ['half a JSON', '{"user": "0x', {}],
    ['an empty body', '', {}],
    ['a list', '[]', {}],
    ['a member twice', '{"user": "0x1", "user": "0x2"}', {}],
    ['an amount that fees eat up', { amount: '1' }, { errorCode: 'AMOUNT_TOO_LOW' }],
  ])('Q-price-res-02: 400 answers the error body with errorData: %s', async (_what, sent, told) => {
    const body = typeof sent === 'string' ? sent : JSON.stringify({ ...bodyOf(at()), ...sent })
    const headers = { 'content-type': 'application/json' }
    const { status, text } = await send(path(), { method: 'POST', headers, body })
    const refusal = errorShape.parse(JSON.parse(text))
    expect([status, typeof refusal.errorData]).toEqual([400, 'string'])
    expect(refusal).toMatchObject(told)
  })

  test.each(['nobody has it', 'causeway_test_aaaaaaaaaa_x', '__proto__'])(
    'Q-price-res-03: 401 answers the error body, to the key %s',
    async (key) => {
      const refusal = await refusalOf(at(), '/price', bodyOf(at()), { 'x-api-key': key })
      expect(refusal).toMatchObject({ status: 401, errorCode: 'UNAUTHORIZED' })
      expect(refusal).not.toHaveProperty('errorData')
    },
  )

  test('Q-price-res-04: 500 answers the error body, and the next request is answered', async () => {
    const failure = await failureOf(at())
    expect(failure).toMatchObject({ status: 500, message: 'Internal error.', errorCode: 'UNKNOWN_ERROR' })
    expect(failure).not.toHaveProperty('errorData')
    await price(at())
  })

  test('the description has every status and body, and says that the route is deprecated', async () => {
    const description = await readDescription(at().urls.publicUrl)
    const { deprecated, responses } = operationOf(description, 'POST', '/price')
    expect([deprecated, Object.keys(responses)]).toEqual([
      true,
      expect.arrayContaining(['200', '400', '401', '500']),
    ])
    const answered = (status: number) => answerSchema(description, ['POST', '/price', status])
    expect(answered(200)?.required?.toSorted()).toEqual(['details', 'fees'])
    for (const status of [400, 401, 500]) {
      const { properties, required } = answered(status) ?? {}
      expect(required).toEqual(expect.arrayContaining(['message', 'errorCode']))
      expect(properties).toMatchObject({ message: { type: 'string' }, errorCode: { type: 'string' } })
      expect([properties?.['errorData']?.type, required?.includes('errorData')]).toEqual(['string', false])
    }
  })
}

function describeEffects(at: () => QuoteWorld): void {
  const refused = (wish: Wish, path = '/price') => refusalOf(at(), path, bodyOf(at(), wish))

  test('Q-price-req-02: recipient defaults to the user', async () => {
    const { recipient, sender } = (await price(at(), { more: { recipient: undefined } })).details
    expect([recipient, sender]).toEqual([userOf(at().network, 0).address, userOf(at().network, 0).address])
  })

  test.each([
    ['EXACT_INPUT', 'currencyIn', 100_000_000n, true],
    ['EXACT_OUTPUT', 'currencyOut', 10n ** 19n, true],
    ['EXPECTED_OUTPUT', 'currencyOut', 10n ** 19n, false],
  ] as const)('Q-price-req-08: by %s the amount is %s', async (tradeType, side, amount, isExact) => {
    const more = { tradeType, slippageTolerance: '50' }
    const { details } = await price(at(), { pay: 'USDX', receive: 'TIDE', amount, more })
    expect(details[side].amount).toBe(amount.toString())
    expect(details[side].minimumAmount === details[side].amount).toBe(isExact)
  })

  test('Q-price-req-07: the amount with leading zeros is the amount without', async () => {
    const { details } = await price(at(), { more: { amount: '000100000000' } })
    expect(details.currencyIn.amount).toBe('100000000')
  })

  test('Q-price-req-09: calls cost destination gas, and their value is taken from the output', async () => {
    const call = { to: newUser(), value: '1000', data: '0x' }
    const wish: Wish = { pay: 'native', amount: 10n ** 17n }
    const more = { txs: [call], txsGasLimit: 100_000 }
    const [plain, called] = await ofOneMarket(
      () => price(at(), wish),
      () => price(at(), { ...wish, more }),
    )
    expect(BigInt(called.fees.relayerGas.amount)).toBeGreaterThan(BigInt(plain.fees.relayerGas.amount))
    const { protocol } = await quote(at(), { ...wish, more })
    expect(JSON.stringify(protocol)).toContain(call.to.slice(2).toLowerCase())
  })

  test('Q-price-req-09: half a byte of data fits the pattern, and is refused by the rule that it breaks', async () => {
    const txs = [{ to: newUser(), value: '0', data: '0x1' }]
    const { status, message } = await refused({ more: { txs, txsGasLimit: 50_000 } })
    expect([status, message]).toEqual([400, expect.stringMatching(/\b(even|odd)\b/)])
  })

  test.each([
    ['refundTo', { refundTo: `0x${'4e'.repeat(20)}`, recipient: `0x${'4d'.repeat(20)}` }, '4e'],
    ['the recipient where there is no refundTo', { recipient: `0x${'4d'.repeat(20)}` }, '4d'],
  ])('Q-price-req-11: a failure is refunded to %s, on the origin chain', async (_whom, more, to) => {
    const user = `0x${'4c'.repeat(20)}`
    const { protocol } = await quote(at(), { more: { user, ...more } })
    const { orderData } = Object(protocol).v2
    expect(orderData.inputs[0].refunds).toMatchObject([
      { chainId: 'base', recipient: `0x${to.repeat(20)}` },
      // Behind it, for an account that can take nothing any more.
      { chainId: 'base', recipient: user },
    ])
  })

  test('Q-price-req-11: a failure is refunded to the user where nobody else is named', async () => {
    const { status, text } = await post(
      `${at().urls.publicUrl}/quote/v2`,
      bodyOf(at(), { more: { recipient: undefined } }),
    )
    expect(status, text).toBe(200)
    const [{ refunds }] = JSON.parse(text).protocol.v2.orderData.inputs
    expect(refunds).toMatchObject([{ recipient: userOf(at().network, 0).address.toLowerCase() }])
  })

  test.each([true, false])('Q-price-req-12: refundOnOrigin %s changes nothing', async (refundOnOrigin) => {
    const [plain, flagged] = await ofOneMarket(
      () => price(at()),
      () => price(at(), { more: { refundOnOrigin } }),
    )
    expect(flagged).toEqual(plain)
  })

  test('Q-price-req-13: useExternalLiquidity trades speed for more liquidity', async () => {
    const much: Wish = { amount: 2_500_000_000_000n }
    expect(await refused(much)).toMatchObject({ status: 400, errorCode: 'INSUFFICIENT_LIQUIDITY' })
    const allowed = await quote(at(), { ...much, more: { useExternalLiquidity: true } })
    const own = await quote(at(), { amount: 1_500_000_000_000n })
    expect(allowed.details.timeEstimate).toBeGreaterThanOrEqual(own.details.timeEstimate + 120)
    // A user who is quoted no more than was paid for does not gain by what somebody else brings.
    expect(BigInt(allowed.details.currencyOut.amount)).toBeLessThan(2_500_000_000_000n)
  })

  test('Q-price-req-14: useFallbacks enables further routes, which the refusal without it names', async () => {
    const rare: Wish = { to: 'base', pay: 'USDX', receive: 'TIDE' }
    const refusal = await refused(rare)
    expect(refusal).toMatchObject({ status: 400, errorCode: 'NO_SWAP_ROUTES_FOUND' })
    expect(`${refusal.message} ${refusal.errorData}`).toContain('useFallbacks')
    const { details } = await quote(at(), { ...rare, more: { useFallbacks: true } })
    expect(BigInt(details.currencyOut.amount)).toBeGreaterThan(0n)
  })

  test('Q-price-req-15: usePermit asks for a signature instead of a transaction, by EIP-3009', async () => {
    const { steps, fees } = await quote(at(), { more: { usePermit: true } })
    expect(steps).toMatchObject([{ kind: 'signature' }])
    expect(JSON.stringify(steps)).toContain('ReceiveWithAuthorization')
    expect(fees.gas.amount).toBe('0')
    const without = await refused({ pay: 'native', amount: 10n ** 18n, more: { usePermit: true } })
    expect(without).toMatchObject({ status: 400, errorCode: 'UNSUPPORTED_CURRENCY' })
  })

  test('Q-price-req-16: useDepositAddress takes a plain payment of the native currency', async () => {
    const wish: Wish = { pay: 'native', amount: 10n ** 18n, more: { useDepositAddress: true } }
    const [step] = (await quote(at(), wish)).steps
    expect(step).toMatchObject({ depositAddress: expect.stringMatching(/^0x[0-9a-f]{40}$/) })
    expect(step?.items).toMatchObject([{ data: { to: step?.['depositAddress'], data: '0x' } }])
    const swapped = await refused({ pay: 'TIDE', amount: 10n ** 19n, more: { useDepositAddress: true } })
    expect(swapped).toMatchObject({ status: 400 })
  })

  test.each([
    ['without pools nothing can slip', {}, '0'],
    ['pools have an allowance that is computed', { pay: 'USDX', receive: 'TIDE' }, undefined],
  ] as const)('Q-price-req-17: without slippageTolerance it is computed: %s', async (_what, wish, total) => {
    const { slippageTolerance } = (await price(at(), wish)).details
    if (total === undefined) expect(Number(slippageTolerance.total)).toBeGreaterThan(0)
    else expect(slippageTolerance.total).toBe(total)
    expect(Number(slippageTolerance.total)).toBeLessThan(1_000)
  })

  test.each([
    ['100', 1_000_000n],
    ['1', 10_000n],
    ['000100', 1_000_000n],
    ['9000', 90_000_000n],
  ])('Q-price-req-18: an app fee of %s basis points of 100 USDC is %i units', async (fee, amount) => {
    const { fees } = await price(at(), { more: { appFees: [{ recipient: newUser(), fee }] } })
    expect(fees.app.amount).toBe(amount.toString())
  })
}
