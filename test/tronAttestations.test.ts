// Goal: the routes attest what happened on Tron like on any other chain, with the protocol's ids. Method: the
// whole HTTP surface over the real reader; the real contracts on an EVM node behind a stand-in of a node's HTTP
// API, and real signatures.
// CAUSEWAY_FAULTS=1 runs the long form of what endpoints say. @source rules P-89, P-127, F-123, F-125
import { bytesToHex, type Hex, type WithdrawalStatus } from '@causeway/core'
import { createTronCodec, mainNetwork, tronAddress } from '@causeway/core/encodings'
import {
  type EvmWithdrawal,
  encodeDepositNative,
  encodeEvmWithdrawal,
  encodeTransfer,
  evmWithdrawalId,
  type WithdrawalCall,
} from '@causeway/families/rules'
import { executeCallData } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { mutateAnswers } from '../packages/chains/test/fixtures/mutateAnswers.ts'
import { accountOf, openReader, startTronBed, type TronBed, trx } from './families/tronSupport/tronBed.ts'
import type { FamilySide, SeenWithdrawal } from './support/familyRoutes/familySide.ts'
import { issue } from './support/familyRoutes/issued.ts'
import { tronOwner } from './support/familyRoutes/owners.ts'
import { routeFuzz } from './support/familyRoutes/routeFuzz.ts'
import { depositCases, oracleOf, refused, settlementCases } from './support/familyRoutes/settlementCases.ts'
import { withdrawalBody, withdrawalCases } from './support/familyRoutes/withdrawalCases.ts'
import { withdrawalFlowCases } from './support/familyRoutes/withdrawalFlowCases.ts'

const recipient = accountOf('31')
const noOrder: Hex = `0x${'00'.repeat(32)}`

let bed: TronBed
let depository: Hex
let usdc: Hex
let side: FamilySide
beforeAll(async () => {
  bed = await startTronBed()
  depository = bed.evm.deployment.depository
  usdc = bed.evm.deployment.tokens.USDC
  side = createSide([bed.facade])
  await trigger(depository, encodeDepositNative(bed.user.address, noOrder), 1_000n)
  await trigger(usdc, encodeTransfer(depository, 1_000n))
})
afterAll(() => bed?.stop())

function trigger(to: Hex, data: Hex, callValue = 0n) {
  return bed.ledger.submit(bed.user, { kind: 'trigger', to, data, callValue })
}

/** The 20 bytes behind `0x41`. */
function evmAddressOf(account: string): Hex {
  return bytesToHex(createTronCodec().encodeAddress(account).subarray(1))
}

async function receiptOf(evmHash: Hex): Promise<{ timestampSeconds: bigint; logIndex: bigint }> {
  const { blockNumber, logs } = await bed.evm.chain.client.getTransactionReceipt({ hash: evmHash })
  const { timestamp } = await bed.evm.chain.client.getBlock({ blockNumber })
  return { timestampSeconds: timestamp, logIndex: BigInt(logs[0]?.logIndex ?? 0) }
}

function createSide(facades: readonly FaultyService[]): FamilySide {
  const own = { id: 'tron', ...mainNetwork('tron-vm'), hubChainId: '728126428' }
  return {
    chain: { ...own, depository: bed.depository },
    currency: trx,
    native: trx,
    recipient: recipient.base58,
    stranger: accountOf('99').base58,
    hubToken: 66199585398216094478093028437081533774154606364138996317986376998302885299675n,
    missingTransactionId: '77'.repeat(32),
    openReader(count) {
      const { reader, quorum } = openReader(bed, {
        urls: facades.slice(0, count).map(({ url }) => url),
        limits: { finalEntriesMax: 0 },
        quorumLimits: { patienceMs: 10 },
      })
      return { reader, close: () => quorum.close() }
    },
    async deposit(orderId = noOrder) {
      const data = encodeDepositNative(bed.user.address, orderId)
      const { transactionId, evmHash } = await trigger(depository, data, 1_000n)
      await bed.evm.mine(2)
      const { timestampSeconds, logIndex } = await receiptOf(evmHash)
      const depositor = tronAddress(bed.user.address)
      return { transactionId, onchainIndex: logIndex.toString(), depositor, timestampSeconds }
    },
    async pay({ orderId, amount, recipient: to }) {
      const contract = { kind: 'transfer', to: evmAddressOf(to), amount } as const
      const { transactionId } = await bed.ledger.submit(bed.other, contract, orderId)
      await bed.evm.mine(2)
      return transactionId
    },
    withdraw: async () => paidOut(requestOf()),
    lie(seed) {
      if (seed === undefined) return void facades[0]?.set({ kind: 'none' })
      const rewrite = (_path: string, body: unknown) =>
        JSON.parse(mutateAnswers(JSON.stringify({ result: body }), seed)).result
      facades[0]?.set({ kind: 'lie', rewrite })
    },
    fail: () => facades[0]?.set({ kind: 'html' }),
  }
}

let nonce = 0n

function requestOf(call: Partial<WithdrawalCall> = {}, expiration = 4_000_000_000n): EvmWithdrawal {
  nonce += 1n
  const payment = { to: recipient.bytes, data: '0x', value: 5n, allowFailure: false, ...call } as const
  return { calls: [payment], nonce, expiration }
}

