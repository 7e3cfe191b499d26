// Goal: a body is held to the rules that the interface document leaves open; `test/acceptance` holds it to the document's.
import { describe, expect, test } from 'vitest'
import { sharedTestApp } from '../../../test/fixtures/app.ts'
import { chainA, chainB, recipient, usdc, usdx, user } from '../../../test/fixtures/market.ts'

const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: usdc,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}
const call = { to: user, value: '0', data: '0x' }
const fee = { recipient: user, fee: '1' }
const many = (count: number, item: object) => Array.from({ length: count }, () => item)

const ask = sharedTestApp()

async function send(payload: unknown, contentType = 'application/json') {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const headers = { 'content-type': contentType }
  return (await ask({ method: 'POST', url: '/price', payload: text, headers })).response
}

describe('accepted at the limit', () => {
  test.each([
    ['20 txs', { txs: many(20, call) }],
    ['10 appFees', { appFees: many(10, fee) }],
    ['calldata at its limit', { txs: [{ ...call, data: `0x${'ab'.repeat(16_000)}` }] }],
    ['null bytes nowhere, unknown members stripped', { extra: { deep: [1, 2, 3] } }],
    ['topupGasAmount 0', { topupGas: true, topupGasAmount: '0' }],
    ['txsGasLimit 10 million', { txsGasLimit: 10_000_000 }],
  ])('%s', async (_name, change) => {
    expect((await send({ ...body, ...change })).statusCode).toBe(200)
  })
})

describe('refused', () => {
  test.each([
    ['user too long', { user: 'a'.repeat(129) }, 'user'],
    ['amount of 79 digits', { amount: '1'.repeat(79) }, 'amount'],
    ['txs value of 2^256', { txs: [{ ...call, value: String(2n ** 256n) }] }, 'txs'],
    ['21 txs', { txs: many(21, call) }, 'txs'],
    ['11 appFees', { appFees: many(11, fee) }, 'appFees'],
    ['topupGasAmount a number', { topupGasAmount: 1 }, 'topupGasAmount'],
    ['txsGasLimit above 10 million', { txsGasLimit: 10_000_001 }, 'txsGasLimit'],
  ])('%s', async (_name, change, field) => {
    const response = await send({ ...body, ...change })
    const json = response.json()
    expect(json).toMatchObject({ statusCode: 400, errorCode: 'INVALID_REQUEST' })
    expect(json.message.startsWith(field), json.message).toBe(true)
    expect(JSON.parse(json.errorData).rule).toBe(json.message)
  })

  test.each([['10001'], ['00050'], ['010000'], ['-1'], ['abc'], ['0.5'], [''], ['99999'], [50], [null]])(
    'slippageTolerance %s with its own code',
    async (slippageTolerance) => {
      const json = (await send({ ...body, slippageTolerance })).json()
      expect(json).toMatchObject({ statusCode: 400, errorCode: 'INVALID_SLIPPAGE_TOLERANCE' })
    },
  )

  test.each([
    ['an amount beyond any supply', { amount: String(2n ** 256n - 1n) }, 'INSUFFICIENT_LIQUIDITY'],
    [
      'an amount beyond what pools can count',
      { amount: String(2n ** 256n - 1n), originCurrency: usdx },
      'INSUFFICIENT_LIQUIDITY',
    ],
    [
      'an exact output beyond any supply',
      { amount: String(2n ** 256n - 1n), tradeType: 'EXACT_OUTPUT' },
      'INSUFFICIENT_LIQUIDITY',
    ],
    [
      'a chain id of the largest safe integer',
      { originChainId: Number.MAX_SAFE_INTEGER },
      'UNSUPPORTED_CHAIN',
    ],
    ['a currency named like an object member', { originCurrency: '__proto__' }, 'INVALID_INPUT_CURRENCY'],
    ['a user named like an object member', { user: 'constructor' }, 'INVALID_ADDRESS'],
  ])('%s', async (_name, change, errorCode) => {
    expect((await send({ ...body, ...change })).json()).toMatchObject({ statusCode: 400, errorCode })
  })

  test.each([
    ['an empty body', '', 400],
    ['half a JSON', '{"user": "0x', 400],
    ['a list', '[]', 400],
    ['null', 'null', 400],
    ['a text', '"x"', 400],
    ['a poisoned prototype', `{"__proto__": {"user": "x"}, "user": "${user}"}`, 400],
    ['a repeated member', `{"amount": "1", "amount": "2", "user": "${user}"}`, 400],
    ['a body beyond 64 KiB', JSON.stringify({ ...body, x: 'x'.repeat(66_000) }), 413],
  ])('%s', async (_name, payload, statusCode) => {
    const response = await send(payload)
    expect(response.statusCode).toBe(statusCode)
    expect(response.json()).toMatchObject({
      statusCode,
      message: expect.any(String),
      errorCode: expect.any(String),
    })
    expect('errorData' in response.json()).toBe(statusCode === 400)
  })

  test('a content type that is not JSON', async () => {
    const response = await send('user=1', 'application/x-www-form-urlencoded')
    expect(response.json()).toMatchObject({ statusCode: 415, errorCode: 'UNSUPPORTED_MEDIA_TYPE' })
  })
})
