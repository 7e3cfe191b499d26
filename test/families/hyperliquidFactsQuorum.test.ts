// Goal: endpoints of the exchange are counted, and reading costs few requests. Method: three stand-ins of one
// exchange that see it differently; requests counted at them.

import { encodeHyperliquidWithdrawal } from '@causeway/families/rules'
import type { HttpFault } from '@causeway/localnet/standIns/http'
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  aSignal,
  depository,
  type HyperliquidBed,
  hype,
  orderId,
  otherDepository,
  type ReaderSettings,
  readerOf,
  recipient,
  sendAsset,
  sender,
  startHyperliquidBed,
  timeMs,
  usdc,
  usdSend,
} from './hyperliquidSupport/hyperliquidBed.ts'

let bed: HyperliquidBed
beforeAll(async () => {
  bed = await startHyperliquidBed()
})
afterAll(() => bed?.stop())
beforeEach(() => {
  bed.reset()
  bed.map({})
})

const withdrawal = sendAsset({ destination: recipient, nonce: 9n })
const withdrawalQuestion = { withdrawal: encodeHyperliquidWithdrawal(withdrawal) }
const reader = (settings: ReaderSettings = {}) => readerOf(bed, { count: 3, ...settings })
const unknown: HttpFault = { kind: 'lie', rewrite: () => hyperliquidBodies.missing.body }
const silent: HttpFault = { kind: 'http', status: 500 }

function set(...faults: readonly HttpFault[]): void {
  for (const [index, fault] of faults.entries()) bed.exchanges[index]?.set(fault)
}

test('two that do not know a transaction make it missing, which is read again', async () => {
  set(unknown, unknown)
  const transactionId = bed.list(usdSend())
  const one = reader()
  const read = () => one.readDeposits({ transactionId }, aSignal())
  await expect(read()).rejects.toMatchObject({ code: 'TRANSACTION_MISSING' })
  set({ kind: 'none' }, { kind: 'none' })
  expect(await read()).toMatchObject({ deposits: [{ amount: 1_250_000_000n }] })
})

describe('a withdrawal', () => {
  test.each<[string, readonly HttpFault[]]>([
    ['one does not show it', [{ kind: 'lie', rewrite: withoutTransactions }]],
    ['one is silent', [silent]],
  ])('is executed when %s', async (_what, faults) => {
    const hash = bed.list(withdrawal, { user: depository })
    set(...faults)
    expect(await reader().readWithdrawal(withdrawalQuestion, aSignal())).toMatchObject({
      status: 'executed',
      executingTransactionId: hash,
      evidence: { agreeingEndpoints: ['h2', 'h3'] },
    })
  })

  test('is not executed because one says so', async () => {
    const hash = bed.list({ type: 'order' }, { user: depository })
    const action = { ...withdrawal, type: 'sendAsset', nonce: 9 }
    const tx = { action, hash, user: depository, time: timeMs, block: 700, error: null }
    const rewrite = (_path: string, body: unknown) =>
      'txs' in Object(body) ? { type: 'userDetails', txs: [tx] } : body
    set({ kind: 'lie', rewrite })
    expect(await reader().readWithdrawal(withdrawalQuestion, aSignal())).toMatchObject({ status: 'pending' })
  })

  test('has not expired because one says that it failed', async () => {
    const transactionId = bed.list(withdrawal, { user: depository })
    bed.ledger.recentMax = 0
    const rewrite = (_path: string, body: unknown) =>
      'tx' in Object(body) ? { type: 'txDetails', tx: { ...Object(body).tx, error: 'failed' } } : body
    set({ kind: 'lie', rewrite })
    const question = { ...withdrawalQuestion, transactionId }
    expect(await reader().readWithdrawal(question, aSignal())).toMatchObject({ status: 'executed' })
  })
})

function withoutTransactions(_path: string, body: unknown): unknown {
  return 'txs' in Object(body) ? { type: 'userDetails', txs: [] } : body
}

describe('to one endpoint', () => {
  const counted = (...kinds: readonly (readonly [string, number])[]) => Object.fromEntries(kinds)

  test('a deposit in USDC costs one request, one in another token two, and both nothing again', async () => {
    const one = reader({ count: 1 })
    const native = { transactionId: bed.list(usdSend()) }
    const token = { transactionId: bed.list(sendAsset({ token: `HYPE:${hype}` })) }
    await one.readDeposits(native, aSignal())
    expect(bed.exchanges[0].counters()).toEqual(counted(['/explorer txDetails', 1]))
    for (const question of [token, token, native]) await one.readDeposits(question, aSignal())
    expect(bed.exchanges[0].counters()).toEqual(counted(['/explorer txDetails', 2], ['/info spotMeta', 1]))
  })

  test('a hinted payment does not cost the explorer a question', async () => {
    const transactionId = bed.list(sendAsset({ destination: recipient }))
    const payments = [{ recipient, currency: usdc }]
    const hints = { 'hyperliquid-vm': { user: sender, timestamp: timeMs } }
    await reader({ count: 1 }).readPayment(
      { transactionId, orderId, extraData: '0x', payments, hints },
      aSignal(),
    )
    const ledger = ['/info userNonFundingLedgerUpdates', 1] as const
    expect(bed.exchanges[0].counters()).toEqual(counted(ledger, ['/info spotMeta', 2]))
  })

  test('a withdrawal costs one request for each depository, and one more for a name that is needed', async () => {
    const question = { withdrawal: encodeHyperliquidWithdrawal(usdSend({ destination: recipient })) }
    const one = reader({ count: 1 })
    await one.readWithdrawal(question, aSignal())
    expect(bed.exchanges[0].counters()).toEqual(counted(['/explorer userDetails', 2]))
    bed.exchanges[0].resetCounters()
    await one.readWithdrawal({ ...question, transactionId: bed.list({ type: 'order' }) }, aSignal())
    const recent = ['/explorer userDetails', 2] as const
    expect(bed.exchanges[0].counters()).toEqual(counted(recent, ['/explorer txDetails', 1]))
  })

  test('a name is not asked for when a recent transaction executed the withdrawal', async () => {
    const sent = usdSend({ destination: recipient })
    const transactionId = bed.list(sent, { user: otherDepository })
    const question = { withdrawal: encodeHyperliquidWithdrawal(sent), transactionId }
    await reader({ count: 1 }).readWithdrawal(question, aSignal())
    expect(bed.exchanges[0].counters()).toEqual(counted(['/explorer userDetails', 2]))
  })
})