/** Has the allocator sign the request and runs it. @returns the transaction id */
async function execute(request: EvmWithdrawal): Promise<string> {
  const data = await executeCallData({
    chainId: bed.evm.chain.chainId,
    depository,
    request,
    allocator: privateKeyToAccount(bed.evm.network.keys.allocator.privateKey),
  })
  return (await trigger(depository, data)).transactionId
}

function seen(
  request: EvmWithdrawal,
  status: WithdrawalStatus,
  change: Partial<SeenWithdrawal> = {},
): SeenWithdrawal {
  return {
    withdrawal: encodeEvmWithdrawal(request),
    withdrawalId: evmWithdrawalId(request),
    status,
    currency: trx,
    recipient: recipient.base58,
    amount: 5n,
    ...change,
  }
}

async function paidOut(request: EvmWithdrawal, change: Partial<SeenWithdrawal> = {}) {
  const transactionId = await execute(request)
  await bed.evm.mine(2)
  return { ...seen(request, 'executed', { executingTransactionId: transactionId, ...change }), transactionId }
}

depositCases(() => side)

describe('a transaction', () => {
  const ask = async (transactionId: string) =>
    (await oracleOf(side)).post(paths.deposits, { chainId: 'tron', transactionId })
  const young = { status: 400, body: { errorCode: 'TRANSACTION_NOT_FINAL', retryable: true } }

  test('that is not solidified is asked for again', async () => {
    const data = encodeDepositNative(bed.user.address, noOrder)
    const { transactionId } = await trigger(depository, data, 1n)
    expect(await ask(transactionId)).toMatchObject(young)
    await bed.evm.mine(2)
    expect(await ask(transactionId)).toMatchObject({ status: 200 })
  })

  test('with an id that begins with 0x is the same one, under the same key', async () => {
    const { transactionId } = await side.deposit()
    expect(await ask(`0x${transactionId.toUpperCase()}`)).toEqual(await ask(transactionId))
  })

  test('without a deposit has nothing to sign', async () => {
    const transactionId = await side.pay({ amount: 1n, recipient: recipient.base58 })
    expect(await ask(transactionId)).toMatchObject({ status: 200, body: { messages: [] } })
  })

  test('of a token is minted in its currency', async () => {
    const { transactionId } = await trigger(usdc, encodeTransfer(depository, 7n))
    await bed.evm.mine(2)
    expect(await ask(transactionId)).toMatchObject({
      status: 200,
      body: { messages: [{ result: { currency: bed.usdc, amount: '7', depositId: noOrder } }] },
    })
  })
})

settlementCases(() => side)
withdrawalCases(
  () => side,
  [
    ['that nobody executed is pending', async () => seen(requestOf(), 'pending')],
    ['of TRX is burnt under its transaction', async () => paidOut(requestOf())],
    [
      'of a token is burnt under its transaction',
      async () =>
        paidOut(requestOf({ to: usdc, data: encodeTransfer(recipient.bytes, 7n), value: 0n }), {
          currency: bed.usdc,
          amount: 7n,
        }),
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
      'whose transaction is not solidified is pending',
      async () => {
        const request = requestOf()
        return seen(request, 'pending', { transactionId: await execute(request) })
      },
    ],
    [
      'that expired goes back to its owner',
      async () => {
        const { timestamp } = await bed.evm.chain.client.getBlock()
        await bed.evm.mine(4)
        return seen(requestOf({}, timestamp - 1_000n), 'expired')
      },
    ],
  ],
)

test('a withdrawal whose call was allowed to fail and failed is not burnt', async () => {
  const request = requestOf({ value: BigInt(Number.MAX_SAFE_INTEGER), allowFailure: true })
  const change = { amount: BigInt(Number.MAX_SAFE_INTEGER) }
  const { transactionId, ...unnamed } = await paidOut(request, change)
  const { post, issue: tell } = await oracleOf(side)
  issue(side, { issue: tell }, unnamed)
  const answer = await post(paths.withdrawals, withdrawalBody(side, unnamed))
  expect(answer).toMatchObject({ status: 200, body: { message: { result: { status: 1 } } } })
  expect(answer.body).not.toHaveProperty('execution')
  expect(await post(paths.withdrawals, withdrawalBody(side, { ...unnamed, transactionId }))).toMatchObject(
    refused('TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL'),
  )
})

withdrawalFlowCases(
  () => side,
  () => ({
    owner: tronOwner,
    currency: bed.usdc,
    recipient: recipient.base58,
    payload: {
      depository: depository.toLowerCase(),
      currency: usdc.toLowerCase(),
      recipient: recipient.bytes,
      data: '0x',
    },
    hostile: [
      [
        'to an account with a wrong digit',
        { recipient: `${recipient.base58.slice(0, -1)}1` },
        'INVALID_ADDRESS',
      ],
      ['of a currency in hex', { currency: usdc }, 'INVALID_ADDRESS'],
    ],
  }),
)

/** Endpoints that put each question to the node once: nothing moves while answers are changed. */
routeFuzz(async () => {
  const still = { isStill: true }
  const facades = await Promise.all([1, 2, 3].map(() => bed.startFacade(still)))
  onTestFinished(async () => {
    await Promise.all(facades.map((facade) => facade.stop()))
  })
  return createSide(facades)
})
