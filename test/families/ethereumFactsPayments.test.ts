// Goal: a payment is proven by the record of our fill contract, as a plain transfer, or by what was gained, and by
// nothing else. Method: the fill contract, tokens and plain transactions on a real node; the reader asked as rules ask it.
import { encodeFillExtraData, encodeOrderCall, type Hex, type PaymentQuestion } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import { type LocalAccount, multicall3Abi, randomWord, testCalls, testFill } from '@causeway/localnet'
import { concatHex, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aSignal,
  type ChainBed,
  type ReaderSettings,
  readerOf,
  startChainBed,
} from './ethereumSupport/chainBed.ts'

const native = `0x${'00'.repeat(20)}`
const recipient: Hex = `0x${'21'.repeat(20)}`
const other: Hex = `0x${'22'.repeat(20)}`

let bed: ChainBed
let solver: LocalAccount
let usdc: Hex
let weth: Hex
let fillContract: Hex

beforeAll(async () => {
  bed = await startChainBed()
  solver = bed.network.keys.fillWallet
  usdc = bed.deployment.tokens.USDC
  weth = bed.deployment.wrappedNative
  fillContract = bed.deployment.fillContract
})
afterAll(() => bed?.stop())

type Call = { readonly to: Hex; readonly data: Hex; readonly value: bigint }
type Fill = {
  readonly id?: Hex
  readonly natives?: readonly { readonly to: Hex; readonly amount: bigint }[]
  readonly tokens?: readonly { readonly token: Hex; readonly to: Hex; readonly amount: bigint }[]
  readonly orderCalls?: ReturnType<typeof testCalls>['orderCalls'] | undefined
}

/** One transaction of the fill contract, and what the reader is asked about it. */
async function fill(given: Fill, question: Partial<PaymentQuestion>, settings: ReaderSettings = {}) {
  const orderId = randomWord()
  const value = (given.natives ?? []).reduce((sum, { amount }) => sum + amount, 0n)
  const sent = await bed.send(solver, fillContract, testFill({ orderId, ...given }), value)
  return { orderId, ...(await paid(sent, { orderId, ...question }, settings)) }
}

async function paid(
  { transactionId }: { readonly transactionId: Hex },
  question: Partial<PaymentQuestion> & Pick<PaymentQuestion, 'orderId'>,
  settings: ReaderSettings = {},
) {
  await bed.mine(2)
  const extraData = encodeFillExtraData(fillContract)
  const payments = [{ recipient, currency: native }]
  return readerOf(bed, settings).reader.readPayment(
    { transactionId, extraData, payments, ...question },
    aSignal(),
  )
}

const toNative = (...to: readonly string[]) => ({
  payments: to.map((each) => ({ recipient: each, currency: native })),
})
const toUsdc = (...to: readonly string[]) => ({
  payments: to.map((each) => ({ recipient: each, currency: usdc })),
})
const amountsOf = ({ transfers }: { readonly transfers: readonly { readonly amount: bigint }[] }) =>
  transfers.map(({ amount }) => amount)

