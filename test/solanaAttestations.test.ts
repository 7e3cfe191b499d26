// Goal: the routes attest what happened on a Solana chain like on any other, with the protocol's ids. Method:
// the whole HTTP surface over the real reader, a depository program on LiteSVM and real signatures.
// @source oracle-protocol.md 1.3, 3, 5.2
import {
  depositsExecutionKey,
  encodeSolanaWithdrawal,
  type Hex,
  type Order,
  onchainId,
  type SolanaWithdrawal,
  settlementExecutionKey,
  solanaWithdrawalId,
  withdrawalExecutedKey,
  withdrawalExpiredKey,
} from '@causeway/core'
import {
  depositToken,
  executeTransfer,
  memo,
  tokenAccount,
  transfer,
} from '@causeway/localnet/standIns/solana'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AttestationContext } from '../apps/oracle/src/attestations/context.ts'
import { paths, testApp, withReader } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { signedOrder } from '../apps/oracle/test/fixtures/requests.ts'
import { chains, world } from '../apps/oracle/test/fixtures/world.ts'
import {
  openReader,
  proxiesOf,
  type SolanaBed,
  startSolanaBed,
} from '../packages/chains/test/solanaSupport/solanaBed.ts'
import { orderB } from '../packages/core/test/vectors/orders.ts'

let bed: SolanaBed
beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())

type Answer = { readonly status: number; readonly body: unknown }

/** An oracle whose Solana chain is the local cluster. */
async function oracle(urls: readonly string[] = [bed.url]) {
  const { reader, quorum } = openReader(bed, { urls })
  const entry = chains.get('solana')
  if (entry === undefined) throw new Error('no solana chain')
  const solana = { ...entry, depository: bed.depository.program.toBase58() }
  const plain = world({})
  const context: AttestationContext = { ...plain, chains: new Map([...chains, ['solana', solana]]) }
  const { app } = await testApp({ context: withReader(context, reader) })
  onTestFinished(async () => {
    await app.close()
    await quorum.close()
  })
  return async (url: string, payload: object): Promise<Answer> => {
    const response = await app.inject({ method: 'POST', url, payload })
    return { status: response.statusCode, body: response.json() }
  }
}

const mint = () => bed.mint.toBase58()
const recipient = () => bed.recipient.toBase58()
const userKey = () => bed.user.publicKey
const payTo = (amount: bigint) =>
  transfer({
    from: tokenAccount(userKey(), bed.mint),
    to: tokenAccount(bed.recipient, bed.mint),
    ...{ authority: userKey(), mint: bed.mint, amount },
  })

/** 1,000 units in, at least 900 out, or 950 back. */
function solanaOrder(salt: string): Order {
  const refund = { chainId: 'solana', recipient: recipient(), currency: mint(), minimumAmount: '950' }
  const payment = { recipient: recipient(), currency: mint(), minimumAmount: '900', expectedAmount: '910' }
  const paid = { chainId: 'solana', currency: mint(), amount: '1000', weight: '1' }
  return {
    ...orderB,
    salt,
    inputs: [{ payment: paid, refunds: [{ ...refund, deadline: 2_000_000_000, extraData: '0x' }] }],
    output: { chainId: 'solana', payments: [payment], calls: [], deadline: 2_000_000_000, extraData: '0x' },
    fees: [],
  }
}

async function depositedOrder(salt: string) {
  const signed = await signedOrder(solanaOrder(salt))
  const transactionId = await bed.send([
    depositToken(bed.depository, { sender: userKey(), mint: bed.mint, amount: 1_000n, id: signed.id }),
  ])
  const deposit = {
    transactionId,
    onchainId: onchainId({ chainId: 'solana', transactionId, onchainIndex: '0' }),
  }
  return { ...signed, deposit, inputs: [{ ...deposit, inputIndex: 0 }] }
}

describe('a deposit', () => {
  test('is minted to its order, under the ids of the protocol', async () => {
    const { id, deposit } = await depositedOrder('1')
    const post = await oracle()
    const { transactionId } = deposit
    const { status, body } = await post(paths.deposits, { chainId: 'solana', transactionId })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      messages: [
        {
          data: { chainId: 'solana', transactionId },
          result: {
            onchainId: deposit.onchainId,
            depository: bed.depository.program.toBase58(),
            depositId: id,
            depositor: userKey().toBase58(),
            currency: mint(),
            amount: '1000',
          },
          extraData: { timestamp: '1700000000' },
          signatures: [{}],
        },
      ],
      execution: {
        idempotencyKey: depositsExecutionKey({ chainId: 'solana', transactionId }),
        signatures: [{}],
      },
    })
  })

  test('that is not there, not final or unreadable is refused by its own code', async () => {
    const [proxy] = await proxiesOf(bed, 1)
    const post = await oracle([proxy?.url ?? ''])
    const ask = (transactionId: string) => post(paths.deposits, { chainId: 'solana', transactionId })
    expect(await ask(`${'2'.repeat(87)}a`)).toMatchObject({
      status: 400,
      body: { errorCode: 'TRANSACTION_MISSING' },
    })
    expect(await ask('0xaa')).toMatchObject({ status: 400, body: { errorCode: 'INVALID_TRANSACTION_ID' } })
    bed.node.hold()
    const young = await bed.send([memo('young')])
    expect(await ask(young)).toMatchObject({ status: 400, body: { errorCode: 'TRANSACTION_NOT_FINAL' } })
    bed.node.finalize()
    expect(await ask(young)).toMatchObject({ status: 200, body: { messages: [] } })
    await proxy?.set({ kind: 'html200' })
    const other = await bed.send([memo('other')])
    expect(await ask(other)).toMatchObject({
      status: 503,
      body: { errorCode: 'RPC_HTTP_ERROR', retryable: true },
    })
  })
})

