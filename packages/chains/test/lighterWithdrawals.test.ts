// Goal: a Lighter withdrawal is pending, executed or expired exactly as the public protocol says, its transaction
// is proven, and nothing an explorer says decides. Method: every withdrawal line of the test plan in
// oracle-protocol.md 5.5 against the stand-in over HTTP; clocks are those of the stand-in and of transfers.
import { encodeLighterWithdrawal, Secret } from '@causeway/core'
import { type LighterNode, lighterBodies, type TransferInfo } from '@causeway/localnet/standIns/lighter'
import { describe, expect, test } from 'vitest'
import type { ReadableChain } from '../src/family/familyChain.ts'
import {
  additional,
  aSignal,
  depository,
  memoOf,
  openChain,
  put,
  startNodes,
  transfer,
  user,
  withdrawalOf,
} from './lighterSupport/lighterBed.ts'

const brokenLogs = lighterBodies.brokenLogs.body
const longAgo = 1_600_000_000_000n
const farAway = 4_000_000_000_000n
const payout = (change: Partial<TransferInfo> = {}) =>
  transfer({
    ...{ FromAccountIndex: BigInt(depository), ToAccountIndex: BigInt(user), ExpiredAt: farAway },
    ...change,
  })

const explored = ([node]: readonly LighterNode[]): Partial<ReadableChain> => ({
  additionalData: { explorerApiUrl: new Secret(node?.explorerUrl ?? '') },
})

function read(
  nodes: readonly LighterNode[],
  info: TransferInfo,
  transactionId?: string,
  change: Partial<ReadableChain> = {},
) {
  const withdrawal = encodeLighterWithdrawal(withdrawalOf(info))
  const question = { withdrawal, ...(transactionId !== undefined && { transactionId }) }
  return openChain(nodes, change).reader.readWithdrawal(question, aSignal())
}

describe('by the transaction that is named', () => {
  test.each([2, 3])('a transfer with status %i executed it', async (status) => {
    const nodes = await startNodes()
    const transactionId = put(nodes, payout(), { status })
    expect(await read(nodes, payout(), transactionId.toUpperCase())).toEqual({
      ...{ kind: 'withdrawal', withdrawalId: expect.stringMatching(/^0x[0-9a-f]{64}$/), depository },
      ...{ status: 'executed', currency: '0', amount: 1_000_000n, recipient: user },
      executingTransactionId: transactionId,
      evidence: {
        chainId: 'lighter',
        finalityRule: 'executed by the sequencer',
        agreeingEndpoints: [expect.stringContaining('127.0.0.1')],
      },
    })
  })

  test.each([4, 5])('a transfer with status %i will never pay', async (status) => {
    const nodes = await startNodes()
    const transactionId = put(nodes, payout(), { status })
    const facts = await read(nodes, payout(), transactionId)
    expect(facts).toMatchObject({ status: 'expired' })
    expect(facts).not.toHaveProperty('executingTransactionId')
  })

  test.each<[number, string, bigint]>([
    [0, 'before its expiry', farAway],
    [1, 'before its expiry', farAway],
    [1, 'that never expires', 0n],
  ])('a transfer with status %i %s is pending', async (status, _when, ExpiredAt) => {
    const nodes = await startNodes()
    const info = payout({ ExpiredAt })
    expect(await read(nodes, info, put(nodes, info, { status }))).toMatchObject({ status: 'pending' })
  })

  test.each([0, 1])('a transfer with status %i past its expiry is expired', async (status) => {
    const nodes = await startNodes()
    const info = payout({ ExpiredAt: longAgo })
    expect(await read(nodes, info, put(nodes, info, { status }))).toMatchObject({ status: 'expired' })
  })

  test.each([
    [0, 'pending'],
    [60, 'pending'],
    [61, 'expired'],
  ])('%i seconds past its expiry by the endpoint it is %s', async (seconds, status) => {
    const nodes = await startNodes()
    nodes[0]?.setClock(Number(longAgo / 1_000n) + seconds)
    const info = payout({ ExpiredAt: longAgo })
    expect(await read(nodes, info, put(nodes, info, { status: 1 }))).toMatchObject({ status })
  })

  test('an endpoint whose clock runs ahead makes nothing expire', async () => {
    const nodes = await startNodes()
    nodes[0]?.setClock(Number(farAway / 1_000n) * 2)
    expect(await read(nodes, payout(), put(nodes, payout(), { status: 1 }))).toMatchObject({
      status: 'pending',
    })
  })

  test.each<[string, Partial<TransferInfo>]>([
    ['another nonce', { Nonce: 8n }],
    ['another payer', { FromAccountIndex: BigInt(additional) }],
    ['another route of the payer', { FromRouteType: 1n }],
    ['another key', { ApiKeyIndex: 5n }],
    ['another recipient', { ToAccountIndex: 12n }],
    ['another route of the recipient', { ToRouteType: 1n }],
    ['another asset', { AssetIndex: 1n }],
    ['another amount', { Amount: 999_999n }],
    ['another fee', { USDCFee: 1n }],
    ['another memo', { Memo: memoOf('ff'.repeat(32)) }],
  ])('a transfer with %s executes nothing of it', async (_what, other) => {
    const nodes = await startNodes()
    const facts = await read(nodes, payout(), put(nodes, payout(other)))
    expect(facts).toMatchObject({ status: 'pending' })
    expect(facts).not.toHaveProperty('executingTransactionId')
  })

  test('a short memo is the one that is padded on the right', async () => {
    const nodes = await startNodes()
    const info = payout({ Memo: memoOf('abcd') })
    expect(await read(nodes, info, put(nodes, info))).toMatchObject({ status: 'executed' })
  })

  test.each<[string, string]>([
    ['does not exist', 'ab'.repeat(40)],
    ['is no transfer', ''],
  ])('one that %s leaves it pending', async (_what, unknown) => {
    const nodes = await startNodes()
    const transactionId = unknown === '' ? put(nodes, payout(), { type: 14 }) : unknown
    expect(await read(nodes, payout(), transactionId)).toMatchObject({ status: 'pending' })
  })

  test('the expiry is no part of the withdrawal: who signs it says it to the sequencer alone', async () => {
    const nodes = await startNodes()
    const transactionId = put(nodes, payout({ ExpiredAt: longAgo }))
    expect(await read(nodes, payout(), transactionId)).toMatchObject({ status: 'executed' })
  })
})

