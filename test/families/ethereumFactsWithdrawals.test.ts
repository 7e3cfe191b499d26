// Goal: a withdrawal is executed, expired or pending exactly as the depository and the clock of the final
// block say, and only the transaction that paid it out proves its execution. Method: requests signed by
// the depository's own allocator, run on a real node whose clock the test sets.

import type { Hex } from '@causeway/core'
import {
  type EvmWithdrawal,
  encodeEvmWithdrawal,
  encodeTransfer,
  type WithdrawalCall,
} from '@causeway/families/rules'
import {
  depositoryAbi,
  executeCallData,
  type FaultMode,
  type LocalAccount,
  nodePersonalities,
} from '@causeway/localnet'
import { toQuantity } from '@causeway/rpc'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  aSignal,
  type ChainBed,
  proxiesOf,
  type ReaderSettings,
  readerOf,
  startChainBed,
} from './ethereumSupport/chainBed.ts'

const recipient: Hex = `0x${'31'.repeat(20)}`
const native = `0x${'00'.repeat(20)}`
const far = 4_000_000_000n
let bed: ChainBed
let user: LocalAccount
let depository: Hex
let usdc: Hex
let nonce = 0n

beforeAll(async () => {
  bed = await startChainBed()
  const [first] = bed.network.keys.users
  if (first === undefined) throw new Error('no user')
  user = first
  depository = bed.deployment.depository
  usdc = bed.deployment.tokens.USDC
  await bed.send(user, depository, depositData(), 1_000n)
  await bed.send(user, usdc, encodeTransfer(depository, 1_000n))
})
afterAll(() => bed?.stop())

function depositData(): Hex {
  const args = [user.address, `0x${'00'.repeat(32)}`] as const
  return encodeFunctionData({ abi: depositoryAbi, functionName: 'depositNative', args })
}

function requestOf(call: Partial<WithdrawalCall> = {}, expiration = far): EvmWithdrawal {
  nonce += 1n
  const payment = { to: recipient, data: '0x', value: 5n, allowFailure: false, ...call } as const
  return { calls: [payment], nonce, expiration }
}

/** Has the allocator sign the request and runs it. */
async function execute(request: EvmWithdrawal) {
  const data = await executeCallData({
    chainId: bed.chain.chainId,
    depository,
    allocator: privateKeyToAccount(bed.network.keys.allocator.privateKey),
    request,
  })
  return bed.send(user, depository, data)
}

function statusOf(request: EvmWithdrawal, transactionId?: Hex, settings: ReaderSettings = {}) {
  const question = {
    withdrawal: encodeEvmWithdrawal(request),
    ...(transactionId !== undefined && { transactionId }),
  }
  return readerOf(bed, settings).reader.readWithdrawal(question, aSignal())
}

async function mineAt(timestamp: bigint): Promise<void> {
  await bed.chain.node.setNextBlockTimestamp({ timestamp })
  await bed.mine(1)
}

const headSeconds = async () => (await bed.chain.client.getBlock()).timestamp

test('F-125: an executed native withdrawal is proven by its transaction', async () => {
  const request = requestOf()
  const { transactionId } = await execute(request)
  await bed.mine(2)
  expect(await statusOf(request, transactionId)).toMatchObject({
    status: 'executed',
    executingTransactionId: transactionId,
    depository,
    currency: native,
    amount: 5n,
    recipient,
  })
})

test('an executed token withdrawal names token, amount and recipient of its transfer', async () => {
  const request = requestOf({ to: usdc, data: encodeTransfer(recipient, 7n), value: 0n })
  const { transactionId } = await execute(request)
  await bed.mine(2)
  expect(await statusOf(request, transactionId)).toMatchObject({
    status: 'executed',
    executingTransactionId: transactionId,
    currency: usdc,
    amount: 7n,
    recipient,
  })
})

test('an executed withdrawal without a named transaction is executed and proves no transaction', async () => {
  const request = requestOf()
  await execute(request)
  await bed.mine(2)
  const facts = await statusOf(request)
  expect(facts.status).toBe('executed')
  expect(facts).not.toHaveProperty('executingTransactionId')
})

test('P-106: another transaction, also one that executes another withdrawal, proves nothing', async () => {
  const request = requestOf()
  await execute(request)
  const foreign = await execute(requestOf())
  const deposit = await bed.send(user, depository, depositData(), 1n)
  await bed.mine(2)
  for (const { transactionId } of [foreign, deposit, { transactionId: `0x${'77'.repeat(32)}` as Hex }]) {
    const facts = await statusOf(request, transactionId)
    expect(facts.status).toBe('executed')
    expect(facts).not.toHaveProperty('executingTransactionId')
  }
})

test('P-106: a request whose only call failed under allowFailure is used, and no transaction proves a payment', async () => {
  const request = requestOf({
    to: usdc,
    data: encodeTransfer(recipient, 10n ** 30n),
    value: 0n,
    allowFailure: true,
  })
  const { transactionId } = await execute(request)
  await bed.mine(2)
  const facts = await statusOf(request, transactionId)
  expect(facts.status).toBe('executed')
  expect(facts).not.toHaveProperty('executingTransactionId')
})

