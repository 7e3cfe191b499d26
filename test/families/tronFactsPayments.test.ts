// Goal: what a fill or a refund paid on Tron is what its transaction proves. Method: the fill contract, tokens
// and plain transfers of TRX behind the stand-in; the reader asked as the rules ask it.
// @source rules P-40, P-41, P-42, P-43, F-126
import { encodeFillExtraData, type Hex, type PaymentQuestion } from '@causeway/core'
import { tronAddress } from '@causeway/core/encodings'
import { encodeTransfer } from '@causeway/families/rules'
import { multicall3Abi, randomWord, testFill, tokenAbi } from '@causeway/localnet'
import type { Submitted, SubmittedContract } from '@causeway/localnet/standIns/tron'
import { concatHex, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  accountOf,
  aSignal,
  type ReaderSettings,
  readerOf,
  startTronBed,
  type TronBed,
  trx,
} from './tronSupport/tronBed.ts'

/** Recorded once, so each test has an order of its own. */
let orderId: Hex
beforeEach(() => {
  orderId = randomWord()
})
const recipient = accountOf('21')
const other = accountOf('22')

type Fill = {
  readonly native?: readonly { readonly to: Hex; readonly amount: bigint }[]
  readonly erc20?: readonly { readonly token: Hex; readonly to: Hex; readonly amount: bigint }[]
  readonly value?: bigint
  readonly behind?: Hex
  readonly memo?: Hex
}

let bed: TronBed

beforeAll(async () => {
  bed = await startTronBed()
})
afterAll(() => bed?.stop())

function fill({ native = [], erc20 = [], value = 0n, behind = orderId, memo }: Fill): Promise<Submitted> {
  const contract: SubmittedContract = {
    kind: 'trigger',
    to: bed.evm.deployment.fillContract,
    data: testFill({ id: orderId, orderId: behind, natives: native, tokens: erc20 }),
    callValue: value,
  }
  return bed.ledger.submit(bed.evm.network.keys.fillWallet, contract, memo)
}

function transfer(to: Hex, amount: bigint, memo?: Hex): Promise<Submitted> {
  return bed.ledger.submit(bed.user, { kind: 'transfer', to, amount }, memo)
}

async function paid(
  { transactionId }: { readonly transactionId: string },
  question: Partial<PaymentQuestion> = {},
  settings: ReaderSettings = {},
) {
  await bed.evm.mine(2)
  const extraData = encodeFillExtraData(bed.evm.deployment.fillContract)
  const payments = [{ recipient: recipient.base58, currency: trx }]
  const asked = { transactionId, orderId, extraData, payments, ...question }
  return readerOf(bed, settings).reader.readPayment(asked, aSignal())
}

async function amount(...args: Parameters<typeof paid>): Promise<bigint | undefined> {
  const { transfers } = await paid(...args)
  expect(transfers).toHaveLength(1)
  return transfers[0]?.amount
}

