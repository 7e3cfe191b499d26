// Goal: what only Tron has proves no more payments: memos that name orders, TRX sent without a call, and TRC-10 tokens.
// Method: the fill contract, tokens and plain transfers behind the stand-in; the reader asked as the rules ask it.
// @source rules P-40 and F-126
import { encodeFillExtraData, type Hex, type PaymentQuestion } from '@causeway/core'
import { randomWord, testFill } from '@causeway/localnet'
import type { Submitted } from '@causeway/localnet/standIns/tron'
import { concatHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accountOf, aSignal, readerOf, startTronBed, type TronBed, trx } from './tronSupport/tronBed.ts'

/** Recorded once, so each test has an order of its own. */
let orderId: Hex
beforeEach(() => {
  orderId = randomWord()
})
const recipient = accountOf('21')
const other = accountOf('22')

let bed: TronBed
beforeAll(async () => {
  bed = await startTronBed()
})
afterAll(() => bed?.stop())

const transfer = (to: Hex, amount: bigint): Promise<Submitted> =>
  bed.ledger.submit(bed.user, { kind: 'transfer', to, amount }, orderId)

async function paid({ transactionId }: Submitted, question: Partial<PaymentQuestion> = {}) {
  await bed.evm.mine(2)
  const extraData = encodeFillExtraData(bed.evm.deployment.fillContract)
  const payments = [{ recipient: recipient.base58, currency: trx }]
  const asked = { transactionId, orderId, extraData, payments, ...question }
  return readerOf(bed).reader.readPayment(asked, aSignal())
}

describe('TRX', () => {
  test('sent without a call pays where its memo is the order id', async () => {
    const facts = await paid(await transfer(recipient.bytes, 5n))
    expect(facts).toMatchObject({
      referencesOrder: true,
      transfers: [{ recipient: recipient.base58, currency: trx, amount: 5n }],
    })
    expect(facts.calls).toBeUndefined()
  })

  test('sent to somebody else pays nothing', async () => {
    expect((await paid(await transfer(other.bytes, 5n))).transfers).toMatchObject([{ amount: 0n }])
  })

  test('F-126: is not what a TRC-10 token is, whose transfer has the same members', async () => {
    const token = { kind: 'transferAsset', to: recipient.bytes, amount: 1_000_000n } as const
    const facts = await paid(await bed.ledger.submit(bed.user, token, orderId))
    expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 0n }] })
  })
})

describe('the order id', () => {
  type Named = { readonly behind?: Hex; readonly memo?: Hex }
  const otherId: Hex = `0x${'0e'.repeat(32)}`
  test.each<[string, () => Named, boolean]>([
    ['at the end of the calldata', () => ({}), true],
    ['via memo', () => ({ behind: '0x', memo: orderId }), true],
    [
      'at the end of a longer memo',
      () => ({ behind: '0x', memo: concatHex(['0x6f726465722020', orderId]) }),
      true,
    ],
    ['in the memo, where the calldata ends with another', () => ({ behind: otherId, memo: orderId }), false],
    ['in the calldata, where the memo ends with another', () => ({ memo: otherId }), false],
    ['in neither', () => ({ behind: '0x' }), false],
    [
      'in front of something else in the memo',
      () => ({ behind: '0x', memo: concatHex([orderId, '0x00']) }),
      false,
    ],
    ['without its first digit in the memo', () => ({ behind: '0x', memo: `0x${orderId.slice(4)}` }), false],
    ['of another order', () => ({ behind: otherId, memo: `0x${'0f'.repeat(32)}` }), false],
    [
      'spelled as text in the memo',
      () => ({ behind: '0x', memo: `0x${Buffer.from(orderId).toString('hex')}` }),
      false,
    ],
  ])('%s', async (_name, named, expected) => {
    const { behind = orderId, memo } = named()
    const data = testFill({ id: orderId, orderId: behind })
    const call = { kind: 'trigger', to: bed.evm.deployment.fillContract, data } as const
    const sent = await bed.ledger.submit(bed.evm.network.keys.fillWallet, call, memo)
    expect((await paid(sent)).referencesOrder).toBe(expected)
  })
})

test.each([
  ['a recipient of ethereum-vm', { recipient: recipient.bytes, currency: trx }],
  ['a currency of ethereum-vm', { recipient: recipient.base58, currency: `0x${'00'.repeat(20)}` }],
  ['a broken checksum', { recipient: `${recipient.base58.slice(0, -1)}1`, currency: trx }],
])('%s is refused before anything is asked', async (_name, payment) => {
  const { reader } = readerOf(bed, { urls: ['http://127.0.0.1:9'] })
  const question = { transactionId: 'ab'.repeat(32), orderId, extraData: '0x', payments: [payment] } as const
  await expect(reader.readPayment(question, aSignal())).rejects.toMatchObject({ kind: 'invalid_request' })
})
