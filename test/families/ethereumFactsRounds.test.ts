// Goal: reading facts costs few round trips, and nothing twice. Method: every HTTP request and call is
// counted at a proxy in front of a real node.

import { encodeFillExtraData, type Hex } from '@causeway/core'
import { encodeDepositNative, encodeEvmWithdrawal, encodeTransfer } from '@causeway/families/rules'
import { type FaultProxy, type LocalAccount, testFill } from '@causeway/localnet'
import { concatHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  aSignal,
  type ChainBed,
  proxiesOf,
  type ReaderSettings,
  readerOf,
  startChainBed,
} from './ethereumSupport/chainBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const recipient: Hex = `0x${'41'.repeat(20)}`
const native = `0x${'00'.repeat(20)}`

let bed: ChainBed
let user: LocalAccount
let nativeDeposit: Hex
let directDeposit: Hex
let fill: Hex
let proxy: FaultProxy

beforeAll(async () => {
  bed = await startChainBed()
  const [first] = bed.network.keys.users
  if (first === undefined) throw new Error('no user')
  user = first
  const { depository, tokens, fillContract } = bed.deployment
  nativeDeposit = (await bed.send(user, depository, encodeDepositNative(user.address, id), 7n)).transactionId
  const direct = concatHex([encodeTransfer(depository, 5n), id])
  directDeposit = (await bed.send(user, tokens.USDC, direct)).transactionId
  const filling = testFill({ orderId: id, natives: [{ to: recipient, amount: 5n }] })
  fill = (await bed.send(bed.network.keys.fillWallet, fillContract, filling, 5n)).transactionId
  await bed.mine(2)
})
afterAll(() => bed?.stop())
beforeEach(async () => {
  const [only] = await proxiesOf(bed, 1)
  if (only === undefined) throw new Error('no proxy')
  proxy = only
})

function reader(settings: ReaderSettings = {}) {
  return readerOf(bed, { urls: [proxy.url], ...settings }).reader
}

function payment(payments: readonly { readonly recipient: string; readonly currency: string }[]) {
  const extraData = encodeFillExtraData(bed.deployment.fillContract)
  return { transactionId: fill, orderId: id, extraData, payments }
}

const toRecipient = { recipient, currency: native }
/** HTTP requests and calls since the last look. */
function cost(): { readonly requests: number; readonly calls: number } {
  const { requests, calls } = proxy.counters()
  proxy.resetCounters()
  return { requests, calls }
}

describe('a cold question takes', () => {
  test('two rounds and three calls for a deposit event', async () => {
    await reader().readDeposits({ transactionId: nativeDeposit }, aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 3 })
  })

  test('two rounds and four calls for a transfer whose id is in the calldata', async () => {
    await reader().readDeposits({ transactionId: directDeposit }, aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 4 })
  })

  test('two rounds for a withdrawal, with and without a named transaction', async () => {
    const call = { to: recipient, data: '0x', value: 1n, allowFailure: false } as const
    const withdrawal = encodeEvmWithdrawal({ calls: [call], nonce: 1n, expiration: 4_000_000_000n })
    await reader().readWithdrawal({ withdrawal }, aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 3 })
    await reader().readWithdrawal({ withdrawal, transactionId: nativeDeposit }, aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 4 })
  })

  test('two rounds for a fill, and the code of its contract once', async () => {
    const shared = reader({ limits: { finalEntriesMax: 0 } })
    await shared.readPayment(payment([toRecipient]), aSignal())
    const first = cost().calls
    await shared.readPayment(payment([toRecipient]), aSignal())
    expect(cost()).toEqual({ requests: 2, calls: 4 })
    expect(first).toBe(6)
  })

  test('two rounds and seven calls for the deposit and the fill of one order, asked together', async () => {
    const shared = reader()
    await Promise.all([
      shared.readDeposits({ transactionId: nativeDeposit }, aSignal()),
      shared.readPayment(payment([{ recipient, currency: bed.deployment.tokens.USDC }]), aSignal()),
    ])
    expect(cost()).toEqual({ requests: 2, calls: 7 })
  })

  test('one call more where coin was paid by a contract that is not known yet', async () => {
    const shared = reader()
    await Promise.all([
      shared.readDeposits({ transactionId: nativeDeposit }, aSignal()),
      shared.readPayment(payment([toRecipient]), aSignal()),
    ])
    expect(cost()).toEqual({ requests: 2, calls: 8 })
  })

  test('nothing more for further payments of the same transaction', async () => {
    const many = Array.from({ length: 50 }, (_, index) => ({
      recipient: `0x${(index + 1).toString(16).padStart(40, '0')}`,
      currency: native,
    }))
    await reader().readPayment(payment(many), aSignal())
    // None of them was paid: the code of the contract is looked at, and nobody else's.
    expect(cost()).toEqual({ requests: 2, calls: 5 })
  })

  test('two requests per endpoint where there are several, and the pinned height read from each', async () => {
    const others = await proxiesOf(bed, 2)
    const all = [proxy, ...others]
    await reader({ urls: all.map(({ url }) => url), threshold: 3 }).readDeposits(
      { transactionId: nativeDeposit },
      aSignal(),
    )
    for (const one of all) expect(one.counters()).toMatchObject({ requests: 2, calls: 4 })
  })
})

