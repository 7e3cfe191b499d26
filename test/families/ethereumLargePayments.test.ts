// Goal: a payment that was made is attested however much the recipient's code writes about it. Attackers: a recipient that
// writes 6,000 logs, or a receipt that is longer than any answer is heard out; a stranger who floods the block; an endpoint
// that hides the record. Method: the real fill contract on a real node.
import { encodeFillExtraData, type Hex, type PaymentQuestion } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import { type LocalAccount, multicall3Abi, randomWord, testFill } from '@causeway/localnet'
import { concatHex, encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  aSignal,
  type ChainBed,
  proxiesOf,
  type ReaderSettings,
  readerOf,
  startChainBed,
} from './ethereumSupport/chainBed.ts'

const native: Hex = `0x${'00'.repeat(20)}`
const recipient: Hex = `0x${'2c'.repeat(20)}`
/** PUSH2 6000, then LOG0 as often: JUMPDEST PUSH0 PUSH0 LOG0 PUSH1 1 SWAP1 SUB DUP1 PUSH1 3 JUMPI. */
const manyLogsCode: Hex = '0x6117705b5f5fa06001900380600357'
const few: ReaderSettings = { limits: { logsMax: 1 } }

let bed: ChainBed
let solver: LocalAccount
let usdc: Hex
let fillContract: Hex
beforeAll(async () => {
  bed = await startChainBed()
  solver = bed.network.keys.fillWallet
  ;({ fillContract } = bed.deployment)
  usdc = bed.deployment.tokens.USDC
  await bed.node('anvil_setCode', [recipient, manyLogsCode])
})
afterAll(() => bed?.stop())

type Fill = Omit<Parameters<typeof testFill>[0], 'orderId'>

async function filled(given: Fill, question: Partial<PaymentQuestion> = {}, settings: ReaderSettings = {}) {
  const orderId = randomWord()
  const value = (given.natives ?? []).reduce((sum, { amount }) => sum + amount, 0n)
  const sent = await bed.send(solver, fillContract, testFill({ orderId, ...given }), value)
  return read(sent.transactionId, { orderId, ...question }, settings)
}

async function read(
  transactionId: Hex,
  question: Partial<PaymentQuestion> & Pick<PaymentQuestion, 'orderId'>,
  settings: ReaderSettings = {},
) {
  await bed.mine(2)
  const extraData = encodeFillExtraData(fillContract)
  const payments = [{ recipient, currency: native }]
  return readerOf(bed, settings).reader.readPayment(
    { transactionId, extraData, payments, ...question },
    aSignal(),
  )
}
const inCoin = { natives: [{ to: recipient, amount: 700n }] }
const paid = { referencesOrder: true, transfers: [{ recipient, currency: native, amount: 700n }] }

test('P-49: a record whose recipient writes 6,000 logs counts in full', async () => {
  expect(await filled(inCoin)).toMatchObject(paid)
})

test('P-49: a record whose receipt is longer than any answer is heard out counts in full', async () => {
  const [proxy] = await proxiesOf(bed, 1)
  await proxy?.set({
    kind: 'lie',
    rewrite: (call, result) =>
      call.method === 'eth_getTransactionReceipt'
        ? { ...Object(result), padding: 'x'.repeat(9 * 1_024 * 1_024) }
        : result,
  })
  expect(await filled(inCoin, {}, { urls: [proxy?.url ?? ''] })).toMatchObject(paid)
})

test('P-49: a record in tokens counts by the transfers of its sender to the payee', async () => {
  const payments = [
    { recipient, currency: usdc },
    { recipient, currency: native },
  ]
  const tokens = [{ token: usdc, to: recipient, amount: 55n }]
  expect(await filled({ ...inCoin, tokens }, { payments }, few)).toMatchObject({
    transfers: [
      { recipient, currency: usdc, amount: 55n },
      { recipient, currency: native, amount: 700n },
    ],
  })
})

test('P-49: a plain transfer of a token counts', async () => {
  const orderId = randomWord()
  const { transactionId } = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 9n), orderId]))
  const payments = [{ recipient, currency: usdc }]
  const none: ReaderSettings = { limits: { logsMax: 0 } }
  expect(await read(transactionId, { orderId, payments }, none)).toMatchObject({
    transfers: [{ amount: 9n }],
  })
})

test('P-49: what neither proves is refused for its size, and not for good', async () => {
  const orderId = randomWord()
  const pull = encodeFunctionData({
    abi: parseAbi(['function transferFrom(address from, address to, uint256 amount)']),
    functionName: 'transferFrom',
    args: [solver.address, recipient, 5n],
  })
  await bed.send(
    solver,
    usdc,
    encodeFunctionData({
      abi: parseAbi(['function approve(address spender, uint256 amount)']),
      functionName: 'approve',
      args: [bed.deployment.multicall3, 100n],
    }),
  )
  const calls = [1, 2].map(() => ({ target: usdc, callData: pull }))
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate', args: [calls] })
  const { transactionId } = await bed.send(solver, bed.deployment.multicall3, concatHex([data, orderId]))
  const payments = [{ recipient, currency: usdc }]
  await expect(read(transactionId, { orderId, payments }, few)).rejects.toMatchObject({
    code: 'PAYMENT_TOO_LARGE',
    kind: 'upstream_unavailable',
  })
})

test('P-49: a record of another order in a large transaction proves nothing', async () => {
  expect(await filled(inCoin, { orderId: randomWord() }, few)).toMatchObject({
    referencesOrder: false,
    recordProblem: 'another_order',
    transfers: [{ amount: 0n }],
  })
})

test.each([
  ['hides the record', () => []],
  ['invents one', (logs: unknown) => [...Object(logs), ...Object(logs)]],
])('P-49: one endpoint of three that %s is outvoted', async (_lie, rewrite) => {
  const proxies = await proxiesOf(bed, 3)
  await proxies[0]?.set({
    kind: 'lie',
    rewrite: (call, result) => (call.method === 'eth_getLogs' ? rewrite(result) : result),
  })
  expect(await filled(inCoin, {}, { ...few, urls: proxies.map(({ url }) => url) })).toMatchObject(paid)
})
