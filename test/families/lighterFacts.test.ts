// Goal: deposits and payments on Lighter are read as the public protocol reads them, exactly and only once
// executed. Method: every case of rules F-159 and F-160 against the stand-in over HTTP.

import { lighterBodies, type StoredTransaction, type TransferInfo } from '@causeway/localnet/standIns/lighter'
import { describe, expect, test } from 'vitest'
import {
  additional,
  aSignal,
  depository,
  memoOf,
  noOrder,
  openChain,
  orderId,
  put,
  queuedAtMs,
  startNodes,
  transfer,
  user,
} from './lighterSupport/lighterBed.ts'

const broken = lighterBodies.brokenTransfers.body

async function deposits(info: Partial<TransferInfo> = {}, change: Partial<StoredTransaction> = {}) {
  const nodes = await startNodes()
  const transactionId = put(nodes, transfer(info), change)
  return openChain(nodes).reader.readDeposits({ transactionId }, aSignal())
}

async function payment(
  info: Partial<TransferInfo> = {},
  change: Partial<StoredTransaction> = {},
  asked: { readonly recipient: string; readonly currency: string } = { recipient: user, currency: '0' },
) {
  const nodes = await startNodes()
  const paying = transfer({ FromAccountIndex: 5n, ToAccountIndex: BigInt(user), ...info })
  const transactionId = put(nodes, paying, change)
  const question = { transactionId, orderId, extraData: '0x', payments: [asked, asked] } as const
  return openChain(nodes).reader.readPayment(question, aSignal())
}

describe('a deposit', () => {
  test.each([2, 3])('F-159: is read from a transfer with status %i', async (status) => {
    const { deposits: found, ...facts } = await deposits({}, { status })
    expect(found).toEqual([
      {
        onchainIndex: '0',
        depository,
        depositId: orderId,
        depositor: user,
        currency: '0',
        amount: 1_000_000n,
      },
    ])
    expect(facts).toMatchObject({
      blockTimestampSeconds: queuedAtMs / 1_000n,
      evidence: { chainId: 'lighter', finalityRule: 'executed by the sequencer' },
    })
    expect(facts.evidence).not.toHaveProperty('blockHash')
  })

  test.each<[string, Partial<TransferInfo>, string]>([
    ['USDC of the perps account is the native currency', {}, '0'],
    ['USDC of the spot account goes by its index', { ToRouteType: 1n }, '3'],
    ['the route of the sender does not matter', { FromRouteType: 1n }, '0'],
    ['ether goes by its index', { AssetIndex: 1n, ToRouteType: 1n }, '1'],
    ['another asset and route goes by its index all the same', { AssetIndex: 9n, ToRouteType: 5n }, '9'],
  ])('%s', async (_what, info, currency) => {
    expect(await deposits(info)).toMatchObject({ deposits: [{ currency }] })
  })

  test('to an additional depository names it', async () => {
    expect(await deposits({ ToAccountIndex: BigInt(additional) })).toMatchObject({
      deposits: [{ depository: additional }],
    })
  })

  test('above what a JSON number carries is exact to the last digit', async () => {
    const amount = 2n ** 60n - 1n
    expect(await deposits({ Amount: amount })).toMatchObject({ deposits: [{ amount }] })
  })

  test.each<[string, string]>([
    ['empty', ''],
    ['of 31 bytes', 'ab'.repeat(31)],
    ['of 32 bytes whose last twelve are zero', `${'ab'.repeat(20)}${'00'.repeat(12)}`],
  ])('F-159: whose memo is %s names no order', async (_what, memo) => {
    expect(await deposits({ Memo: memoOf(memo) })).toMatchObject({ deposits: [{ depositId: noOrder }] })
  })

  test('whose memo ends in eleven zero bytes names its order', async () => {
    const memo = `${'ab'.repeat(21)}${'00'.repeat(11)}`
    expect(await deposits({ Memo: memoOf(memo) })).toMatchObject({ deposits: [{ depositId: `0x${memo}` }] })
  })

  test.each<[string, Partial<TransferInfo>, Partial<StoredTransaction>]>([
    ['a transfer to somebody else', { ToAccountIndex: 12n }, {}],
    ['a depository moving to itself', { FromAccountIndex: BigInt(depository) }, {}],
    ['another type of transaction', {}, { type: 14 }],
    ['another type of transaction without content', {}, { type: 8, info: '' }],
  ])('is not %s', async (_what, info, change) => {
    expect((await deposits(info, change)).deposits).toEqual([])
  })

  test('from one depository to another is one', async () => {
    expect(await deposits({ FromAccountIndex: BigInt(additional) })).toMatchObject({
      deposits: [{ depositor: additional }],
    })
  })
})