describe('a record of our fill contract', () => {
  test('P-41: pays what the call itself pays, and names its id', async () => {
    const facts = await fill({ natives: [{ to: recipient, amount: 5n }] }, {})
    expect(facts).toMatchObject({
      referencesOrder: true,
      recordId: facts.orderId,
      transfers: [{ recipient, currency: native, amount: 5n }],
      calls: [],
    })
    expect(facts.recordProblem).toBeUndefined()
  })

  test('P-41: pays several payees in several currencies, each its sum', async () => {
    const facts = await fill(
      {
        natives: [
          { to: recipient, amount: 5n },
          { to: recipient, amount: 2n },
        ],
        tokens: [
          { token: usdc, to: recipient, amount: 100n },
          { token: usdc, to: other, amount: 7n },
        ],
      },
      {
        payments: [
          { recipient, currency: native },
          { recipient, currency: usdc },
          { recipient: other, currency: usdc },
        ],
      },
    )
    expect(amountsOf(facts)).toEqual([7n, 100n, 7n])
  })

  test('P-41: pays accounts with code, whatever their code does with the coin', async () => {
    // Wrapped native coin takes coin and writes a log.
    const facts = await fill({ natives: [{ to: weth, amount: 5n }] }, toNative(weth))
    expect(amountsOf(facts)).toEqual([5n])
  })

  test.each<[string, () => Fill, () => Partial<PaymentQuestion>, string]>([
    [
      'pays a payee that is not the order’s',
      () => ({
        natives: [
          { to: recipient, amount: 5n },
          { to: other, amount: 1n },
        ],
      }),
      () => toNative(recipient),
      'other_payments',
    ],
    [
      'pays the payee in a currency that is not the order’s',
      () => ({
        natives: [{ to: recipient, amount: 5n }],
        tokens: [{ token: usdc, to: recipient, amount: 1n }],
      }),
      () => toNative(recipient),
      'other_payments',
    ],
    [
      'pays the payee a token in two entries, between which code of the filler may run',
      () => ({
        tokens: [
          { token: usdc, to: recipient, amount: 1n },
          { token: usdc, to: recipient, amount: 5n },
        ],
      }),
      () => toUsdc(recipient),
      'other_payments',
    ],
    [
      'pays its sender',
      () => ({ natives: [{ to: solver.address, amount: 5n }] }),
      () => toNative(solver.address),
      'other_payments',
    ],
    [
      'pays the depository',
      () => ({ tokens: [{ token: usdc, to: bed.deployment.depository, amount: 5n }] }),
      () => toUsdc(bed.deployment.depository),
      'other_payments',
    ],
  ])('P-41: that %s proves nothing', async (_what, given, question, problem) => {
    const facts = await fill(given(), question())
    expect(facts).toMatchObject({ recordProblem: problem })
    expect(amountsOf(facts)).toEqual([0n])
  })

  test('P-41: of another id is told as one', async () => {
    const id = randomWord()
    const facts = await fill({ id, natives: [{ to: recipient, amount: 5n }] }, {})
    expect(facts.recordId).toBe(id)
  })

  test('P-41: with another order id behind it proves nothing for the order', async () => {
    const orderId = randomWord()
    const data = testFill({ id: orderId, orderId: randomWord(), natives: [{ to: recipient, amount: 5n }] })
    const facts = await paid(await bed.send(solver, fillContract, data, 5n), { orderId })
    expect(facts).toMatchObject({ referencesOrder: false, recordProblem: 'another_order' })
  })

  test('P-41: with bytes between its arguments and the order id proves nothing', async () => {
    const orderId = randomWord()
    const pay = testFill({ orderId, natives: [{ to: recipient, amount: 5n }] })
    const facts = await paid(await bed.send(solver, fillContract, concatHex([pay, orderId]), 5n), { orderId })
    expect(facts).toMatchObject({ referencesOrder: true, recordProblem: 'not_a_payment' })
  })

  test('P-41: close is no payment', async () => {
    const orderId = randomWord()
    const close = concatHex(['0x39c79e0c', orderId, orderId])
    const facts = await paid(await bed.send(solver, fillContract, close), { orderId })
    expect(facts).toMatchObject({ recordProblem: 'not_a_payment', transfers: [{ amount: 0n }] })
  })

  test('P-42: by a contract that is not known by its code counts as somebody else’s', async () => {
    const facts = await fill(
      { natives: [{ to: recipient, amount: 5n }] },
      {},
      { recordsPayments: () => false },
    )
    expect(facts).toMatchObject({ transfers: [{ amount: 5n }] })
    expect(facts.recordId).toBeUndefined()
    const toCode = await fill({ natives: [{ to: weth, amount: 5n }] }, toNative(weth), {
      recordsPayments: () => false,
    })
    expect(amountsOf(toCode)).toEqual([0n])
  })

  test('P-41: of a contract that the order did not choose proves nothing', async () => {
    for (const extraData of [encodeFillExtraData(other), '0x'] as const) {
      const facts = await fill({ natives: [{ to: recipient, amount: 5n }] }, { extraData })
      expect(amountsOf(facts)).toEqual([0n])
    }
  })
})

