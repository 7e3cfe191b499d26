// Goal: a withdrawal is executed, expired or pending exactly as the depository and solidified blocks say, and
// only the transaction that paid it out proves its execution. Method: requests signed by the depository's own
// allocator behind the stand-in, on a node whose clock the test sets. @source rule F-125

import type { Hex } from '@causeway/core'
import {
  type EvmWithdrawal,
  encodeDepositNative,
  encodeEvmWithdrawal,
  encodeTransfer,
  type WithdrawalCall,
} from '@causeway/families/rules'
import { executeCallData } from '@causeway/localnet'
import type { Submitted } from '@causeway/localnet/standIns/tron'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accountOf,
  aSignal,
  type ReaderSettings,
  readerOf,
  startTronBed,
  type TronBed,
  trx,
} from './tronSupport/tronBed.ts'

const recipient = accountOf('31')
const far = 4_000_000_000n
let bed: TronBed
let depository: Hex
let usdc: Hex
let nonce = 0n

beforeAll(async () => {
  bed = await startTronBed()
  depository = bed.evm.deployment.depository
  usdc = bed.evm.deployment.tokens.USDC
  await trigger(depository, encodeDepositNative(bed.user.address, `0x${'00'.repeat(32)}`), 1_000n)
  await trigger(usdc, encodeTransfer(depository, 1_000n))
})
afterAll(() => bed?.stop())

function trigger(to: Hex, data: Hex, callValue = 0n): Promise<Submitted> {
  return bed.ledger.submit(bed.user, { kind: 'trigger', to, data, callValue })
}

function requestOf(call: Partial<WithdrawalCall> = {}, expiration = far): EvmWithdrawal {
  nonce += 1n
  const payment = { to: recipient.bytes, data: '0x', value: 5n, allowFailure: false, ...call } as const
  return { calls: [payment], nonce, expiration }
}

/** Has the allocator sign the request and runs it. */
async function execute(request: EvmWithdrawal): Promise<Submitted> {
  const data = await executeCallData({
    chainId: bed.evm.chain.chainId,
    depository,
    allocator: privateKeyToAccount(bed.evm.network.keys.allocator.privateKey),
    request,
  })
  return trigger(depository, data)
}

function statusOf(request: EvmWithdrawal, transactionId?: string, settings: ReaderSettings = {}) {
  const question = {
    withdrawal: encodeEvmWithdrawal(request),
    ...(transactionId !== undefined && { transactionId }),
  }
  return readerOf(bed, settings).reader.readWithdrawal(question, aSignal())
}

const headSeconds = async () => (await bed.evm.chain.client.getBlock()).timestamp

async function mineAt(timestamp: bigint): Promise<void> {
  await bed.evm.chain.node.setNextBlockTimestamp({ timestamp })
  await bed.evm.mine(1)
}

describe('an executed withdrawal', () => {
  test('of TRX is proven by its transaction, and spelled in base58', async () => {
    const request = requestOf()
    const { transactionId } = await execute(request)
    await bed.evm.mine(2)
    expect(await statusOf(request, `0x${transactionId}`)).toMatchObject({
      status: 'executed',
      executingTransactionId: transactionId,
      depository: bed.depository,
      currency: trx,
      amount: 5n,
      recipient: recipient.base58,
    })
  })

  test('of a token names token, amount and recipient of its transfer', async () => {
    const request = requestOf({ to: usdc, data: encodeTransfer(recipient.bytes, 7n), value: 0n })
    const { transactionId } = await execute(request)
    await bed.evm.mine(2)
    expect(await statusOf(request, transactionId)).toMatchObject({
      status: 'executed',
      executingTransactionId: transactionId,
      currency: bed.usdc,
      amount: 7n,
      recipient: recipient.base58,
    })
  })

  test('without a named transaction proves none', async () => {
    const request = requestOf()
    await execute(request)
    await bed.evm.mine(2)
    const facts = await statusOf(request)
    expect(facts.status).toBe('executed')
    expect(facts.executingTransactionId).toBeUndefined()
  })

  test('is not proven by the transaction of another one, nor by one that is not there', async () => {
    const request = requestOf()
    await execute(request)
    const another = await execute(requestOf())
    await bed.evm.mine(2)
    for (const transactionId of [another.transactionId, '77'.repeat(32)]) {
      const facts = await statusOf(request, transactionId)
      expect(facts.status).toBe('executed')
      expect(facts.executingTransactionId).toBeUndefined()
    }
  })

  test('whose call was allowed to fail and failed is executed, and its transaction proves nothing', async () => {
    const request = requestOf({ value: BigInt(Number.MAX_SAFE_INTEGER), allowFailure: true })
    const { transactionId } = await execute(request)
    await bed.evm.mine(2)
    const facts = await statusOf(request, transactionId)
    expect(facts.status).toBe('executed')
    expect(facts.executingTransactionId).toBeUndefined()
  })

  test('is pending until its block is solidified', async () => {
    const request = requestOf()
    const { transactionId } = await execute(request)
    expect(await statusOf(request, transactionId)).toMatchObject({ status: 'pending' })
    await bed.evm.mine(1)
    expect(await statusOf(request, transactionId)).toMatchObject({ status: 'pending' })
    await bed.evm.mine(1)
    expect(await statusOf(request, transactionId)).toMatchObject({ executingTransactionId: transactionId })
  })

  test('is not proven by a transaction that the rule of blocks does not call final yet', async () => {
    const request = requestOf()
    const { transactionId } = await execute(request)
    await bed.evm.mine(2)
    const deep: ReaderSettings = { finality: { mode: 'depth', blocks: 5 } }
    expect((await statusOf(request, transactionId, deep)).executingTransactionId).toBeUndefined()
    await bed.evm.mine(3)
    expect((await statusOf(request, transactionId, deep)).executingTransactionId).toBe(transactionId)
  })
})

