// Goal: a withdrawal is executed only by an action of a depository that has its very hash, and never expires by
// age. Method: transactions of the stand-in in recent lists and behind ids, read over HTTP.

import {
  encodeHyperliquidWithdrawal,
  type HyperliquidWithdrawal,
  hyperliquidWithdrawalId,
} from '@causeway/families/rules'
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  account,
  aSignal,
  depository,
  type HyperliquidBed,
  hype,
  native,
  otherDepository,
  readerOf,
  recipient,
  sendAsset,
  sender,
  startHyperliquidBed,
  usdc,
  usdSend,
} from './hyperliquidSupport/hyperliquidBed.ts'

const { failure } = hyperliquidBodies

let bed: HyperliquidBed
beforeAll(async () => {
  bed = await startHyperliquidBed()
})
afterAll(() => bed?.stop())
beforeEach(() => bed.reset())

const toRecipient = sendAsset({ destination: recipient })
const unlisted = `0x${'99'.repeat(32)}`

function read(withdrawal: HyperliquidWithdrawal, transactionId?: string) {
  const question = { withdrawal: encodeHyperliquidWithdrawal(withdrawal) }
  const named = transactionId === undefined ? {} : { transactionId }
  return readerOf(bed).readWithdrawal({ ...question, ...named }, aSignal())
}

/** Later transactions push it out of the recent list. */
function listOld(...listed: Parameters<HyperliquidBed['list']>): string {
  const hash = bed.list(...listed)
  bed.ledger.recentMax = 1
  bed.list({ type: 'order' }, { user: depository })
  bed.list({ type: 'order' }, { user: otherDepository })
  return hash
}

describe('a withdrawal', () => {
  test('that no transaction carries is pending', async () => {
    expect(await read(toRecipient)).toEqual({
      kind: 'withdrawal',
      status: 'pending',
      depository,
      withdrawalId: hyperliquidWithdrawalId(toRecipient),
      recipient,
      currency: usdc,
      amount: 1_250_000_000n,
      evidence: { chainId: 'hyperliquid', finalityRule: 'shown in a block', agreeingEndpoints: ['h1'] },
    })
  })

  test('in the recent list is executed by what carries it, named or not', async () => {
    const transactionId = bed.list(toRecipient, { user: depository })
    const executed = { status: 'executed', executingTransactionId: transactionId, depository }
    expect(await read(toRecipient)).toMatchObject({ ...executed, evidence: { blockNumber: 700n } })
    expect(await read(toRecipient, transactionId)).toMatchObject(executed)
  })

  test('in the recent list is not executed by another transaction that is named', async () => {
    const transactionId = bed.list(toRecipient, { user: depository })
    const other = bed.list(usdSend({ destination: recipient }), { user: depository })
    expect(await read(toRecipient, other)).toMatchObject({ executingTransactionId: transactionId })
  })

  test('of an additional depository is executed by that one', async () => {
    bed.list(toRecipient, { user: otherDepository })
    expect(await read(toRecipient)).toMatchObject({ status: 'executed', depository: otherDepository })
  })

  test('by usdSend is executed, and native', async () => {
    const withdrawal = usdSend({ destination: recipient, amount: '1.00000000' })
    bed.list(withdrawal, { user: depository })
    expect(await read(withdrawal)).toMatchObject({
      status: 'executed',
      currency: native,
      amount: 100_000_000n,
      recipient,
    })
  })

  test('that left the recent list is executed by its id alone', async () => {
    const transactionId = listOld(toRecipient, { user: depository })
    expect(await read(toRecipient)).toMatchObject({ status: 'pending' })
    const executed = { status: 'executed', executingTransactionId: transactionId }
    expect(await read(toRecipient, transactionId)).toMatchObject(executed)
  })

  test.each([
    ['just now', 0],
    ['two days ago', 48 * 3_600_000],
  ])('that failed and is named is pending while its nonce, of %s, may be sent again', async (_age, ageMs) => {
    const action = sendAsset({ destination: recipient, nonce: BigInt(Date.now() - ageMs) })
    const failed = bed.list(action, { user: depository, error: failure.body })
    expect(await read(action, failed)).toMatchObject({
      status: 'pending',
      pendingReason: 'ACTION_CAN_BE_SENT_AGAIN',
    })
    // It is what the warning says: the same signed action, sent again, pays.
    const again = bed.list(action, { user: depository })
    expect(await read(action, failed)).toMatchObject({ status: 'executed', executingTransactionId: again })
  })

  test('that failed and is named has expired once its nonce is too old to be sent again', async () => {
    const failed = bed.list(toRecipient, { user: depository, error: failure.body })
    const facts = await read(toRecipient, failed)
    expect(facts).toMatchObject({ status: 'expired', depository })
    expect(facts).not.toHaveProperty('executingTransactionId')
  })

  test('F-155: that failed and is not named is pending', async () => {
    bed.list(toRecipient, { user: depository, error: failure.body })
    expect(await read(toRecipient)).toMatchObject({ status: 'pending' })
  })

  test('F-155: that failed once and succeeded is executed, whichever is named', async () => {
    const failed = bed.list(toRecipient, { user: depository, error: failure.body })
    const transactionId = bed.list(toRecipient, { user: depository })
    const executed = { status: 'executed', executingTransactionId: transactionId }
    expect(await read(toRecipient, failed)).toMatchObject(executed)
  })

  test('stays pending long after its nonce could be used', async () => {
    expect(await read(sendAsset({ destination: recipient, nonce: 1n }))).toMatchObject({ status: 'pending' })
  })

  test('whose named transaction does not exist is refused as missing', async () => {
    await expect(read(toRecipient, unlisted)).rejects.toMatchObject({ code: 'TRANSACTION_MISSING' })
  })
})