describe('calls of an order', () => {
  const wrap: Hex = '0xd0e30db0'
  const encoded = (calls: readonly Call[]) => calls.map(encodeOrderCall)
  const place = () => ({ fillContract, filler: solver.address, recipient })

  test('P-41: are run from the clone that the order pays, which the calls may spend', async () => {
    const calls = [{ to: weth, data: wrap, value: 5n }]
    const { orderCalls, clone } = testCalls(calls, place())
    const facts = await fill(
      { natives: [{ to: clone, amount: 5n }], orderCalls },
      { ...toNative(clone), calls: encoded(calls) },
    )
    expect(facts).toMatchObject({ calls, transfers: [{ recipient: clone, amount: 5n }] })
  })

  test.each<[string, (calls: readonly Call[]) => readonly Call[]]>([
    ['more than the order’s', (calls) => [...calls, { to: other, data: '0x', value: 0n }]],
    ['fewer', (calls) => calls.slice(1)],
    ['none', () => []],
    ['in another turn', (calls) => calls.toReversed()],
  ])('P-41: %s prove nothing', async (_what, change) => {
    const ordered = [
      { to: weth, data: wrap, value: 2n },
      { to: other, data: '0x' as const, value: 3n },
    ]
    const run = change(ordered)
    const { orderCalls, clone } = testCalls(run, place())
    const facts = await fill(
      { natives: [{ to: clone, amount: 5n }], orderCalls: run.length === 0 ? undefined : orderCalls },
      { ...toNative(clone), calls: encoded(ordered) },
    )
    expect(facts).toMatchObject({ recordProblem: 'other_calls', transfers: [{ amount: 0n }] })
  })

  test('P-41: of an order that has none prove nothing', async () => {
    const { orderCalls } = testCalls([{ to: other, data: '0x', value: 0n }], place())
    const facts = await fill({ natives: [{ to: recipient, amount: 5n }], orderCalls }, {})
    expect(facts).toMatchObject({ recordProblem: 'other_calls' })
  })

  test('P-41: run by the clone of another salt or recipient prove nothing', async () => {
    const calls = [{ to: other, data: '0x' as const, value: 0n }]
    const { clone: ordered } = testCalls(calls, place())
    for (const change of [{}, { recipient: other }]) {
      const { orderCalls } = testCalls(calls, { ...place(), ...change })
      const facts = await fill(
        { natives: [{ to: ordered, amount: 5n }], orderCalls },
        { ...toNative(ordered), calls: encoded(calls) },
      )
      expect(facts).toMatchObject({ recordProblem: 'other_clone', transfers: [{ amount: 0n }] })
    }
  })

  test.each<[string, (token: Hex) => readonly Hex[], string | undefined]>([
    ['exactly the tokens that it was paid', (token) => [token], undefined],
    ['nothing', () => [], 'other_clone'],
    ['a token that it was not paid', (token) => [token, weth], 'other_clone'],
    ['one token twice', (token) => [token, token], 'other_clone'],
  ])('P-41: of which the clone sweeps %s', async (_what, swept, problem) => {
    const calls = [{ to: usdc, data: encodeTransfer(other, 40n), value: 0n }]
    const { orderCalls, clone } = testCalls(calls, { ...place(), sweptTokens: swept(usdc) })
    const facts = await fill(
      { tokens: [{ token: usdc, to: clone, amount: 100n }], orderCalls },
      { ...toUsdc(clone), calls: encoded(calls) },
    )
    expect(facts.recordProblem).toBe(problem)
    expect(amountsOf(facts)).toEqual([problem === undefined ? 100n : 0n])
  })
})

