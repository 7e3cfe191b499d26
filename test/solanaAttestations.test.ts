// Goal: the routes attest what happened on a Solana chain like on any other, with the protocol's ids. Method:
// the whole HTTP surface over the real reader, a depository program on LiteSVM and real signatures.
// CAUSEWAY_FAULTS=1 runs the long form of what endpoints say. @source rules P-89, P-127, F-139, F-141
import { encodeBase58, type FactsReader, type Hex, type WithdrawalStatus } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { encodeSolanaWithdrawal, type SolanaWithdrawal, solanaWithdrawalId } from '@causeway/families/rules'
import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import {
  depositNative,
  depositToken,
  executeTransfer,
  memo,
  tokenAccount,
  transfer,
  transferNative,
} from '@causeway/localnet/standIns/solana'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { signedOrder } from '../apps/oracle/test/fixtures/requests.ts'
import { mutateAnswers } from '../packages/chains/test/fixtures/mutateAnswers.ts'
import { openReader, type SolanaBed, startSolanaBed } from './families/solanaSupport/solanaBed.ts'
import type { FamilySide, SeenWithdrawal } from './support/familyRoutes/familySide.ts'
import { openOracle } from './support/familyRoutes/oracle.ts'
import { familyOrder } from './support/familyRoutes/orders.ts'
import { solanaOwner } from './support/familyRoutes/owners.ts'
import { routeFuzz } from './support/familyRoutes/routeFuzz.ts'
import { depositCases, oracleOf, refused, settlementCases } from './support/familyRoutes/settlementCases.ts'
import { withdrawalBody, withdrawalCases } from './support/familyRoutes/withdrawalCases.ts'
import { withdrawalFlowCases } from './support/familyRoutes/withdrawalFlowCases.ts'

const native = '1'.repeat(32)
const noOrder = `0x${'00'.repeat(32)}` as const
const accountOf = (byte: number) => encodeBase58(new Uint8Array(32).fill(byte))
const [recipient, stranger] = [accountOf(0x21), accountOf(0x22)]

let bed: SolanaBed
let proxies: readonly FaultProxy[]
let side: FamilySide
/** The world again, whose transactions are of version 1. */
let side1: FamilySide
beforeAll(async () => {
  bed = await startSolanaBed()
  for (const funded of [recipient, stranger]) bed.node.airdrop(funded, 10n ** 10n)
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
  side = createSide(0)
  side1 = createSide(1)
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await bed?.stop()
})

const userKey = () => bed.user.publicKey

/** Orders in SOL. */
function createSide(version: 0 | 1): FamilySide {
  const own = { id: 'solana', ...mainNetwork('solana-vm'), hubChainId: '50000' }
  return {
    chain: { ...own, depository: bed.depository.program.toBase58() },
    currency: native,
    native,
    recipient,
    stranger,
    missingTransactionId: `${'2'.repeat(87)}a`,
    openReader(count) {
      const { reader, quorum } = openReader(bed, {
        urls: proxies.slice(0, count).map(({ url }) => url),
        limits: { finalEntriesMax: 0 },
        quorumLimits: { patienceMs: 10 },
      })
      return { reader, close: () => quorum.close() }
    },
    async deposit(id = noOrder) {
      const depositor = bed.recipient
      const transactionId = await bed.send(
        [depositNative(bed.depository, { sender: userKey(), depositor, amount: 1_000n, id })],
        { version },
      )
      return {
        transactionId,
        onchainIndex: '0',
        depositor: depositor.toBase58(),
        timestampSeconds: 1_700_000_000n,
      }
    },
    async pay({ orderId, amount, recipient: to }) {
      const named = orderId === undefined ? [] : [memo(orderId)]
      return bed.send([transferNative({ from: userKey(), to, amount }), ...named], { version })
    },
    withdraw: async () => paidOut(requestOf(), version),
    async lie(seed) {
      if (seed === undefined) return proxies[0]?.set({ kind: 'pass' })
      const rewrite = (_call: unknown, result: unknown) =>
        JSON.parse(mutateAnswers(JSON.stringify({ result }), seed)).result
      await proxies[0]?.set({ kind: 'lie', rewrite })
    },
    fail: async () => proxies[0]?.set({ kind: 'html200' }),
  }
}

let nonce = 0n

/** A withdrawal of 77 lamports; no two are one. */
function requestOf(change: Partial<SolanaWithdrawal> = {}): SolanaWithdrawal {
  nonce += 1n
  return {
    domain: `0x${'01'.repeat(32)}`,
    recipient,
    token: undefined,
    amount: 77n,
    nonce,
    expiration: 2n ** 40n,
    vaultAddress: bed.depository.addresses.vault,
    ...change,
  }
}

