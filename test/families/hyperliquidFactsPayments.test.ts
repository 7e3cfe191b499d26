// Goal: a transfer pays an order only when the hub names that order for the transfer's nonce. Method:
// transactions of the stand-in, found by their id or in the ledger that a hint names, read over HTTP.

import type { PaymentQuestion } from '@causeway/core'
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  account,
  aSignal,
  depository,
  type HyperliquidBed,
  hype,
  native,
  orderId,
  readerOf,
  recipient,
  sendAsset,
  sender,
  startHyperliquidBed,
  timeMs,
  timeSeconds,
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

const hint = (user: string, timestamp = timeMs) => ({ 'hyperliquid-vm': { user, timestamp } })

function read(transactionId: string, change: Partial<PaymentQuestion> = {}) {
  const payments = [native, usdc, hype, `${usdc}78797a`].map((currency) => ({ recipient, currency }))
  return readerOf(bed).readPayment(
    { transactionId, orderId, extraData: '0x', payments, ...change },
    aSignal(),
  )
}

describe('a payment', () => {
  test.each<[string, () => string, string, bigint]>([
    ['by usdSend', () => bed.list(usdSend({ destination: recipient })), native, 1_250_000_000n],
    [
      'of perps USDC by sendAsset',
      () => bed.list(sendAsset({ destination: recipient, sourceDex: '', destinationDex: '' })),
      native,
      1_250_000_000n,
    ],
    ['of spot USDC', () => bed.list(sendAsset({ destination: recipient })), usdc, 1_250_000_000n],
    [
      'of a token of two decimals',
      () => bed.list(sendAsset({ destination: recipient, token: `HYPE:${hype}`, amount: '3.1' })),
      hype,
      310n,
    ],
    [
      'of a custom dex',
      () => bed.list(sendAsset({ destination: recipient, destinationDex: 'xyz' })),
      `${usdc}78797a`,
      1_250_000_000n,
    ],
  ])('%s counts for the order that the hub names', async (_what, list, currency, amount) => {
    bed.map({})
    expect(await read(list())).toMatchObject({
      kind: 'payment',
      blockTimestampSeconds: timeSeconds,
      referencesOrder: true,
      transfers: [{ recipient, currency, amount }],
      evidence: { blockNumber: 700n, finalityRule: 'shown in a block' },
    })
  })

  test('to a recipient in another case is the same one', async () => {
    bed.map({})
    const destination = `0x${'AB'.repeat(20)}`
    const transactionId = bed.list(usdSend({ destination }))
    const payments = [{ recipient: destination, currency: native }]
    expect((await read(transactionId, { payments })).transfers).toEqual([
      { recipient: destination.toLowerCase(), currency: native, amount: 1_250_000_000n },
    ])
  })
})

describe('nothing is paid by', () => {
  test.each<[string, () => string]>([
    ['a transfer to somebody else', () => bed.list(usdSend({ destination: account('99') }))],
    ['an asset sent to somebody else', () => bed.list(sendAsset({ destination: account('99') }))],
    ['an action of another kind', () => bed.list({ type: 'spotSend' })],
    [
      'a token that is not asked for',
      () => bed.list(sendAsset({ destination: recipient, token: `X:0x${'01'.repeat(16)}` })),
    ],
    [
      'a token of the first perps dex that is not USDC',
      () => bed.list(sendAsset({ destination: recipient, destinationDex: '', token: `HYPE:${hype}` })),
    ],
  ])('%s', async (_what, list) => {
    bed.map({})
    expect((await read(list())).transfers).toEqual([])
  })
})

test.each<[string, string, object]>([
  ['a depository, whose payout anybody may name an order for', depository, { fromOthers: 1_250_000_000n }],
  ['the recipient himself', recipient, {}],
])('P-108: what is sent by %s pays nothing', async (_what, user, rest) => {
  bed.map({ user })
  const payments = [{ recipient, currency: native }]
  const transactionId = bed.list(usdSend({ destination: recipient }), { user })
  expect((await read(transactionId, { payments })).transfers).toEqual([
    { recipient, currency: native, amount: 0n, ...rest },
  ])
})