describe('a plain transfer', () => {
  test('P-42: of native coin pays an account without code, where its calldata is exactly the order id', async () => {
    const orderId = randomWord()
    const sent = await bed.send(solver, recipient, orderId, 5n)
    const facts = await paid(sent, { orderId })
    expect(facts).toMatchObject({
      referencesOrder: true,
      transfers: [{ recipient, currency: native, amount: 5n }],
    })
    const { timestamp } = await bed.chain.client.getBlock({ blockNumber: sent.blockNumber })
    expect(facts.blockTimestampSeconds).toBe(timestamp)
  })

  test('P-42: of native coin pays no account with code', async () => {
    const orderId = randomWord()
    const account: Hex = `0x${'c0'.repeat(20)}`
    await bed.node('anvil_setCode', [account, '0x00'])
    const facts = await paid(await bed.send(solver, account, orderId, 5n), { orderId, ...toNative(account) })
    expect(amountsOf(facts)).toEqual([0n])
  })

  test('P-42: of native coin does not count when the order id only ends its calldata', async () => {
    const orderId = randomWord()
    const sent = await bed.send(solver, recipient, concatHex(['0xff', orderId]), 5n)
    expect(amountsOf(await paid(sent, { orderId }))).toEqual([0n])
  })

  test('P-42: of a token counts with the order id behind it', async () => {
    const orderId = randomWord()
    const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
    const facts = await paid(sent, { orderId, ...toUsdc(recipient), extraData: '0x' })
    expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 50n }], calls: [] })
  })

  test('P-42: pays nobody who sends it, and no depository', async () => {
    for (const payee of [solver.address, bed.deployment.depository]) {
      const orderId = randomWord()
      const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(payee, 50n), orderId]))
      expect(amountsOf(await paid(sent, { orderId, ...toUsdc(payee) }))).toEqual([0n])
    }
  })

  test('addresses are compared without regard to their spelling', async () => {
    const orderId = randomWord()
    const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
    const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`
    // CAST: the same hex in another case.
    const question = { orderId: upper(orderId) as Hex, payments: [{ recipient, currency: upper(usdc) }] }
    expect(await paid(sent, question)).toMatchObject({ referencesOrder: true, transfers: [{ amount: 50n }] })
  })

  test('a payment that is asked for twice is told once', async () => {
    const orderId = randomWord()
    const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
    expect(amountsOf(await paid(sent, { orderId, ...toUsdc(recipient, recipient) }))).toEqual([50n])
  })
})

describe('P-20: a fill contract that no list names', () => {
  const unlisted = async (
    sent: { readonly transactionId: Hex },
    question: Parameters<typeof paid>[1],
    settings: ReaderSettings = {},
  ) => (await paid(sent, question, settings)).unlistedFillContract

  test('P-20: is told where the order names it and the transaction calls it', async () => {
    const orderId = randomWord()
    const data = testFill({ orderId, natives: [{ to: recipient, amount: 5n }] })
    const sent = await bed.send(solver, fillContract, data, 5n)
    expect(await unlisted(sent, { orderId })).toBeUndefined()
    expect(await unlisted(sent, { orderId }, { fillContracts: [] })).toBe(fillContract)
    expect(await unlisted(sent, { orderId }, { fillContracts: [other] })).toBe(fillContract)
    expect(await unlisted(sent, { orderId, extraData: '0x' }, { fillContracts: [] })).toBeUndefined()
    const elsewhere = { orderId, extraData: encodeFillExtraData(other) }
    expect(await unlisted(sent, elsewhere, { fillContracts: [] })).toBeUndefined()
  })

  test('P-20: is told where a listed payer calls it', async () => {
    const orderId = randomWord()
    const { multicall3 } = bed.deployment
    const target = { target: recipient, allowFailure: false, value: 5n, callData: '0x' } as const
    const data = encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3Value',
      args: [[target]],
    })
    const sent = await bed.send(solver, multicall3, concatHex([data, orderId]), 5n)
    const settings = { fillContracts: [], fillPayers: [multicall3] }
    expect(await unlisted(sent, { orderId }, settings)).toBe(fillContract)
    expect(await unlisted(sent, { orderId }, { fillContracts: [] })).toBeUndefined()
  })

  test('P-20: is nothing that could not be listed', async () => {
    for (const to of [bed.deployment.depository, native] as Hex[]) {
      const orderId = randomWord()
      const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 0n), orderId]))
      const asked = { orderId, extraData: encodeFillExtraData(to) }
      expect(await unlisted(sent, asked, { fillContracts: [], fillPayers: [usdc] })).toBeUndefined()
    }
  })
})

test('P-43: coin that a contract moves inside pays nobody: no log shows it', async () => {
  const orderId = randomWord()
  const calls = [{ target: recipient, allowFailure: false, value: 6n, callData: '0x' }] as const
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args: [calls] })
  const { multicall3 } = bed.deployment
  const sent = await bed.send(solver, multicall3, concatHex([data, orderId]), 6n)
  const extraData = encodeFillExtraData(multicall3)
  expect(amountsOf(await paid(sent, { orderId, extraData }, { fillContracts: [multicall3] }))).toEqual([0n])
})

test('a transaction that does not end with the order id does not reference the order', async () => {
  const orderId = randomWord()
  const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 1n), orderId, '0x00']))
  expect(await paid(sent, { orderId })).toMatchObject({ referencesOrder: false })
})

test('a chain whose transactions list calls in place of an input is read by the first call', async () => {
  const orderId = randomWord()
  const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
  const { startFaultProxy } = await import('@causeway/localnet')
  const proxy = await startFaultProxy({ targetUrl: bed.url })
  await proxy.set({
    kind: 'lie',
    rewrite: ({ method }, result) => {
      if (method !== 'eth_getTransactionByHash') return result
      const { input, ...rest } = Object(result)
      return {
        ...rest,
        calls: [
          { to: usdc, value: '0x0', input },
          { to: usdc, input: '0x' },
        ],
      }
    },
  })
  const facts = await paid(sent, { orderId, ...toUsdc(recipient) }, { urls: [proxy.url] })
  await proxy.stop()
  expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 50n }] })
})