test('without a transaction and without an explorer it is pending', async () => {
  const nodes = await startNodes()
  put(nodes, payout())
  expect(await read(nodes, payout())).toMatchObject({ status: 'pending' })
})

describe('by an explorer', () => {
  test('the transfer that executed it is found', async () => {
    const nodes = await startNodes()
    put(nodes, payout({ Nonce: 1n }))
    const transactionId = put(nodes, payout())
    expect(await read(nodes, payout(), undefined, explored(nodes))).toMatchObject({
      status: 'executed',
      executingTransactionId: transactionId,
    })
    expect(nodes[0]?.headers()['user-agent']).toBeTruthy()
  })

  test('a payment of an additional depository names that depository', async () => {
    const nodes = await startNodes()
    const info = payout({ FromAccountIndex: BigInt(additional) })
    put(nodes, info)
    expect(await read(nodes, info, undefined, explored(nodes))).toMatchObject({
      status: 'executed',
      depository: additional,
    })
  })

  test('what it calls executed is pending while the endpoints say so', async () => {
    const nodes = await startNodes()
    put(nodes, payout(), { status: 1 })
    expect(await read(nodes, payout(), undefined, explored(nodes))).toMatchObject({ status: 'pending' })
  })

  test('what it does not call executed is executed where the endpoints say so', async () => {
    const nodes = await startNodes()
    nodes[0]?.setLogStatus(put(nodes, payout()), 'pending')
    expect(await read(nodes, payout(), undefined, explored(nodes))).toMatchObject({ status: 'executed' })
  })

  test('a named transfer that failed does not hide the one that paid', async () => {
    const nodes = await startNodes()
    const failed = put(nodes, payout(), { status: 4 })
    const executingTransactionId = put(nodes, payout())
    expect(await read(nodes, payout(), failed, explored(nodes))).toMatchObject({
      status: 'executed',
      executingTransactionId,
    })
  })

  test('one transfer that waits keeps it from expiring', async () => {
    const nodes = await startNodes()
    const failed = put(nodes, payout(), { status: 4 })
    put(nodes, payout(), { status: 1 })
    expect(await read(nodes, payout(), failed, explored(nodes))).toMatchObject({ status: 'pending' })
  })

  test('transfers to others are not read', async () => {
    const nodes = await startNodes()
    put(nodes, payout({ ToAccountIndex: 12n }))
    await read(nodes, payout(), undefined, explored(nodes))
    expect(nodes[0]?.asked().filter((path) => path.startsWith('/api/v1/tx'))).toEqual([])
  })

  test.each<[string, string]>([
    ['a page', '<html>'],
    ['null', 'null'],
    ['an object', brokenLogs.object],
    ['logs that are none', brokenLogs.numbers],
    ['a log without a hash', brokenLogs.withoutHash],
    ['a log of another place', brokenLogs.ofAnotherPlace],
  ])('that answers with %s leaves it to the named transaction', async (_what, text) => {
    const nodes = await startNodes()
    const transactionId = put(nodes, payout())
    nodes[0]?.fault((path, truth) => (path.startsWith('/explorer') ? { status: 200, text } : truth))
    expect(await read(nodes, payout(), transactionId, explored(nodes))).toMatchObject({ status: 'executed' })
    expect(await read(nodes, payout(), undefined, explored(nodes))).toMatchObject({ status: 'pending' })
  })
})

