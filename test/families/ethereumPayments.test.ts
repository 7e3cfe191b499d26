// Goal: what only `ethereum-vm` networks have proves no more payments: code of the payee, and transactions of a list of calls.
// Method: plain transactions on a real node, and a proxy that shows them in another form.
import { encodeFillExtraData, type Hex } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import { type LocalAccount, randomWord, testFill } from '@causeway/localnet'
import { concatHex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  aSignal,
  type ChainBed,
  proxiesOf,
  type ReaderSettings,
  readerOf,
  startChainBed,
} from './ethereumSupport/chainBed.ts'

const native = `0x${'00'.repeat(20)}`
const recipient: Hex = `0x${'21'.repeat(20)}`

let bed: ChainBed
let solver: LocalAccount
let usdc: Hex
let orderId: Hex
beforeAll(async () => {
  bed = await startChainBed()
  solver = bed.network.keys.fillWallet
  usdc = bed.deployment.tokens.USDC
})
afterAll(() => bed?.stop())
beforeEach(() => {
  orderId = randomWord()
})

async function amountPaid(
  { transactionId }: { readonly transactionId: Hex },
  payment = { recipient: recipient as string, currency: native },
  settings: ReaderSettings = {},
) {
  await bed.mine(2)
  const question = { transactionId, orderId, extraData: '0x', payments: [payment] } as const
  const { transfers } = await readerOf(bed, settings).reader.readPayment(question, aSignal())
  expect(transfers).toHaveLength(1)
  return transfers[0]?.amount
}

test('P-42: a plain transfer of native coin pays no account with code', async () => {
  const account: Hex = `0x${'c0'.repeat(20)}`
  await bed.node('anvil_setCode', [account, '0x00'])
  const sent = await bed.send(solver, account, orderId, 5n)
  expect(await amountPaid(sent, { recipient: account, currency: native })).toBe(0n)
})

test('P-42: a plain transfer of native coin does not count when the order id only ends its calldata', async () => {
  expect(await amountPaid(await bed.send(solver, recipient, concatHex(['0xff', orderId]), 5n))).toBe(0n)
})

test('P-42: a record of a contract that is not known by its code counts as somebody else’s transfer', async () => {
  const { fillContract } = bed.deployment
  const data = testFill({ orderId, natives: [{ to: recipient, amount: 5n }] })
  const sent = await bed.send(solver, fillContract, data, 5n)
  const settings = { recordsPayments: () => false }
  await bed.mine(2)
  const facts = await readerOf(bed, settings).reader.readPayment(
    {
      transactionId: sent.transactionId,
      orderId,
      extraData: encodeFillExtraData(fillContract),
      payments: [{ recipient, currency: native }],
    },
    aSignal(),
  )
  expect(facts).toMatchObject({ transfers: [{ amount: 5n }] })
  expect(facts.recordId).toBeUndefined()
})

test('addresses are compared without regard to their spelling', async () => {
  const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
  expect(await amountPaid(sent, { recipient, currency: `0x${usdc.slice(2).toUpperCase()}` })).toBe(50n)
})

test('a chain whose transactions list calls in place of an input is read by the first call', async () => {
  const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, 50n), orderId]))
  const [proxy] = await proxiesOf(bed, 1)
  await proxy?.set({
    kind: 'lie',
    rewrite({ method }, result) {
      if (method !== 'eth_getTransactionByHash') return result
      const { input, ...rest } = Object(result)
      const calls = [
        { to: usdc, value: '0x0', input },
        { to: usdc, input: '0x' },
      ]
      return { ...rest, calls }
    },
  })
  const urls = [proxy?.url ?? '']
  expect(await amountPaid(sent, { recipient, currency: usdc }, { urls })).toBe(50n)
})