test('an execution that is not final leaves the withdrawal pending', async () => {
  const request = requestOf()
  const { transactionId } = await execute(request)
  await bed.mine(1)
  const pending = await statusOf(request, transactionId)
  expect(pending.status).toBe('pending')
  expect(pending).not.toHaveProperty('executingTransactionId')
  await bed.mine(1)
  expect((await statusOf(request, transactionId)).status).toBe('executed')
})

test('a withdrawal that nobody ran is pending until it expires', async () => {
  expect((await statusOf(requestOf())).status).toBe('pending')
})

test('F-125: a withdrawal has expired when a final block is later than its last second, not in that second', async () => {
  const expiration = (await headSeconds()) + 100n
  const request = requestOf({}, expiration)
  const noSeconds = { finality: { mode: 'depth', blocks: 2, seconds: 0 } } as const
  for (const later of [0n, 1n, 2n]) await mineAt(expiration + later)
  // The final block is the one of the last second.
  expect((await statusOf(request, undefined, noSeconds)).status).toBe('pending')
  await mineAt(expiration + 3n)
  expect((await statusOf(request, undefined, noSeconds)).status).toBe('expired')
})

test('a final block after the last second is not enough while the seconds of finality are not over', async () => {
  const expiration = (await headSeconds()) + 100n
  const request = requestOf({}, expiration)
  const sixty = { finality: { mode: 'depth-and-time', blocks: 2, seconds: 60 } } as const
  for (const later of [1n, 2n, 3n, 4n]) await mineAt(expiration + later)
  expect((await statusOf(request, undefined, sixty)).status).toBe('pending')
  await mineAt(expiration + 60n)
  expect((await statusOf(request, undefined, sixty)).status).toBe('pending')
  await mineAt(expiration + 61n)
  expect((await statusOf(request, undefined, sixty)).status).toBe('expired')
})

test.each([
  ['tag', { mode: 'tag' }],
  ['time', { mode: 'time', seconds: 30 }],
  ['depth and time', { mode: 'depth-and-time', blocks: 0, seconds: 30 }],
] as const)('F-125: finality by %s decides about withdrawals as well', async (_name, finality) => {
  const request = requestOf()
  const { transactionId } = await execute(request)
  expect((await statusOf(request, transactionId, { finality })).status).toBe('pending')
  await bed.chain.node.setNextBlockTimestamp({ timestamp: (await headSeconds()) + 40n })
  await bed.mine(3)
  const facts = await statusOf(request, transactionId, { finality })
  expect(facts).toMatchObject({ status: 'executed', executingTransactionId: transactionId })
})

test('F-125: a withdrawal is read however many blocks the seconds of finality last', async () => {
  const request = requestOf()
  const { transactionId } = await execute(request)
  const [proxy] = await proxiesOf(bed, 1)
  await proxy?.set(withBlocksAbove(await bed.chain.client.getBlock(), 7_000n))
  const finality = { mode: 'time', seconds: 7_000 } as const
  const facts = await statusOf(request, transactionId, { finality, urls: [proxy?.url ?? ''] })
  expect(facts).toMatchObject({ status: 'executed', executingTransactionId: transactionId })
})

test('F-125: where nodes have pruned the final block, a transaction in it proves the withdrawal', async () => {
  const [request, unused] = [requestOf(), requestOf()]
  const { transactionId } = await execute(request)
  await bed.node('anvil_mine', ['0x96', '0x1'])
  const [proxy] = await proxiesOf(bed, 1)
  await proxy?.set({ kind: 'hosted', personality: nodePersonalities.pruned })
  const finality = { mode: 'depth-and-time', blocks: 2, seconds: 149 } as const
  const settings = { finality, urls: [proxy?.url ?? ''] }
  const proven = { status: 'executed', executingTransactionId: transactionId }
  expect(await statusOf(request, transactionId, settings)).toMatchObject(proven)
  await expect(statusOf(request, undefined, settings)).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  expect(await statusOf(unused, undefined, settings)).toMatchObject({ status: 'pending' })
})

/** Shows so many more blocks above the head, one each second. */
function withBlocksAbove(
  head: { readonly number: bigint; readonly timestamp: bigint; readonly hash: Hex },
  more: bigint,
): FaultMode {
  return {
    kind: 'lie',
    rewrite({ method, params: [height] }, truth) {
      if (method !== 'eth_getBlockByNumber') return truth
      const number = height === 'latest' ? head.number + more : BigInt(String(height))
      if (number <= head.number) return truth
      const timestamp = head.timestamp + number - head.number
      return { number: toQuantity(number), timestamp: toQuantity(timestamp), hash: head.hash }
    },
  }
}

test('bytes that are no withdrawal are refused before anything is asked', async () => {
  const { reader } = readerOf(bed, { urls: ['http://127.0.0.1:9'] })
  await expect(reader.readWithdrawal({ withdrawal: '0x1234' }, aSignal())).rejects.toMatchObject({
    code: 'INVALID_WITHDRAWAL',
  })
})
