// Goal: reading Solana facts costs few round trips, and nothing twice. Method: every HTTP request and call is
// counted at a proxy in front of the node.

import type { Hex } from '@causeway/core'
import { encodeSolanaWithdrawal } from '@causeway/families/rules'
import type { FaultProxy } from '@causeway/localnet'
import { depositNative, memo, tokenAccount, transfer } from '@causeway/localnet/standIns/solana'
import { PublicKey, SystemProgram } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  aSignal,
  proxiesOf,
  type ReaderSettings,
  readerOf,
  type SolanaBed,
  startSolanaBed,
} from './solanaSupport/solanaBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
let bed: SolanaBed
let deposit: string
let direct: string
let fill: string
let proxy: FaultProxy

beforeAll(async () => {
  bed = await startSolanaBed()
  const { publicKey: sender } = bed.user
  const { vault } = bed.depository.addresses
  deposit = await bed.send([depositNative(bed.depository, { sender, amount: 7n, id })])
  direct = await bed.send([
    transfer({
      from: tokenAccount(sender, bed.mint),
      to: tokenAccount(new PublicKey(vault), bed.mint),
      authority: sender,
      mint: bed.mint,
      amount: 5n,
    }),
  ])
  const payment = SystemProgram.transfer({ fromPubkey: sender, toPubkey: bed.recipient, lamports: 5 })
  fill = await bed.send([payment, memo(id)])
})
afterAll(() => bed?.stop())
beforeEach(async () => {
  const [only] = await proxiesOf(bed, 1)
  if (only === undefined) throw new Error('no proxy')
  proxy = only
})

const reader = (settings: ReaderSettings = {}) => readerOf(bed, { urls: [proxy.url], ...settings }).reader
const toRecipient = () => ({ recipient: bed.recipient.toBase58(), currency: '1'.repeat(32) })
const payment = (payments = [toRecipient()]) => ({
  transactionId: fill,
  orderId: id,
  extraData: '0x' as const,
  payments,
})
const withdrawal = () =>
  encodeSolanaWithdrawal({
    domain: `0x${'01'.repeat(32)}`,
    recipient: bed.recipient.toBase58(),
    token: undefined,
    amount: 1n,
    nonce: 1n,
    expiration: 2n ** 40n,
    vaultAddress: bed.depository.addresses.vault,
  })

/** HTTP requests and calls since the last look. */
function cost(): { readonly requests: number; readonly calls: number } {
  const { requests, calls } = proxy.counters()
  proxy.resetCounters()
  return { requests, calls }
}

describe('a cold question takes', () => {
  test('two rounds and two calls for a deposit instruction', async () => {
    await reader().readDeposits({ transactionId: deposit }, aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 2 })
  })

  test('no call more for a token transfer into the vault', async () => {
    await reader().readDeposits({ transactionId: direct }, aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 2 })
  })

  test('two rounds for a withdrawal, with and without a named transaction', async () => {
    await reader().readWithdrawal({ withdrawal: withdrawal() }, aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 3 })
    await reader().readWithdrawal({ withdrawal: withdrawal(), transactionId: deposit }, aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 4 })
  })

  test('two rounds and two calls for a fill, however many payments it has', async () => {
    await reader().readPayment(payment(Array.from({ length: 50 }, toRecipient)), aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 2 })
  })

  test('two rounds and four calls for the deposit and the fill of one order, asked together', async () => {
    const shared = reader()
    await Promise.all([
      shared.readDeposits({ transactionId: deposit }, aSignal()),
      shared.readPayment(payment(), aSignal()),
    ])
    expect(cost()).toEqual({ requests: 2, calls: 4 })
  })

  test('no call more where there are several endpoints', async () => {
    const others = await proxiesOf(bed, 2)
    const all = [proxy, ...others]
    const settings = { urls: all.map(({ url }) => url), threshold: 3 }
    await reader(settings).readDeposits({ transactionId: deposit }, aSignal())
    for (const one of all) expect(one.counters()).toMatchObject({ requests: 2, calls: 2 })
  })
})

describe('what is remembered', () => {
  test('a final transaction read again takes no call, whatever is asked of it', async () => {
    const same = reader()
    const first = await same.readPayment(payment(), aSignal())
    cost()
    expect(await same.readPayment(payment(), aSignal())).toEqual(first)
    await same.readDeposits({ transactionId: fill }, aSignal())
    expect(cost()).toEqual({ requests: 0, calls: 0 })
  })

  test('nothing that is missing, failed or not final', async () => {
    const same = reader()
    const missing = `${'2'.repeat(87)}a`
    const failed = await bed.send(
      [depositNative(bed.depository, { sender: bed.user.publicKey, amount: 10n ** 15n, id })],
      { skipPreflight: true },
    )
    bed.node.hold()
    const young = await bed.send([memo('young')])
    for (const transactionId of [missing, failed, young]) {
      await expect(same.readDeposits({ transactionId }, aSignal())).rejects.toThrow()
      cost()
      await expect(same.readDeposits({ transactionId }, aSignal())).rejects.toThrow()
      expect(cost().requests).toBe(2)
    }
    bed.node.finalize()
    expect(await same.readDeposits({ transactionId: young }, aSignal())).toMatchObject({ deposits: [] })
  })

  test('no more than the limit, and nothing after it was told to forget', async () => {
    const small = reader({ limits: { finalEntriesMax: 1 } })
    for (const transactionId of [deposit, direct, deposit]) {
      await small.readDeposits({ transactionId }, aSignal())
      expect(cost().requests).toBe(2)
    }
    await small.readDeposits({ transactionId: deposit }, aSignal())
    expect(cost().requests).toBe(0)
    small.forget()
    await small.readDeposits({ transactionId: deposit }, aSignal())
    expect(cost().requests).toBe(2)
  })
})

describe('identical questions in flight', () => {
  test('a thousand of them make the calls of one', async () => {
    const shared = reader()
    const ask = () => shared.readDeposits({ transactionId: deposit }, aSignal())
    const facts = await Promise.all(Array.from({ length: 1_000 }, ask))
    expect(new Set(facts.map(({ deposits }) => deposits[0]?.amount))).toEqual(new Set([7n]))
    expect(cost()).toEqual({ requests: 2, calls: 2 })
  })

  test('one that gives up does not stop the others', async () => {
    const shared = reader()
    const impatient = new AbortController()
    const refused = shared.readDeposits({ transactionId: deposit }, { signal: impatient.signal })
    const answered = shared.readDeposits({ transactionId: deposit }, aSignal())
    impatient.abort()
    await expect(refused).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT', kind: 'upstream_unavailable' })
    await expect(answered).resolves.toMatchObject({ kind: 'deposits' })
  })
})
