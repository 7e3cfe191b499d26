// Goal: what a fill or a refund paid is what its transaction proves. Method: the fill contract, tokens and
// plain transactions on a real node; the reader asked as the rules ask it.
import { encodeFillExtraData, encodeTransfer, type Hex, type PaymentQuestion } from '@causeway/core'
import { type LocalAccount, multicall3Abi, testCalls, testFill } from '@causeway/localnet'
import { concatHex, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aSignal,
  type ChainBed,
  type ReaderSettings,
  readerOf,
  startChainBed,
} from './ethereumSupport/chainBed.ts'

const orderId: Hex = `0x${'0d'.repeat(32)}`
const native = `0x${'00'.repeat(20)}`
const recipient: Hex = `0x${'21'.repeat(20)}`
const other: Hex = `0x${'22'.repeat(20)}`

const traced = { additionalData: { traceInternalTransfers: true } } as const

type FillCall = { readonly to: Hex; readonly data: Hex; readonly value: bigint }
type Fill = {
  readonly native?: readonly { readonly to: Hex; readonly amount: bigint }[]
  readonly erc20?: readonly { readonly token: Hex; readonly to: Hex; readonly amount: bigint }[]
  readonly calls?: readonly FillCall[]
}

let bed: ChainBed
let solver: LocalAccount
let usdc: Hex
let weth: Hex

beforeAll(async () => {
  bed = await startChainBed()
  solver = bed.network.keys.fillWallet
  usdc = bed.deployment.tokens.USDC
  weth = bed.deployment.wrappedNative
})
afterAll(() => bed?.stop())

function fill({ native: coins = [], erc20 = [], calls = [] }: Fill, value = 0n) {
  const { fillContract } = bed.deployment
  const { orderCalls, clone } = testCalls(calls, { fillContract, filler: solver.address, recipient })
  const spent = calls.reduce((sum, call) => sum + call.value, 0n)
  const natives = spent === 0n ? coins : [...coins, { to: clone, amount: spent }]
  return bed.send(solver, fillContract, testFill({ orderId, natives, tokens: erc20, orderCalls }), value)
}

async function paid(
  sent: { readonly transactionId: Hex },
  question: Partial<PaymentQuestion> = {},
  settings: ReaderSettings = {},
) {
  await bed.mine(2)
  return readerOf(bed, settings).reader.readPayment(
    {
      transactionId: sent.transactionId,
      orderId,
      extraData: encodeFillExtraData(bed.deployment.fillContract),
      payments: [{ recipient, currency: native }],
      ...question,
    },
    aSignal(),
  )
}

async function amount(...args: Parameters<typeof paid>): Promise<bigint | undefined> {
  const { transfers } = await paid(...args)
  expect(transfers).toHaveLength(1)
  return transfers[0]?.amount
}

describe('native payments', () => {
  test('by the transaction itself, when its calldata begins with the order id', async () => {
    const sent = await bed.send(solver, recipient, orderId, 5n)
    const facts = await paid(sent)
    expect(facts).toMatchObject({
      referencesOrder: true,
      transfers: [{ recipient, currency: native, amount: 5n }],
    })
    const { timestamp } = await bed.chain.client.getBlock({ blockNumber: sent.blockNumber })
    expect(facts.blockTimestampSeconds).toBe(timestamp)
  })

  test('by the transaction itself do not count when the order id only ends its calldata', async () => {
    expect(await amount(await bed.send(solver, recipient, concatHex(['0xff', orderId]), 5n))).toBe(0n)
  })

  test('by the fill contract are the sum of its events, and another recipient’s are not in it', async () => {
    const sent = await fill(
      {
        native: [
          { to: recipient, amount: 5n },
          { to: other, amount: 9n },
          { to: recipient, amount: 2n },
        ],
      },
      16n,
    )
    expect(await amount(sent)).toBe(7n)
  })

  test('by another contract than the one that extra data names do not count', async () => {
    const sent = await fill({ native: [{ to: recipient, amount: 5n }] }, 5n)
    expect(await amount(sent, { extraData: encodeFillExtraData(other) })).toBe(0n)
    expect(await amount(sent, { extraData: '0x' })).toBe(0n)
  })

  test('moved inside by a listed contract without events count where the chain is traced, and only there', async () => {
    const calls = [{ target: recipient, allowFailure: false, value: 6n, callData: '0x' }] as const
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args: [calls] })
    const { multicall3 } = bed.deployment
    const sent = await bed.send(solver, multicall3, concatHex([data, orderId]), 6n)
    const chosen = { extraData: encodeFillExtraData(multicall3) }
    expect(await amount(sent, chosen, { fillContracts: [multicall3] })).toBe(0n)
    expect(await amount(sent, chosen, traced)).toBe(0n)
    expect(await amount(sent, chosen, { ...traced, fillContracts: [multicall3] })).toBe(6n)
  })

  test('that a failed inner call gave back do not count in a trace', async () => {
    const inner = encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3Value',
      args: [
        [
          { target: recipient, allowFailure: false, value: 3n, callData: '0x' },
          { target: usdc, allowFailure: false, value: 0n, callData: '0xdeadbeef' },
        ],
      ],
    })
    const { multicall3 } = bed.deployment
    const outer = [
      { target: multicall3, allowFailure: true, value: 3n, callData: inner },
      { target: recipient, allowFailure: false, value: 1n, callData: '0x' },
    ] as const
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args: [outer] })
    const sent = await bed.send(solver, multicall3, concatHex([data, orderId]), 4n)
    const chosen = { extraData: encodeFillExtraData(multicall3) }
    expect(await amount(sent, chosen, { ...traced, fillContracts: [multicall3] })).toBe(1n)
  })

  test('shown by events are not counted again from a trace', async () => {
    const sent = await fill({ native: [{ to: recipient, amount: 5n }] }, 5n)
    expect(await amount(sent, {}, traced)).toBe(5n)
  })
})