describe('is refused', () => {
  test('when its payer is no depository of the chain', async () => {
    const nodes = await startNodes()
    const info = payout({ FromAccountIndex: 12n })
    await expect(read(nodes, info, put(nodes, info))).rejects.toMatchObject({
      code: 'DEPOSITORY_NOT_CONFIGURED',
      message: 'Depository 12 is not configured for chain lighter.',
    })
    expect(nodes[0]?.asked()).toEqual([])
  })

  test.each([0n, 300n, 305n])('for Lighter chain %i: one transfer executes one withdrawal', async (id) => {
    const nodes = await startNodes()
    const transactionId = put(nodes, payout())
    const withdrawal = encodeLighterWithdrawal(withdrawalOf(payout(), id))
    const { reader } = openChain(nodes)
    await expect(reader.readWithdrawal({ withdrawal, transactionId }, aSignal())).rejects.toMatchObject({
      code: 'INVALID_WITHDRAWAL',
    })
  })

  test('but on the test network its own chain id counts', async () => {
    const nodes = await startNodes()
    const transactionId = put(nodes, payout())
    const withdrawal = encodeLighterWithdrawal(withdrawalOf(payout(), 300n))
    const { reader } = openChain(nodes, { network: 'testnet' })
    expect(await reader.readWithdrawal({ withdrawal, transactionId }, aSignal())).toMatchObject({
      status: 'executed',
    })
  })

  test('when its bytes are none', async () => {
    const { reader } = openChain(await startNodes())
    await expect(reader.readWithdrawal({ withdrawal: '0xabcd' }, aSignal())).rejects.toMatchObject({
      code: 'INVALID_WITHDRAWAL',
    })
  })

  test('when the transaction id is none', async () => {
    const nodes = await startNodes()
    await expect(read(nodes, payout(), '0x')).rejects.toMatchObject({ code: 'INVALID_TRANSACTION_ID' })
  })
})

test('a request is spelled for the allocator without asking anybody', async () => {
  const nodes = await startNodes()
  const own = { nonce: '7', fromRouteType: '0', toRouteType: '0', apiKeyIndex: '4', usdcFee: '1' }
  const { reader } = openChain(nodes)
  const request = { depository, currency: '0', amount: 5n, recipient: user, nonce: '1' }
  const additionalData = { 'lighter-vm': { ...own, memo: '0xabcd', assetIndex: '3' } }
  expect(await reader.readWithdrawRequest({ ...request, additionalData }, aSignal())).toMatchObject({
    currency: '3',
    recipient: user,
  })
  await expect(
    reader.readWithdrawRequest({ ...request, currency: '1', additionalData }, aSignal()),
  ).rejects.toMatchObject({ code: 'INVALID_WITHDRAW_REQUEST' })
  expect(nodes[0]?.asked()).toEqual([])
})