describe('an order', () => {
  test('is settled by a fill that carries its id and covers its payment', async () => {
    const { order, id, orderSignature, inputs, deposit } = await depositedOrder('2')
    const post = await oracle()
    const fill = async (...instructions: Parameters<SolanaBed['send']>[0][number][]) =>
      post(paths.fills, {
        order,
        orderSignature,
        inputs,
        fill: { transactionId: await bed.send(instructions) },
      })
    expect(await fill(payTo(899n), memo(id))).toMatchObject({
      status: 400,
      body: { errorCode: 'INSUFFICIENT_FILL' },
    })
    expect((await fill(payTo(900n), memo('hello'))).status).toBe(400)
    const { status, body } = await fill(payTo(900n), memo(id))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      message: { result: { orderId: id, status: 1, totalWeightedInputPaymentBpsDiff: '0' } },
      execution: { idempotencyKey: settlementExecutionKey({ onchainIds: [deposit.onchainId], orderId: id }) },
    })
  })

  test('is given back by a refund that carries its id', async () => {
    const { order, id, orderSignature, inputs } = await depositedOrder('3')
    const post = await oracle()
    const refund = async (amount: bigint) => {
      const transactionId = await bed.send([payTo(amount), memo(id)])
      return post(paths.refunds, {
        ...{ order, orderSignature, inputs },
        refunds: [{ transactionId, inputIndex: 0, refundIndex: 0 }],
      })
    }
    expect(await refund(949n)).toMatchObject({ status: 400, body: { errorCode: 'INSUFFICIENT_REFUND' } })
    expect(await refund(950n)).toMatchObject({ status: 200, body: { message: { result: { status: 1 } } } })
  })
})

describe('a withdrawal', () => {
  const request = (fields: Partial<SolanaWithdrawal>): SolanaWithdrawal => ({
    domain: `0x${'01'.repeat(32)}`,
    recipient: recipient(),
    token: mint(),
    amount: 77n,
    nonce: 1n,
    expiration: 2n ** 40n,
    vaultAddress: bed.depository.addresses.vault,
    ...fields,
  })
  const body = (withdrawal: SolanaWithdrawal, transactionId?: string) => ({
    chainId: 'solana',
    withdrawal: encodeSolanaWithdrawal(withdrawal),
    ...(transactionId !== undefined && { transactionId }),
    withdrawalAddressRequest: {
      ...{ chainId: 'solana', currency: mint(), recipient: recipient() },
      ...{ withdrawer: `0x${'11'.repeat(20)}`, withdrawerChainId: 'ethereum', withdrawalNonce: '42' },
    },
  })

  test('is burnt under one key, once its executing transaction is proven', async () => {
    const withdrawal = request({ nonce: 2n })
    const withdrawalId: Hex = solanaWithdrawalId(withdrawal)
    const post = await oracle()
    expect(await post(paths.withdrawals, body(withdrawal))).toMatchObject({
      status: 200,
      body: { message: { result: { withdrawalId, status: 0 } } },
    })
    const executor = userKey()
    const transactionId = await bed.send([
      executeTransfer(bed.depository, { executor, request: withdrawal, withdrawalId }),
    ])
    expect(await post(paths.withdrawals, body(withdrawal, transactionId))).toMatchObject({
      status: 200,
      body: {
        message: { result: { withdrawalId, status: 1 } },
        execution: { idempotencyKey: withdrawalExecutedKey({ withdrawalId, transactionId }) },
      },
    })
    const other = await bed.send([memo('other')])
    expect((await post(paths.withdrawals, body(withdrawal, other))).status).toBe(400)
  })

  test('that expired goes back to its owner, under a key without a transaction', async () => {
    const withdrawal = request({ expiration: 1_600_000_000n })
    const post = await oracle()
    expect(await post(paths.withdrawals, body(withdrawal))).toMatchObject({
      status: 200,
      body: {
        message: { result: { status: 2 } },
        execution: { idempotencyKey: withdrawalExpiredKey(solanaWithdrawalId(withdrawal)) },
      },
    })
  })

  test('of another currency than its address request is refused', async () => {
    const post = await oracle()
    expect(await post(paths.withdrawals, body(request({ token: undefined })))).toMatchObject({
      status: 400,
      body: { errorCode: 'WITHDRAWAL_REQUEST_MISMATCH' },
    })
  })
})