describe('P-20: a fill contract that no list names', () => {
  const unlisted = (...args: Parameters<typeof paid>) =>
    paid(...args).then(({ unlistedFillContract }) => unlistedFillContract)

  test('P-20: is told where the order names it and the transaction calls it', async () => {
    const { fillContract } = bed.deployment
    const sent = await fill({ native: [{ to: recipient, amount: 5n }] }, 5n)
    expect(await unlisted(sent)).toBeUndefined()
    expect(await unlisted(sent, {}, { fillContracts: [] })).toBe(fillContract)
    expect(await unlisted(sent, {}, { fillContracts: [other] })).toBe(fillContract)
    expect(await unlisted(sent, { extraData: '0x' }, { fillContracts: [] })).toBeUndefined()
    const elsewhere = { extraData: encodeFillExtraData(other) }
    expect(await unlisted(sent, elsewhere, { fillContracts: [] })).toBeUndefined()
  })

  test('P-20: is told where a listed payer calls it', async () => {
    const { fillContract, multicall3 } = bed.deployment
    const target = { target: recipient, allowFailure: false, value: 5n, callData: '0x' } as const
    const data = encodeFunctionData({
      ...{ abi: multicall3Abi, functionName: 'aggregate3Value', args: [[target]] },
    })
    const sent = await bed.send(solver, multicall3, concatHex([data, orderId]), 5n)
    expect(await unlisted(sent, {}, { fillContracts: [], fillPayers: [multicall3] })).toBe(fillContract)
    expect(await unlisted(sent, {}, { fillContracts: [] })).toBeUndefined()
  })

  test('P-20: is nothing that could not be listed', async () => {
    const { depository } = bed.deployment
    for (const to of [depository, native] as Hex[]) {
      const data = concatHex([encodeTransfer(recipient, 0n), orderId])
      const sent = await bed.send(solver, usdc, data)
      const asked = { extraData: encodeFillExtraData(to) }
      expect(await unlisted(sent, asked, { fillContracts: [], fillPayers: [usdc] })).toBeUndefined()
    }
  })
})

describe('token payments', () => {
  test('are the sum of the currency’s Transfer events to the recipient', async () => {
    const sent = await fill({
      erc20: [
        { token: usdc, to: recipient, amount: 100n },
        { token: usdc, to: other, amount: 7n },
        { token: usdc, to: recipient, amount: 23n },
      ],
    })
    expect(await amount(sent, { payments: [{ recipient, currency: usdc }] })).toBe(123n)
    expect(await amount(sent, { payments: [{ recipient, currency: weth }] })).toBe(0n)
  })

  test('need no fill contract: a plain transfer with the order id behind it is enough', async () => {
    const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
    const facts = await paid(sent, { payments: [{ recipient, currency: usdc }], extraData: '0x' })
    expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 50n }], calls: [] })
  })

  test('are compared without regard to the spelling of addresses', async () => {
    const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
    const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`
    const question = { orderId: upper(orderId) as Hex, payments: [{ recipient, currency: upper(usdc) }] }
    expect(await paid(sent, question)).toMatchObject({ referencesOrder: true, transfers: [{ amount: 50n }] })
  })

  test('asked for twice are told once', async () => {
    const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
    const payment = { recipient, currency: usdc }
    expect(await amount(sent, { payments: [payment, payment] })).toBe(50n)
  })
})

test('a transaction that does not end with the order id does not reference the order', async () => {
  const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 1n), orderId, '0x00']))
  expect(await paid(sent)).toMatchObject({ referencesOrder: false })
})

describe('calls', () => {
  const deposit: Hex = '0xd0e30db0'

  test('are those that the fill contract reports, in the order they ran', async () => {
    const calls = [
      { to: weth, data: deposit, value: 3n },
      { to: usdc, data: encodeTransfer(other, 0n), value: 0n },
      { to: weth, data: deposit, value: 1n },
    ]
    const { calls: executed } = await paid(await fill({ calls }, 4n))
    expect(executed).toEqual(calls)
  })

  test('of another contract than the one that extra data names are none', async () => {
    const sent = await fill({ calls: [{ to: weth, data: deposit, value: 3n }] }, 3n)
    expect((await paid(sent, { extraData: encodeFillExtraData(other) })).calls).toEqual([])
  })
})

test('a chain whose transactions list calls in place of an input is read by the first call', async () => {
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
  const facts = await paid(sent, { payments: [{ recipient, currency: usdc }] }, { urls: [proxy.url] })
  await proxy.stop()
  expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 50n }] })
})
