// Goal: what the stand-in of bitcoind says is what a real one says: deposits, payments, withdrawals in every state,
// finality, a reorganisation and unknown transactions. Method: `npm test -- --suite=bitcoind` on a real node on regtest,
// with transactions that its consensus accepted.
import { parseMerkleBlock } from '@causeway/families/rules'
import { Transaction } from 'bitcoinjs-lib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  additionalKey,
  aSignal,
  depository,
  depositoryKey,
  native,
  type Output,
  openChain,
  orderId,
  saying,
  solver,
  user,
} from '../bitcoinSupport/bitcoinBed.ts'
import { elsewhere, executed, psbtOf, type Spendable, withdrawalOf } from '../bitcoinSupport/withdrawals.ts'
import { type Bitcoind, startBitcoind } from './bitcoind.ts'

let node: Bitcoind
const coins: Spendable[] = []

beforeAll(async () => {
  node = await startBitcoind()
  await node.mine(130, solver.witness.address)
  for (let height = 1; height <= 25; height += 1) {
    const block = Object(await node.call('getblock', await node.call('getblockhash', height), 1))
    const hex = String(await node.call('getrawtransaction', block.tx[0], false))
    coins.push({ from: Transaction.fromHex(hex), vout: 0, key: solver, kind: 'witness' })
  }
})
afterAll(() => node?.stop())

const open = (urls = [node.url]) => openChain({ api: 'node', urls })
const mine = (count: number) => node.mine(count, user.legacy.address)

/** A transaction from a mined coin, in the mempool. */
async function send(...outputs: readonly Output[]): Promise<Transaction> {
  const coin = coins.pop()
  if (coin === undefined) throw new Error('no coin left')
  return broadcast(elsewhere([coin], outputs))
}

async function broadcast(transaction: Transaction): Promise<Transaction> {
  await node.call('sendrawtransaction', transaction.toHex(), 0)
  return transaction
}

/** A final output of a depository. */
async function held(kind: 'legacy' | 'witness', value = 100_000n): Promise<Spendable> {
  const key = kind === 'legacy' ? depositoryKey : additionalKey
  const from = await send({ script: key[kind].script, value })
  await mine(3)
  return { from, vout: 0, key, kind }
}

test('the node is on the configured network, and local', async () => {
  expect(await open().verify(aSignal().signal)).toEqual([])
  expect(await open().verifyLocal(aSignal().signal)).toEqual({ foreign: [], silent: [] })
})

test('a deposit has its id, depositor, amount and the time of its block once it has its confirmations', async () => {
  const deposit = await send({ script: depositoryKey.legacy.script, value: 5_000n }, saying(orderId))
  const transactionId = deposit.getId()
  const read = () => open().reader.readDeposits({ transactionId }, aSignal())
  await expect(read()).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
  await mine(2)
  await expect(read()).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
  await mine(1)
  const { blockhash, blocktime } = Object(await node.call('getrawtransaction', transactionId, true))
  expect(await read()).toMatchObject({
    blockTimestampSeconds: BigInt(blocktime),
    deposits: [{ depository, depositId: orderId, depositor: solver.witness.address, amount: 5_000n }],
    evidence: { blockHash: blockhash },
  })
  const proof = String(await node.call('gettxoutproof', [transactionId], blockhash))
  expect(parseMerkleBlock(Buffer.from(proof, 'hex'))).toMatchObject({
    header: { hash: blockhash },
    transactionIds: [transactionId],
  })
})

test('a payment is found in a block of many transactions', async () => {
  const payment = await send({ script: user.witness.script, value: 7_000n }, saying(orderId))
  for (let left = 5; left > 0; left -= 1) await send({ script: user.legacy.script, value: 1_000n })
  await mine(3)
  const question = {
    transactionId: payment.getId(),
    orderId,
    extraData: '0x' as const,
    payments: [{ recipient: user.witness.address, currency: native }],
  }
  expect(await open().reader.readPayment(question, aSignal())).toMatchObject({
    referencesOrder: true,
    transfers: [{ amount: 7_000n }],
  })
})

test.each(['legacy', 'witness'] as const)(
  'a withdrawal from a %s output goes from pending to executed',
  async (kind) => {
    const inputs = [await held(kind)]
    const psbt = psbtOf({ inputs })
    const withdrawal = withdrawalOf(psbt)
    const { reader } = open()
    expect((await reader.readWithdrawal({ withdrawal }, aSignal())).status).toBe('pending')
    const transaction = await broadcast(executed(psbt, inputs))
    expect((await reader.readWithdrawal({ withdrawal }, aSignal())).status).toBe('pending')
    await mine(3)
    await expect(reader.readWithdrawal({ withdrawal }, aSignal())).rejects.toMatchObject({
      code: 'SPENDING_TRANSACTION_UNKNOWN',
    })
    const transactionId = transaction.getId()
    expect(await reader.readWithdrawal({ withdrawal, transactionId }, aSignal())).toMatchObject({
      status: 'executed',
      executingTransactionId: transactionId,
      amount: 100_000n,
    })
  },
)

test('a withdrawal whose input is spent elsewhere has expired', async () => {
  const inputs = [await held('legacy')]
  const spender = await broadcast(elsewhere(inputs, [{ script: solver.witness.script, value: 90_000n }]))
  await mine(3)
  const question = { withdrawal: withdrawalOf(psbtOf({ inputs })), transactionId: spender.getId() }
  expect((await open().reader.readWithdrawal(question, aSignal())).status).toBe('expired')
})

test('a transaction whose block was dropped is not final until another block holds it', async () => {
  const deposit = await send({ script: depositoryKey.legacy.script, value: 5_000n })
  await mine(3)
  const { reader } = open()
  const read = () => reader.readDeposits({ transactionId: deposit.getId() }, aSignal())
  const before = await read()
  await node.call('invalidateblock', before.evidence.blockHash)
  await expect(read()).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
  // Another address: the same block would come again, which the node was told to refuse.
  await node.mine(3, user.nested.address)
  const after = await read()
  expect(after.deposits).toEqual(before.deposits)
  expect(after.evidence.blockHash).not.toBe(before.evidence.blockHash)
})

test('what the node does not know is missing, and its final blocks are told', async () => {
  const { reader } = open([node.url, node.url.replace('127.0.0.1', 'localhost')])
  await expect(reader.readDeposits({ transactionId: 'ee'.repeat(32) }, aSignal())).rejects.toMatchObject({
    code: 'TRANSACTION_MISSING',
  })
  const newest = await reader.finalBlocks?.readNewest(aSignal())
  expect(newest?.hash).toBe(await node.call('getblockhash', Number(newest?.number)))
  expect(await reader.finalBlocks?.readHash(1_000_000n, aSignal())).toBeUndefined()
})