function seen(
  request: SolanaWithdrawal,
  status: WithdrawalStatus,
  change: Partial<SeenWithdrawal> = {},
): SeenWithdrawal {
  return {
    withdrawal: encodeSolanaWithdrawal(request),
    withdrawalId: solanaWithdrawalId(request),
    status,
    currency: request.token ?? native,
    recipient: request.recipient,
    amount: request.amount,
    ...change,
  }
}

async function paidOut(request: SolanaWithdrawal, version: 0 | 1 = 0) {
  const args = { executor: userKey(), request, withdrawalId: solanaWithdrawalId(request) }
  const transactionId = await bed.send([executeTransfer(bed.depository, args)], { version })
  return { ...seen(request, 'executed', { executingTransactionId: transactionId }), transactionId }
}

depositCases(() => side)

test('a transaction that is not final is asked for again', async () => {
  const { post } = await oracleOf(side)
  bed.node.hold()
  const transactionId = await bed.send([memo('young')])
  const question = { chainId: 'solana', transactionId }
  expect(await post(paths.deposits, question)).toMatchObject(refused('TRANSACTION_NOT_FINAL'))
  bed.node.finalize()
  expect(await post(paths.deposits, question)).toMatchObject({ status: 200, body: { messages: [] } })
})

test('F-105: a deposit is attested by the first answer after its slot of 200 ms is final', async () => {
  const { post } = await oracleOf(side)
  const { node } = bed
  node.hold()
  const slots = setInterval(() => node.tick(1_700_000_000n), 200)
  onTestFinished(() => {
    clearInterval(slots)
    node.finalize()
  })
  const { transactionId } = await side.deposit()
  const question = { chainId: 'solana', transactionId }
  expect(await post(paths.deposits, question)).toMatchObject({
    status: 400,
    body: { errorCode: 'TRANSACTION_NOT_FINAL' },
  })
  const isFinal = new Promise<void>((resolve) => {
    const unwatch = node.watch(() => {
      const stored = node.transaction(transactionId)
      if (stored === undefined || !node.isFinal(stored)) return
      unwatch()
      resolve()
    })
  })
  // A slot that the cluster votes for is final within two.
  setTimeout(() => node.finalize(), 150)
  await isFinal
  proxies[0]?.resetCounters()
  expect((await post(paths.deposits, question)).status).toBe(200)
  expect(proxies[0]?.counters()).toMatchObject({ requests: 2, calls: 2 })
})

settlementCases(() => side)

describe('F-1: what was sent in version 1', () => {
  depositCases(() => side1)
  settlementCases(() => side1)
  withdrawalCases(
    () => side1,
    [['of SOL is burnt under its transaction', async () => paidOut(requestOf(), 1)]],
  )

  test('has the messages and the signed bytes of version 0, under one id', async () => {
    const { reader, close } = side.openReader(1)
    onTestFinished(close)
    const { networkOf } = await openOracle(side.chain, () => reader)
    const { id, order, orderSignature } = await signedOrder(familyOrder(side), networkOf)
    const [zero, one] = [await sentBy(side, id), await sentBy(side1, id)]
    const inZero = new Map([
      [zero.deposit, one.deposit],
      [zero.fill, one.fill],
    ])
    const renamed = (transactionId: string) => inZero.get(transactionId) ?? transactionId
    /** Says of an id what the transaction of version 1 with the same instructions shows. */
    const ofOne: FactsReader = {
      ...reader,
      async readDeposits({ transactionId }, options) {
        const facts = await reader.readDeposits({ transactionId: renamed(transactionId) }, options)
        return { ...facts, transactionId }
      },
      async readPayment(question, options) {
        const { transactionId } = question
        const asked = { ...question, transactionId: renamed(transactionId) }
        return { ...(await reader.readPayment(asked, options)), transactionId }
      },
    }
    const answers = await Promise.all(
      [reader, ofOne].map(async (read) => {
        const { post } = await openOracle(side.chain, () => read)
        const deposits = await post(paths.deposits, { chainId: 'solana', transactionId: zero.deposit })
        const [message] = Object(deposits.body).messages
        const inputs = [{ transactionId: zero.deposit, onchainId: message.result.onchainId, inputIndex: 0 }]
        const settlement = { order, orderSignature, inputs }
        return [deposits, await post(paths.fills, { ...settlement, fill: { transactionId: zero.fill } })]
      }),
    )
    expect(answers[0]?.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[1]).toEqual(answers[0])
  })

  async function sentBy({ deposit, pay }: FamilySide, id: Hex) {
    const { transactionId } = await deposit(id)
    return { deposit: transactionId, fill: await pay({ orderId: id, amount: 900n, recipient }) }
  }
})