describe('a withdrawal that nobody executed', () => {
  test('is pending before it expires', async () => {
    await bed.evm.mine(2)
    expect(await statusOf(requestOf())).toMatchObject({ status: 'pending' })
  })

  test('F-125: is expired when a final block is later than its expiration, not when one is as late', async () => {
    const expiration = (await headSeconds()) + 100n
    const request = requestOf({}, expiration)
    await mineAt(expiration)
    await mineAt(expiration + 1n)
    await mineAt(expiration + 100n)
    // The newest solidified block is that of the very second in which the request may still run.
    expect(await statusOf(request)).toMatchObject({ status: 'pending' })
    await bed.evm.mine(1)
    expect(await statusOf(request)).toMatchObject({ status: 'expired' })
  })

  test('is expired only when the head is past the expiration by the seconds of the rule', async () => {
    const expiration = (await headSeconds()) + 100n
    const request = requestOf({}, expiration)
    const rule: ReaderSettings = { finality: { mode: 'depth-and-time', blocks: 1, seconds: 1_000 } }
    await mineAt(expiration + 1n)
    await bed.evm.mine(3)
    expect(await statusOf(request, undefined, rule)).toMatchObject({ status: 'pending' })
    await mineAt(expiration + 1_001n)
    expect(await statusOf(request, undefined, rule)).toMatchObject({ status: 'expired' })
  })

  test('that expires and is executed in its last second is executed', async () => {
    const expiration = (await headSeconds()) + 100n
    const request = requestOf({}, expiration)
    await bed.evm.chain.node.setNextBlockTimestamp({ timestamp: expiration })
    const { transactionId } = await execute(request)
    await bed.evm.mine(5)
    expect(await statusOf(request, transactionId)).toMatchObject({ executingTransactionId: transactionId })
  })
})

test.each<[string, Hex]>([
  ['nothing', '0x'],
  ['bytes of no request', '0xdeadbeef'],
  ['two calls', encodeEvmWithdrawal({ ...requestOf(), calls: [...requestOf().calls, ...requestOf().calls] })],
])('a withdrawal of %s is refused before anything is asked', async (_name, withdrawal) => {
  const { reader } = readerOf(bed, { urls: ['http://127.0.0.1:9'] })
  await expect(reader.readWithdrawal({ withdrawal }, aSignal())).rejects.toMatchObject({
    code: 'INVALID_WITHDRAWAL',
  })
})

test('a request for payload parameters is spelled in 20 bytes', async () => {
  const { reader } = readerOf(bed)
  const question = {
    depository: bed.depository,
    currency: trx,
    amount: 5n,
    recipient: recipient.base58,
    nonce: '1',
  }
  expect(await reader.readWithdrawRequest(question, aSignal())).toEqual({
    kind: 'withdraw-request',
    depository: depository.toLowerCase(),
    currency: `0x${'00'.repeat(20)}`,
    recipient: recipient.bytes,
    data: '0x',
  })
  await expect(
    reader.readWithdrawRequest({ ...question, recipient: `${recipient.base58}1` }, aSignal()),
  ).rejects.toMatchObject({ kind: 'invalid_request' })
})
