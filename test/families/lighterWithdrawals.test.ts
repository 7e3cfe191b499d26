// Goal: a Lighter withdrawal is pending, executed or expired exactly as the public protocol says, its transaction
// is proven, and nothing an explorer says decides. Method: every case of rule F-161 against the stand-in over
// HTTP.

import { Secret } from '@causeway/core'
import { encodeLighterWithdrawal } from '@causeway/families/rules'
import {
  type LighterNode,
  lighterBodies,
  type StoredTransaction,
  type TransferInfo,
} from '@causeway/localnet/standIns/lighter'
import { describe, expect, test } from 'vitest'
import type { ReadableChain } from '../../packages/families/src/shared/familyChain.ts'
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
    FromAccountIndex: BigInt(depository),
    ToAccountIndex: BigInt(user),
    ExpiredAt: farAway,
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
      kind: 'withdrawal',
      withdrawalId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      depository,
      status: 'executed',
      currency: '0',
      amount: 1_000_000n,
      recipient: user,
      executingTransactionId: transactionId,
      evidence: {
        chainId: 'lighter',
        finalityRule: 'executed by the sequencer',
        agreeingEndpoints: [expect.stringContaining('127.0.0.1')],
      },
    })
  })

  test.each<[number, string, bigint]>([
    [4, 'that failed', farAway],
    [5, 'that was rejected', farAway],
  ])(
    'a transfer with status %i, %s, may be sent again: its text has no expiry',
    async (status, _what, ExpiredAt) => {
      const nodes = await startNodes()
      const info = payout({ ExpiredAt })
      const facts = await read(nodes, info, put(nodes, info, { status }))
      expect(facts).toMatchObject({ status: 'pending', pendingReason: 'ACTION_CAN_BE_SENT_AGAIN' })
      expect(facts).not.toHaveProperty('executingTransactionId')
    },
  )

  test.each<[number, string, bigint]>([
    [0, 'before its expiry', farAway],
    [1, 'before its expiry', farAway],
    [1, 'that never expires', 0n],
    [0, 'past its expiry', longAgo],
    [1, 'past its expiry', longAgo],
  ])('a transfer with status %i %s is pending', async (status, _when, ExpiredAt) => {
    const nodes = await startNodes()
    const info = payout({ ExpiredAt })
    expect(await read(nodes, info, put(nodes, info, { status }))).toMatchObject({ status: 'pending' })
  })

  test.each<[string, Partial<TransferInfo>, Partial<StoredTransaction>]>([
    ['another transfer', { Amount: 1n }, {}],
    ['a transfer to somebody else', { ToAccountIndex: 12n }, { status: 2 }],
    ['what is no transfer', {}, { type: 14 }],
  ])('F-161: it expires once %s took the nonce of its key', async (_what, other, stored) => {
    const nodes = await startNodes()
    const facts = await read(nodes, payout(), put(nodes, payout(other), stored))
    expect(facts).toMatchObject({ status: 'expired' })
    expect(facts).not.toHaveProperty('executingTransactionId')
  })

  test.each<[string, Partial<TransferInfo>, Partial<StoredTransaction>]>([
    ['another nonce', { Amount: 1n, Nonce: 8n }, {}],
    ['the nonce of another key', { Amount: 1n, ApiKeyIndex: 5n }, {}],
    ['the nonce of another account', { Amount: 1n, FromAccountIndex: BigInt(additional) }, {}],
    ['no nonce, because it waits', { Amount: 1n }, { status: 1 }],
    ['no nonce, because it failed', { Amount: 1n }, { status: 4 }],
    ['no nonce, because it is no transfer and failed', {}, { type: 14, status: 5 }],
    ['another nonce and is no transfer', { Nonce: 8n }, { type: 14 }],
  ])('one that took %s does not let it expire', async (_what, other, stored) => {
    const nodes = await startNodes()
    const facts = await read(nodes, payout(), put(nodes, payout(other), stored))
    expect(facts).toMatchObject({ status: 'pending' })
    expect(facts).not.toHaveProperty('pendingReason')
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
    expect(facts.status).not.toBe('executed')
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
    const transactionId = unknown === '' ? put(nodes, payout({ Nonce: 8n }), { type: 14 }) : unknown
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

  test('F-161: what it calls executed is pending while the endpoints say so', async () => {
    const nodes = await startNodes()
    put(nodes, payout(), { status: 1 })
    expect(await read(nodes, payout(), undefined, explored(nodes))).toMatchObject({ status: 'pending' })
  })

  test('what it does not call executed is executed where the endpoints say so', async () => {
    const nodes = await startNodes()
    nodes[0]?.setLogStatus(put(nodes, payout()), 'pending')
    expect(await read(nodes, payout(), undefined, explored(nodes))).toMatchObject({ status: 'executed' })
  })

  test('F-161: a named transfer that failed does not hide the one that paid', async () => {
    const nodes = await startNodes()
    const failed = put(nodes, payout(), { status: 4 })
    const executingTransactionId = put(nodes, payout())
    expect(await read(nodes, payout(), failed, explored(nodes))).toMatchObject({
      status: 'executed',
      executingTransactionId,
    })
  })

  test('another transfer to the recipient that took its nonce is found', async () => {
    const nodes = await startNodes()
    put(nodes, payout(), { status: 4 })
    put(nodes, payout({ Amount: 1n }))
    expect(await read(nodes, payout(), undefined, explored(nodes))).toMatchObject({ status: 'expired' })
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