describe('TRX', () => {
  test('direct native transfer by value, with the order id in its memo', async () => {
    const facts = await paid(await transfer(recipient.bytes, 5n, orderId))
    expect(facts).toMatchObject({
      referencesOrder: true,
      transfers: [{ recipient: recipient.base58, currency: trx, amount: 5n }],
    })
    expect(facts.calls).toBeUndefined()
  })

  test('direct native transfer by the value of a call', async () => {
    const call = { kind: 'trigger', to: recipient.bytes, data: orderId, callValue: 6n } as const
    const facts = await paid(await bed.ledger.submit(bed.user, call))
    expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 6n }] })
  })

  test('sent to somebody else pays nothing', async () => {
    expect(await amount(await transfer(other.bytes, 5n, orderId))).toBe(0n)
  })

  test('F-126: is not what a TRC-10 token is, whose transfer has the same members', async () => {
    const token = { kind: 'transferAsset', to: recipient.bytes, amount: 1_000_000n } as const
    const facts = await paid(await bed.ledger.submit(bed.user, token, orderId))
    expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 0n }] })
  })

  test('P-41: by the record of the fill contract is the sum of what it pays', async () => {
    const native = [
      { to: recipient.bytes, amount: 5n },
      { to: recipient.bytes, amount: 2n },
    ]
    const facts = await paid(await fill({ native, value: 7n }))
    expect(facts).toMatchObject({ recordId: orderId, transfers: [{ amount: 7n }] })
  })

  test('P-41: by a record that pays others as well proves nothing', async () => {
    const native = [
      { to: recipient.bytes, amount: 5n },
      { to: other.bytes, amount: 9n },
    ]
    const facts = await paid(await fill({ native, value: 14n }))
    expect(facts).toMatchObject({ recordProblem: 'other_payments', transfers: [{ amount: 0n }] })
  })

  test('by another contract than the one that extra data names does not count', async () => {
    const sent = await fill({ native: [{ to: recipient.bytes, amount: 5n }], value: 5n })
    expect(await amount(sent, { extraData: encodeFillExtraData(other.bytes) })).toBe(0n)
    expect(await amount(sent, { extraData: '0x' })).toBe(0n)
  })

  test('P-20: by a fill contract that no list names is told with its name', async () => {
    const sent = await fill({ native: [{ to: recipient.bytes, amount: 5n }], value: 5n })
    const unlistedFillContract = tronAddress(bed.evm.deployment.fillContract)
    expect(await paid(sent, {}, { fillContracts: [] })).toMatchObject({
      unlistedFillContract,
      transfers: [{ amount: 0n }],
    })
    expect(await paid(sent)).not.toHaveProperty('unlistedFillContract')
    const elsewhere = { extraData: encodeFillExtraData(other.bytes) }
    expect(await paid(sent, elsewhere)).not.toHaveProperty('unlistedFillContract')
  })

  test('P-43: moved inside by a listed contract without events pays nobody', async () => {
    const { multicall3 } = bed.evm.deployment
    const calls = [{ target: recipient.bytes, allowFailure: false, value: 6n, callData: '0x' }] as const
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args: [calls] })
    const call = { kind: 'trigger', to: multicall3, callValue: 6n } as const
    const sent = await bed.ledger.submit(bed.user, { ...call, data: concatHex([data, orderId]) })
    const chosen = { extraData: encodeFillExtraData(multicall3) }
    expect(await amount(sent, chosen, { fillContracts: [tronAddress(multicall3)] })).toBe(0n)
  })
})

describe('tokens', () => {
  const inUsdc = () => ({ payments: [{ recipient: recipient.base58, currency: bed.usdc }] })

  test('count by their Transfer events to the recipient', async () => {
    const usdc = bed.evm.deployment.tokens.USDC
    const call = {
      kind: 'trigger',
      to: usdc,
      data: concatHex([encodeTransfer(recipient.bytes, 8n), orderId]),
    } as const
    const facts = await paid(await bed.ledger.submit(bed.user, call), inUsdc())
    expect(facts.transfers).toMatchObject([{ recipient: recipient.base58, currency: bed.usdc, amount: 8n }])
  })

  test('that reached somebody else, or of another contract, pay nothing', async () => {
    const usdc = bed.evm.deployment.tokens.USDC
    const call = {
      kind: 'trigger',
      to: usdc,
      data: concatHex([encodeTransfer(other.bytes, 8n), orderId]),
    } as const
    const sent = await bed.ledger.submit(bed.user, call)
    expect(await amount(sent, inUsdc())).toBe(0n)
    const weth = tronAddress(bed.evm.deployment.wrappedNative)
    expect(await amount(sent, { payments: [{ recipient: other.base58, currency: weth }] })).toBe(0n)
    expect(await amount(sent, { payments: [{ recipient: other.base58, currency: trx }] })).toBe(0n)
  })
})