test('F-3: a transaction of a later version is refused by a code of its own, on every route', async () => {
  const { post, networkOf } = await oracleOf(side)
  const { id, order, orderSignature } = await signedOrder(familyOrder(side), networkOf)
  const { transactionId } = await side.deposit(id)
  bed.node.showAs(transactionId, 127)
  const unreadable = refused('TRANSACTION_UNREADABLE')
  const answer = await post(paths.deposits, { chainId: 'solana', transactionId })
  expect(answer).toMatchObject(unreadable)
  expect(Object(answer.body).message).toContain(transactionId)
  const inputs = [{ transactionId, onchainId: `0x${'0'.repeat(64)}`, inputIndex: 0 }]
  const settlement = { order, orderSignature, inputs }
  expect(await post(paths.fills, { ...settlement, fill: { transactionId } })).toMatchObject(unreadable)
  const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
  expect(await post(paths.refunds, { ...settlement, refunds })).toMatchObject(unreadable)
  const executed = await paidOut(requestOf())
  const named = { ...executed, transactionId }
  expect(await post(paths.withdrawals, withdrawalBody(side, named))).toMatchObject(unreadable)
})

describe('an order in a token', () => {
  const mint = () => bed.mint.toBase58()
  const paying = (amount: bigint) =>
    transfer({
      from: tokenAccount(userKey(), bed.mint),
      to: tokenAccount(bed.recipient, bed.mint),
      authority: userKey(),
      mint: bed.mint,
      amount,
    })

  test('is settled by its fill, or by its refund', async () => {
    const { post, networkOf } = await oracleOf(side)
    const inToken = { ...side, currency: mint(), recipient: bed.recipient.toBase58() }
    const { id, order, orderSignature } = await signedOrder(familyOrder(inToken), networkOf)
    const deposited = { sender: userKey(), mint: bed.mint, amount: 1_000n, id }
    const transactionId = await bed.send([depositToken(bed.depository, deposited)])
    const minted = await post(paths.deposits, { chainId: 'solana', transactionId })
    expect(minted).toMatchObject({
      status: 200,
      body: { messages: [{ result: { depositId: id, currency: mint(), amount: '1000' } }] },
    })
    const { messages } = Object(minted.body)
    const { onchainId } = messages[0].result
    const settlement = { order, orderSignature, inputs: [{ transactionId, onchainId, inputIndex: 0 }] }
    const pay = (amount: bigint) => bed.send([paying(amount), memo(id)])
    const fill = async (amount: bigint) =>
      post(paths.fills, { ...settlement, fill: { transactionId: await pay(amount) } })
    expect(await fill(899n)).toMatchObject(refused('INSUFFICIENT_FILL'))
    expect((await fill(900n)).status).toBe(200)
    const refund = async (amount: bigint) => {
      const refunds = [{ transactionId: await pay(amount), inputIndex: 0, refundIndex: 0 }]
      return post(paths.refunds, { ...settlement, refunds })
    }
    expect(await refund(949n)).toMatchObject(refused('INSUFFICIENT_REFUND'))
    expect((await refund(950n)).status).toBe(200)
  })
})

withdrawalCases(
  () => side,
  [
    ['that nobody executed is pending', async () => seen(requestOf(), 'pending')],
    ['of SOL is burnt under its transaction', async () => paidOut(requestOf())],
    [
      'of a token is burnt under its transaction',
      async () => paidOut(requestOf({ token: bed.mint.toBase58(), recipient: bed.recipient.toBase58() })),
    ],
    [
      'that was executed is not burnt where nobody names its transaction',
      async () => {
        const request = requestOf()
        await paidOut(request)
        return seen(request, 'executed')
      },
    ],
    [
      'that expired goes back to its owner',
      async () => seen(requestOf({ expiration: 1_600_000_000n }), 'expired'),
    ],
    [
      'that expired goes back under the same key, whatever transaction is named',
      async () => {
        const transactionId = await bed.send([memo('other')])
        return seen(requestOf({ expiration: 1_600_000_000n }), 'expired', { transactionId })
      },
    ],
  ],
)

test('a withdrawal of another currency than its address request is refused', async () => {
  const { post } = await oracleOf(side)
  const other = { ...(await paidOut(requestOf())), currency: bed.mint.toBase58() }
  expect(await post(paths.withdrawals, withdrawalBody(side, other))).toMatchObject(
    refused('WITHDRAWAL_REQUEST_MISMATCH'),
  )
})

withdrawalFlowCases(
  () => side,
  () => ({
    owner: solanaOwner,
    currency: bed.mint.toBase58(),
    recipient,
    payload: {
      depository: bed.depository.program.toBase58(),
      data: '0x',
      currency: Buffer.from(bed.mint.toBytes()).toString('hex'),
      recipient: '21'.repeat(32),
    },
    hostile: [
      [
        'to an account of 31 bytes',
        { recipient: encodeBase58(new Uint8Array(31).fill(1)) },
        'INVALID_ADDRESS',
      ],
      ['of a currency in hex', { currency: `0x${'21'.repeat(32)}` }, 'INVALID_ADDRESS'],
    ],
  }),
)
routeFuzz(() => side)
