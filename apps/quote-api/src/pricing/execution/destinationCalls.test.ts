// Goal: an order with calls pays the clone that runs them, and nobody gets their gas for nothing. Method: quotes over
// HTTP, with a fill whose gas a test sets.
import { decodeOrderCall, type Hex } from '@causeway/core'
import { orderCloneAddress } from '@causeway/families/rules'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  cleanupRouter,
  fillContract,
  native,
  recipient,
  testRegistry,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'
import { QuoteError } from '../errors.ts'
import type { DestinationCall } from '../request.ts'
import { deliveryOf, type TriedFill } from './destinationCalls.ts'

const filler: Hex = `0x${'f1'.repeat(20)}`
const target: Hex = `0x${'99'.repeat(20)}`
const approve = { to: usdc, value: '0', data: '0x095ea7b3' }
const supply = { to: target, value: '0x0', data: '0xABCD' }
const bridge = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: usdc,
  tradeType: 'EXACT_OUTPUT',
  amount: '40000000',
}
const nativeOut = { ...bridge, destinationCurrency: native, amount: '40000000000000000' }

/** Quotes, and what was tried for it. */
async function quoted(
  change: object,
  { units = 50_000n, ...options }: TestAppOptions & { units?: bigint } = {},
) {
  const tried: TriedFill[] = []
  const app = await testApp({
    config: { majorBps: 10 },
    fillWallet: filler,
    tryFill: async (fill) => {
      tried.push(fill)
      return units
    },
    ...options,
  })
  onTestFinished(() => app.close())
  const response = await app.inject({ method: 'POST', url: '/quote', payload: { ...bridge, ...change } })
  return { response, json: response.json(), stored: app.stored, tried }
}

const outputOf = (json: { protocol: { v2: { orderData: { output: object; salt: Hex } } } }) =>
  json.protocol.v2.orderData

describe('an order with calls', () => {
  test('L-34: pays the clone of its own that runs exactly these calls, and nobody else', async () => {
    const { json, tried } = await quoted({ txs: [approve, supply] })
    const order = json.protocol.v2.orderData
    const calls = order.output.calls.map(decodeOrderCall)
    expect(calls).toEqual([
      { to: usdc, data: '0x095ea7b3', value: 0n },
      { to: target, data: '0xabcd', value: 0n },
    ])
    const clone = orderCloneAddress({
      fillContract,
      filler,
      orderSalt: order.salt,
      // CAST: an address of the tests.
      recipient: recipient as Hex,
      calls,
    })
    expect(order.output.payments).toEqual([
      { recipient: clone, currency: usdc, minimumAmount: '40000000', expectedAmount: '40000000' },
    ])
    expect(json.details.recipient).toBe(recipient)
    expect(tried.map(({ amount }) => amount)).toEqual([40_000_000n])
    const other = await quoted({ txs: [approve, supply] })
    expect(outputOf(other.json).output).not.toEqual(order.output)
  })

  test('pays a gas top-up to the recipient', async () => {
    const { json } = await quoted({ txs: [approve], topupGas: true })
    const { payments } = json.protocol.v2.orderData.output
    expect(payments[1]).toMatchObject({ recipient, currency: native })
  })

  test('pays its clone native coin, from which values are taken', async () => {
    const { json } = await quoted({ ...nativeOut, txs: [{ ...supply, value: 1_000 }] })
    const { calls, payments } = json.protocol.v2.orderData.output
    expect(decodeOrderCall(calls[0]).value).toBe(1_000n)
    expect(payments).toHaveLength(1)
    expect(payments[0].recipient).not.toBe(recipient)
    expect(payments[0].expectedAmount).toBe(nativeOut.amount)
  })

  test('Q-164: is tried with the least that it delivers, where the output may vary', async () => {
    const { json, tried } = await quoted({ tradeType: 'EXACT_INPUT', amount: '100000000', txs: [approve] })
    const [{ minimumAmount }] = json.protocol.v2.orderData.output.payments
    expect(tried.at(-1)?.amount).toBe(BigInt(minimumAmount))
    expect(tried.every(({ amount }) => amount >= BigInt(minimumAmount))).toBe(true)
  })

  test('L-34: of one transfer of all coin pays it without a clone', () => {
    const destination = testRegistry().chainById.get(chainB)
    if (destination === undefined) throw new Error('no chain')
    const value = BigInt(nativeOut.amount)
    const plain = { to: target, value, data: '0x' } as const
    const deliver = (...txs: DestinationCall[]) =>
      deliveryOf(
        { currencyOut: destination.native, recipient },
        { txs, tradeType: 'EXACT_OUTPUT', amount: value },
      )
    expect(deliver(plain)).toEqual({ recipient: target, calls: [] })
    for (const txs of [[plain, plain], [{ ...plain, value: 1n }], [{ ...plain, data: '0x00' as const }]]) {
      expect(deliver(...txs)).toEqual({ recipient, calls: txs })
    }
  })

  test('is refused where nobody is named who fills', async () => {
    const { json, stored } = await quoted({ txs: [approve] }, { fillWallet: undefined })
    expect(json).toMatchObject({ statusCode: 400, errorCode: 'EXTRA_TXS_NOT_SUPPORTED' })
    expect(stored).toEqual([])
  })

  test('Q-164: whose calls would fail is refused, whatever gas its caller states', async () => {
    const tryFill = async () => {
      const data = { chainId: chainB, reason: 'They fail.' }
      throw new QuoteError('DESTINATION_TX_FAILED', 'They fail.', { data })
    }
    for (const txsGasLimit of [undefined, 100_000]) {
      const { json } = await quoted({ txs: [approve], txsGasLimit }, { tryFill })
      expect(json).toMatchObject({ statusCode: 400, errorCode: 'DESTINATION_TX_FAILED' })
    }
  })
})

describe('a recipient', () => {
  test.each([
    ['that anybody empties', cleanupRouter],
    ['that nobody empties', fillContract],
  ])('%s is refused', async (_what, account) => {
    const { json } = await quoted({ recipient: account })
    expect(json).toMatchObject({ statusCode: 400, errorCode: 'INVALID_RECIPIENT' })
  })
})

test('the router that calls may name is published', async () => {
  const app = await testApp()
  onTestFinished(() => app.close())
  const { chains } = (await app.inject({ method: 'GET', url: '/chains' })).json()
  expect(chains[0].contracts).toMatchObject({
    erc20Router: cleanupRouter,
    v3: { erc20Router: cleanupRouter },
  })
})

describe('txsGasLimit', () => {
  test('is what the calls are priced with', async () => {
    const [low, high] = await Promise.all([
      quoted({ txs: [approve], txsGasLimit: 50_000 }),
      quoted({ txs: [approve], txsGasLimit: 1_050_000 }),
    ])
    const gasOf = ({ json }: typeof low) => BigInt(json.fees.relayerGas.amount)
    // A million units at 10^8 wei are 0.25 USD.
    expect(gasOf(high) - gasOf(low)).toBe(250_000n)
  })

  test('below what they use is refused, naming what they use', async () => {
    const { json } = await quoted({ txs: [approve], txsGasLimit: 1 }, { units: 70_000n })
    expect(json).toMatchObject({ statusCode: 400, errorCode: 'DESTINATION_TX_FAILED' })
    expect(JSON.parse(json.errorData)).toMatchObject({ field: 'txsGasLimit', minimum: '70000' })
    const { response } = await quoted({ txs: [approve], txsGasLimit: 70_000 }, { units: 70_000n })
    expect(response.statusCode).toBe(200)
  })
})