describe('is refused', () => {
  test.each([
    [0, 'TRANSACTION_NOT_FINAL'],
    [1, 'TRANSACTION_NOT_FINAL'],
    [4, 'TRANSACTION_REVERTED'],
    [5, 'TRANSACTION_REVERTED'],
    [6, 'RPC_HTTP_ERROR'],
  ])('F-159: a transaction with status %i: %s', async (status, code) => {
    await expect(deposits({}, { status })).rejects.toMatchObject({ code })
    await expect(payment({}, { status })).rejects.toMatchObject({ code })
  })

  test('the answer about another transaction', async () => {
    const nodes = await startNodes()
    const transactionId = put(nodes, transfer())
    const other = put(nodes, transfer({ Amount: 2n }))
    nodes[0]?.fault((_path, truth) => ({ ...truth, text: truth.text.replace(transactionId, other) }))
    await expect(openChain(nodes).reader.readDeposits({ transactionId }, aSignal())).rejects.toMatchObject({
      code: 'RPC_HTTP_ERROR',
    })
  })

  test.each<[string, bigint]>([
    ['is missing', 0n],
    ['is in seconds', queuedAtMs / 1_000n],
    ['is in microseconds', queuedAtMs * 1_000n],
  ])('a transaction whose queued_at %s', async (_what, wrong) => {
    await expect(deposits({}, { queuedAtMs: wrong })).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })

  test.each<[string, string]>([
    ['no content yet', broken.none],
    ['half its content', broken.half],
    ['content that is a list', broken.list],
    ['content without an amount', broken.withoutAmount],
  ])('a transfer with %s', async (_what, info) => {
    await expect(deposits({}, { info })).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })

  test.each<[string, Partial<TransferInfo>]>([
    ['an asset that would be read as the native one', { AssetIndex: 0n }],
    ['an account below zero', { FromAccountIndex: -1n }],
    ['an amount above uint64', { Amount: 2n ** 64n }],
    ['a memo of 33 bytes', { Memo: memoOf('ab'.repeat(33)) }],
    ['a memo that is no bytes', { Memo: [256] }],
  ])('a transfer with %s', async (_what, info) => {
    await expect(deposits(info)).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })
})

describe('a payment', () => {
  test('counts once however often it is asked for', async () => {
    expect(await payment()).toMatchObject({
      referencesOrder: true,
      blockTimestampSeconds: queuedAtMs / 1_000n,
      transfers: [{ recipient: user, currency: '0', amount: 1_000_000n }],
    })
  })

  test.each<[string, Partial<TransferInfo>, string]>([
    ['USDC to the spot account', { ToRouteType: 1n }, '3'],
    ['ether to the spot account', { AssetIndex: 1n, ToRouteType: 1n }, '1'],
  ])('F-160: in %s counts', async (_what, info, currency) => {
    expect(await payment(info, {}, { recipient: user, currency })).toMatchObject({
      transfers: [{ currency, amount: 1_000_000n }],
    })
  })

  test.each<[string, Partial<TransferInfo>, string]>([
    ['in another currency', {}, '3'],
    ['in ether on the perps account', { AssetIndex: 1n, ToRouteType: 0n }, '1'],
    ['in USDC on an unknown route', { ToRouteType: 2n }, '3'],
    ['in an asset that pays nothing', { AssetIndex: 9n, ToRouteType: 1n }, '9'],
    ['to another recipient', { ToAccountIndex: 12n }, '0'],
    ['of the recipient to himself', { FromAccountIndex: BigInt(user) }, '0'],
    ['of a depository', { FromAccountIndex: BigInt(depository) }, '0'],
    ['of another depository', { FromAccountIndex: BigInt(additional) }, '0'],
  ])('F-160: %s pays nothing', async (_what, info, currency) => {
    expect(await payment(info, {}, { recipient: user, currency })).toMatchObject({
      transfers: [{ amount: 0n }],
    })
  })

  test.each<[string, Partial<TransferInfo>, Partial<StoredTransaction>]>([
    ['another memo', { Memo: memoOf('ff'.repeat(32)) }, {}],
    ['no memo', { Memo: [] }, {}],
    ['a memo that only begins with the order', { Memo: memoOf(orderId).slice(0, 31) }, {}],
    ['another type', {}, { type: 14 }],
  ])('P-40: with %s does not reference the order', async (_what, info, change) => {
    expect(await payment(info, change)).toMatchObject({ referencesOrder: false })
  })

  test('an order spelled in upper case is the same order', async () => {
    const nodes = await startNodes()
    const transactionId = put(nodes, transfer())
    const { reader } = openChain(nodes)
    const upper = `0x${orderId.slice(2).toUpperCase()}` as const
    const question = { transactionId, orderId: upper, extraData: '0x', payments: [] } as const
    expect(await reader.readPayment(question, aSignal())).toMatchObject({ referencesOrder: true })
  })

  test.each(['-1', '007', 'x', `${2n ** 64n}`])('to %j is no payment to ask for', async (recipient) => {
    await expect(payment({}, {}, { recipient, currency: '0' })).rejects.toMatchObject({
      code: 'INVALID_ADDRESS',
    })
  })
})