describe('the order is not referenced', () => {
  test.each<[string, Parameters<HyperliquidBed['map']>[0]]>([
    ['by an entry of another order', { data: `0x${'cd'.repeat(32)}` }],
    ['by an entry that came later than an hour', { createdAtSeconds: timeSeconds + 3_601n }],
    ['without an entry', { data: '0x', createdAtSeconds: 0n, readAtSeconds: timeSeconds + 3_601n }],
  ])('%s', async (_what, entry) => {
    bed.map(entry)
    expect(await read(bed.list(usdSend({ destination: recipient })))).toMatchObject({
      referencesOrder: false,
    })
  })

  test('by an action of another kind, whose nonce nobody knows', async () => {
    expect(await read(bed.list({ type: 'order' }))).toMatchObject({ referencesOrder: false, transfers: [] })
  })
})

describe('is refused:', () => {
  test.each<[string, () => string, string]>([
    ['a missing transaction', () => `0x${'99'.repeat(32)}`, 'TRANSACTION_MISSING'],
    [
      'a failed one',
      () => bed.list(usdSend({ destination: recipient }), { error: failure.body }),
      'TRANSACTION_REVERTED',
    ],
    [
      'one whose entry may still come',
      () => bed.list(usdSend({ destination: recipient })),
      'NONCE_MAPPING_MISSING',
    ],
  ])('%s', async (_what, list, code) => {
    await expect(read(list())).rejects.toMatchObject({ code })
  })

  test('a token that is asked for and not listed', async () => {
    bed.map({})
    const currency = `0x${'01'.repeat(16)}`
    const transactionId = bed.list(sendAsset({ destination: recipient, token: `X:${currency}` }))
    await expect(read(transactionId, { payments: [{ recipient, currency }] })).rejects.toMatchObject({
      code: 'CURRENCY_DECIMALS_UNKNOWN',
    })
  })
})

describe('a hint', () => {
  test('finds an asset send in the ledger, and the explorer is not asked', async () => {
    bed.map({})
    const transactionId = bed.list(sendAsset({ destination: recipient }))
    const facts = await read(transactionId, { hints: hint(sender) })
    expect(facts).toMatchObject({
      referencesOrder: true,
      transfers: [{ recipient, currency: usdc, amount: 1_250_000_000n }],
      blockTimestampSeconds: timeSeconds,
    })
    expect(facts.evidence).not.toHaveProperty('blockNumber')
    expect(Object.keys(bed.exchanges[0].counters())).not.toContain('/explorer txDetails')
  })

  test('of the recipient reads the sender that the ledger names', async () => {
    bed.map({})
    const transactionId = bed.list(sendAsset({ destination: recipient }))
    expect(await read(transactionId, { hints: hint(recipient) })).toMatchObject({ referencesOrder: true })
  })

  test.each<[string, () => string, unknown]>([
    ['of another time', () => bed.list(sendAsset({ destination: recipient })), hint(sender, timeMs + 1)],
    ['of another account', () => bed.list(sendAsset({ destination: recipient })), hint(account('99'))],
    [
      'for a usdSend, which ledgers show as another kind',
      () => bed.list(usdSend({ destination: recipient })),
      hint(sender),
    ],
    ['that is none', () => bed.list(sendAsset({ destination: recipient })), { 'hyperliquid-vm': 'soon' }],
    ['for another family', () => bed.list(sendAsset({ destination: recipient })), { 'lighter-vm': {} }],
  ])('F-154: %s changes nothing', async (_what, list, hints) => {
    bed.map({})
    const transactionId = list()
    const hinted = await read(transactionId, { hints: Object(hints) })
    expect(hinted).toEqual(await read(transactionId))
    expect(hinted).toMatchObject({ referencesOrder: true })
  })

  test('does not make a failed transaction a payment', async () => {
    bed.map({})
    const transactionId = bed.list(sendAsset({ destination: recipient }), { error: failure.body })
    await expect(read(transactionId, { hints: hint(sender) })).rejects.toMatchObject({
      code: 'TRANSACTION_REVERTED',
    })
  })

  test('of a symbol that the endpoint lists twice is no answer', async () => {
    bed.map({})
    const transactionId = bed.list(sendAsset({ destination: recipient }))
    bed.ledger.tokens.push({ name: 'USDC', tokenId: `0x${'02'.repeat(16)}`, szDecimals: 8 })
    const refused = read(transactionId, { hints: hint(sender) })
    await expect(refused).rejects.toMatchObject({ kind: 'upstream_unavailable' })
    bed.ledger.tokens.pop()
  })
})