describe('nothing is paid by', () => {
  test('the recipient himself, directly or through the fill contract', async () => {
    const own = { payments: [{ recipient: tronAddress(bed.user.address), currency: trx }] }
    const native = [{ to: bed.user.address, amount: 5n }]
    const to = bed.evm.deployment.fillContract
    const call = { kind: 'trigger', to, data: testFill({ orderId, natives: native }), callValue: 5n } as const
    const sent = await bed.ledger.submit(bed.user, call)
    expect(await amount(sent, own)).toBe(0n)
  })

  test('P-43: a stranger whose tokens somebody else moves, unless the chain file lists both', async () => {
    const { tokens, multicall3 } = bed.evm.deployment
    const [spend, args] = ['approve', [multicall3, 900n]] as const
    await bed.ledger.submit(bed.user, {
      kind: 'trigger',
      to: tokens.USDC,
      data: encodeFunctionData({ abi: tokenAbi, functionName: spend, args }),
    })
    const callData = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transferFrom',
      args: [bed.user.address, recipient.bytes, 900n],
    })
    const calls = [{ target: tokens.USDC, allowFailure: false, value: 0n, callData }]
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args: [calls] })
    const call = { kind: 'trigger', to: multicall3, data: concatHex([data, orderId]) } as const
    const sent = await bed.ledger.submit(bed.evm.network.keys.fillWallet, call)
    const asked = { payments: [{ recipient: recipient.base58, currency: bed.usdc }] }
    expect((await paid(sent, asked)).transfers).toMatchObject([{ amount: 0n, fromOthers: 900n }])
    const user = tronAddress(bed.user.address)
    expect(await amount(sent, asked, { fillPayers: [user] })).toBe(0n)
    const wallet = tronAddress(bed.evm.network.keys.fillWallet.address)
    expect(await amount(sent, asked, { fillPayers: [user, wallet] })).toBe(900n)
  })
})

test('P-41: TRX that the fill contract paid to a contract is paid, whatever becomes of it', async () => {
  const { wrappedNative } = bed.evm.deployment
  const sent = await fill({ native: [{ to: wrappedNative, amount: 5n }], value: 5n })
  const asked = { payments: [{ recipient: tronAddress(wrappedNative), currency: trx }] }
  expect(await amount(sent, asked)).toBe(5n)
})

describe('the order id', () => {
  const cases: readonly (readonly [string, () => Fill, boolean])[] = [
    ['at the end of the calldata', () => ({}), true],
    ['via memo', () => ({ behind: '0x', memo: orderId }), true],
    [
      'at the end of a longer memo',
      () => ({ behind: '0x', memo: concatHex(['0x6f726465722020', orderId]) }),
      true,
    ],
    [
      'in the memo, where the calldata ends with another',
      () => ({ behind: `0x${'0e'.repeat(32)}`, memo: orderId }),
      false,
    ],
    ['in the calldata, where the memo ends with another', () => ({ memo: `0x${'0e'.repeat(32)}` }), false],
    ['in neither', () => ({ behind: '0x' }), false],
    ['in front of something else in the calldata', () => ({ behind: concatHex([orderId, '0x00']) }), false],
    [
      'in front of something else in the memo',
      () => ({ behind: '0x', memo: concatHex([orderId, '0x00']) }),
      false,
    ],
    ['without its first digit in the memo', () => ({ behind: '0x', memo: `0x${orderId.slice(4)}` }), false],
    ['of another order', () => ({ behind: `0x${'0e'.repeat(32)}`, memo: `0x${'0f'.repeat(32)}` }), false],
    [
      'spelled as text in the memo',
      () => ({ behind: '0x', memo: `0x${Buffer.from(orderId).toString('hex')}` }),
      false,
    ],
  ]
  test.each(cases)('%s', async (_name, asked, expected) => {
    expect((await paid(await fill(asked()))).referencesOrder).toBe(expected)
  })

  test('in upper case is the same', async () => {
    const facts = await paid(await fill({}), { orderId: `0x${orderId.slice(2).toUpperCase()}` })
    expect(facts.referencesOrder).toBe(true)
  })
})

test('the time of a payment is that of its block in whole seconds', async () => {
  const sent = await transfer(recipient.bytes, 1n, orderId)
  const facts = await paid(sent)
  const receipt = Object(await bed.evm.node('eth_getTransactionReceipt', [sent.evmHash]))
  const block = Object(await bed.evm.node('eth_getBlockByNumber', [receipt.blockNumber, false]))
  expect(facts.blockTimestampSeconds).toBe(BigInt(block.timestamp))
})

test('one payment asked for twice is one sum', async () => {
  const payment = { recipient: recipient.base58, currency: trx }
  const { transfers } = await paid(await transfer(recipient.bytes, 3n, orderId), {
    payments: [payment, payment],
  })
  expect(transfers).toEqual([{ ...payment, amount: 3n }])
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

test('a payment that reverted is refused', async () => {
  const sent = await fill({ native: [{ to: recipient.bytes, amount: 5n }], value: 0n })
  await expect(paid(sent)).rejects.toMatchObject({ code: 'TRANSACTION_REVERTED' })
})