describe('what is remembered', () => {
  test('a final transaction read again takes no call, whatever is asked of it', async () => {
    const same = reader()
    const first = await same.readPayment(payment([toRecipient]), aSignal())
    cost()
    expect(await same.readPayment(payment([toRecipient]), aSignal())).toEqual(first)
    await same.readPayment(
      payment([{ recipient: user.address, currency: bed.deployment.tokens.USDC }]),
      aSignal(),
    )
    await same.readDeposits({ transactionId: fill }, aSignal())
    expect(cost()).toEqual({ requests: 0, calls: 0 })
  })

  test('the spelling of a transaction id makes no second reading', async () => {
    const same = reader()
    await same.readDeposits({ transactionId: nativeDeposit }, aSignal())
    const upper = `0x${nativeDeposit.slice(2).toUpperCase()}`
    cost()
    const facts = await same.readDeposits({ transactionId: upper }, aSignal())
    expect(facts.transactionId).toBe(nativeDeposit)
    expect(cost().requests).toBe(0)
  })

  test('nothing that is missing or not final', async () => {
    const same = reader()
    const missing: Hex = `0x${'77'.repeat(32)}`
    const young = (await bed.send(user, recipient, '0x', 1n)).transactionId
    for (const transactionId of [missing, young]) {
      await expect(same.readDeposits({ transactionId }, aSignal())).rejects.toThrow()
      cost()
      await expect(same.readDeposits({ transactionId }, aSignal())).rejects.toThrow()
      expect(cost().requests).toBe(1)
    }
    await bed.mine(2)
    expect(await same.readDeposits({ transactionId: young }, aSignal())).toMatchObject({ deposits: [] })
  })

  test('no more than the limit, and nothing after it was told to forget', async () => {
    const small = reader({ limits: { finalEntriesMax: 1 } })
    for (const transactionId of [nativeDeposit, directDeposit, nativeDeposit]) {
      await small.readDeposits({ transactionId }, aSignal())
      expect(cost().requests).toBe(2)
    }
    await small.readDeposits({ transactionId: nativeDeposit }, aSignal())
    expect(cost().requests).toBe(0)
    small.forget()
    await small.readDeposits({ transactionId: nativeDeposit }, aSignal())
    expect(cost().requests).toBe(2)
  })
})

describe('identical questions in flight', () => {
  test('a thousand of them make the calls of one', async () => {
    const shared = reader()
    const facts = await Promise.all(
      Array.from({ length: 1_000 }, () => shared.readDeposits({ transactionId: nativeDeposit }, aSignal())),
    )
    expect(
      new Set(facts.map(({ deposits }) => JSON.stringify(deposits.map(({ depositId }) => depositId)))),
    ).toEqual(new Set([JSON.stringify([id])]))
    expect(cost()).toEqual({ requests: 2, calls: 3 })
  })

  test('one that gives up does not stop the others', async () => {
    const shared = reader()
    const impatient = new AbortController()
    const refused = shared.readDeposits({ transactionId: nativeDeposit }, { signal: impatient.signal })
    const answered = shared.readDeposits({ transactionId: nativeDeposit }, aSignal())
    impatient.abort()
    await expect(refused).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT', kind: 'upstream_unavailable' })
    await expect(answered).resolves.toMatchObject({ kind: 'deposits' })
  })

  test('different ones in the same moment travel in one request, within the limit per request', async () => {
    const shared = reader({ quorumLimits: { callsPerRequestMax: 3 } })
    await Promise.all(
      [nativeDeposit, directDeposit, fill].map((transactionId) =>
        shared.readDeposits({ transactionId }, aSignal()),
      ),
    )
    // Three receipts and one head, then three headers and one transaction.
    expect(proxy.counters().calls).toBe(8)
    expect(proxy.counters().requests).toBe(4)
  })

  test('more than the endpoint may be asked at once wait and travel together', async () => {
    await proxy.set({ kind: 'latency', delayMs: 50 })
    const shared = reader({ quorumLimits: { requestsInFlightMax: 1 } })
    const first = shared.readDeposits({ transactionId: nativeDeposit }, aSignal())
    await expect.poll(() => proxy.counters().requests).toBe(1)
    const later = [directDeposit, fill].map((transactionId) =>
      shared.readDeposits({ transactionId }, aSignal()),
    )
    await Promise.all([first, ...later])
    expect(proxy.counters().requests).toBeLessThanOrEqual(4)
  })
})