describe('is pending when the only transaction', () => {
  test.each<[string, () => string]>([
    ['is of somebody else', () => bed.list(toRecipient, { user: sender })],
    ['is of the recipient', () => bed.list(toRecipient, { user: recipient })],
    ['pays another account', () => bed.list(sendAsset({ destination: account('99') }), { user: depository })],
    ['has another nonce', () => bed.list({ ...toRecipient, nonce: 1n }, { user: depository })],
    ['has another amount', () => bed.list({ ...toRecipient, amount: '12.50' }, { user: depository })],
    [
      'is of another network',
      () => bed.list({ ...toRecipient, hyperliquidChain: 'Testnet' }, { user: depository }),
    ],
    ['leaves another dex', () => bed.list({ ...toRecipient, sourceDex: '' }, { user: depository })],
    ['moves another token', () => bed.list({ ...toRecipient, token: `HYPE:${hype}` }, { user: depository })],
    ['is a send of USDC', () => bed.list(usdSend({ destination: recipient }), { user: depository })],
    ['is no transfer', () => bed.list({ type: 'order' }, { user: depository })],
  ])('%s', async (_what, list) => {
    const transactionId = list()
    for (const named of [undefined, transactionId]) {
      const facts = await read(toRecipient, named)
      expect(facts).toMatchObject({ status: 'pending', depository })
      expect(facts).not.toHaveProperty('executingTransactionId')
    }
  })
})

describe('is refused:', () => {
  test.each<[string, HyperliquidWithdrawal, string]>([
    [
      'a token that the exchange does not list',
      { ...toRecipient, token: `X:0x${'01'.repeat(16)}` },
      'CURRENCY_DECIMALS_UNKNOWN',
    ],
    ['a part of a unit', { ...toRecipient, token: `HYPE:${hype}`, amount: '1.001' }, 'INVALID_WITHDRAWAL'],
    [
      'another token on the first perps dex',
      { ...toRecipient, sourceDex: '', token: `HYPE:${hype}` },
      'INVALID_WITHDRAWAL',
    ],
    ['a destination that is no account', { ...toRecipient, destination: 'somebody' }, 'INVALID_WITHDRAWAL'],
  ])('%s', async (_what, withdrawal, code) => {
    await expect(read(withdrawal)).rejects.toMatchObject({ code })
  })

  test('an id that is none', async () => {
    await expect(read(toRecipient, '0x12')).rejects.toMatchObject({ code: 'INVALID_TRANSACTION_ID' })
  })
})
