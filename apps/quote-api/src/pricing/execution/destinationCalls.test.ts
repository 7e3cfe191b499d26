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
import type { MeasuredUse } from '../fees/feeTerms.ts'
import { findCurrency } from '../registry.ts'
import type { DestinationCall } from '../request.ts'
import { deliveryOf, payeeOf, priceWithCalls, type TriedFill } from './destinationCalls.ts'

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

function chainOf(chainId: number) {
  const chain = testRegistry().chainById.get(chainId)
  if (chain === undefined) throw new Error('no chain')
  return chain
}
const destination = chainOf(chainB)
const { config, quoting } = destination

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
    const value = BigInt(nativeOut.amount)
    const plain = { to: target, value, data: '0x' } as const
    const exact = { tradeType: 'EXACT_OUTPUT', amount: value } as const
    const deliver = (txs: readonly DestinationCall[], currencyOut = destination.native, asked: object = {}) =>
      deliveryOf({ currencyOut, recipient }, { txs, ...exact, ...asked })
    expect(deliver([plain])).toEqual({ recipient: target, calls: [] })
    for (const txs of [
      [],
      [plain, plain],
      [{ ...plain, value: 1n }],
      [{ ...plain, data: '0x00' as const }],
    ]) {
      expect(deliver(txs)).toEqual({ recipient, calls: txs })
    }
    const token = findCurrency(destination, usdc)
    const kept = { recipient, calls: [plain] }
    expect([deliver([plain], token), deliver([plain], undefined, { tradeType: 'EXPECTED_OUTPUT' })]).toEqual([
      kept,
      kept,
    ])
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

test.each([
  ['wallet', destination, undefined],
  ['contract', { ...destination, config: { ...config, fillContract: undefined } }, filler],
  ['family', { ...destination, quoting: { ...quoting, runsCalls: false } }, filler],
])('L-34: calls have no payee where no %s runs them', (_what, chain, by) => {
  const parties = { filler: by, orderSalt: `0x${'5a'.repeat(32)}` as const }
  const payee = (calls: readonly DestinationCall[]) =>
    payeeOf({ destination: chain }, { recipient, calls }, parties)
  expect(() => payee([{ to: target, value: 0n, data: '0x' }])).toThrow(`Chain ${chainB} cannot run txs.`)
  expect(payee([])).toBe(recipient)
})

describe('priceWithCalls', () => {
  const call = { to: target, value: 0n, data: '0xab' } as const
  /** Prices and trials, in their order: each unit takes one from the output of 1,000. A byte of data counts with its call. */
  function priced(request: { txs?: readonly DestinationCall[]; txsGasLimit?: bigint }, units: bigint) {
    const route = { destination, currencyOut: destination.native, recipient }
    const events: string[] = []
    const tryFill = ({ amount, delivery }: TriedFill) => {
      events.push(`try ${amount} with ${delivery.calls.length}`)
      return units
    }
    const price = (use: MeasuredUse) => {
      events.push(`price ${use.callUnits} ${use.callBytes} ${use.payeeUnits} ${use.refundUnits}`)
      return { amountOutMin: 1_000n - use.callUnits }
    }
    const asked = {
      txs: [call],
      amount: 0n,
      tradeType: 'EXACT_OUTPUT',
      txsGasLimit: undefined,
      ...request,
    } as const
    return {
      out: priceWithCalls({ route, request: asked, answers: { tryFill } }, price).amountOutMin,
      events,
    }
  }

  test('Q-164: prices calls by what they use, and tries them with the least output', () => {
    expect(priced({}, 70n)).toEqual({
      out: 930n,
      events: ['price 0 281 0 0', 'try 1000 with 1', 'price 70 281 0 0', 'try 930 with 1'],
    })
    expect(priced({}, 0n)).toEqual({
      out: 1_000n,
      events: ['price 0 281 0 0', 'try 1000 with 1', 'price 0 281 0 0'],
    })
  })

  test('Q-164: prices calls by their limit, and tries them once', () => {
    expect(priced({ txsGasLimit: 70n }, 70n)).toEqual({
      out: 930n,
      events: ['price 70 281 0 0', 'try 930 with 1'],
    })
    const reason = 'they use 71 gas, more than txsGasLimit 70'
    expect(() => priced({ txsGasLimit: 70n }, 71n)).toThrow(
      expect.objectContaining({
        code: 'DESTINATION_TX_FAILED',
        message: `The destination calls fail on chain ${chainB}: ${reason}.`,
        data: { chainId: chainB, reason, field: 'txsGasLimit', minimum: '71' },
      }),
    )
  })

  test('L-34: prices a payment without its clone by what it uses, whatever limit is stated', () => {
    const plain = { ...call, data: '0x' } as const
    expect(priced({ txs: [plain], txsGasLimit: 1n }, 70n)).toEqual({
      out: 930n,
      events: ['price 0 0 0 0', 'try 1000 with 0', 'price 70 0 0 0', 'try 930 with 0'],
    })
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
