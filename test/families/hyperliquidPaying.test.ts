// Goal: a payment on Hyperliquid has the nonce that the hub gave it, and another one only when that is spent or over. Who
// gains by breaking it: a user who is paid twice; an endpoint that hides a payment. Method: three endpoints of one exchange
// of a stand-in, which checks signatures, nonces and balances; the hub's own contract on a real node, oracles' real
// signatures.

import { payingFamily } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import type { PayingChain, PaymentTerms } from '@causeway/families'
import { FlatFees } from '@causeway/families/rules'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  depository,
  type HyperliquidBench,
  hype,
  perps,
  spotDollars,
  startHyperliquidBench,
  hyperliquidWallet as wallet,
  hyperliquidWalletKey as walletKey,
} from '../../apps/solver/test/support/hyperliquidBench.ts'

let network: TestNetwork
let bed: HyperliquidBench
let paying: PayingChain

beforeAll(async () => {
  network = await startTestNetwork()
  bed = await startHyperliquidBench(network)
  paying = bed.open()
}, 60_000)
afterAll(async () => {
  await bed?.stop()
  await network?.stop()
})
afterEach(async () => {
  await bed.faults.heal()
  bed.venue.nowMs = () => Date.now()
})

const bid = { fees: new FlatFees({ transferFee: 0n }), ceiling: 200_000_000n }
const amount = 200_000_000n
let ids = 0

function termsOf(change: Partial<PaymentTerms> = {}): PaymentTerms {
  ids += 1
  const id: Hex = `0x${ids.toString(16).padStart(64, 'e')}`
  return {
    id,
    mark: 'paid',
    orderId: id,
    payments: [{ recipient: bed.account(), currency: perps, amount }],
    ...change,
  }
}
const closingOf = ({ id }: PaymentTerms): PaymentTerms => ({ id, mark: 'closed', payments: [] })

async function signedOf(terms: PaymentTerms, by = paying) {
  const plan = await by.plan(terms, bid)
  if ('refusal' in plan) throw new Error(plan.refusal)
  return by.sign(plan, bid)
}

async function pay(terms: PaymentTerms, by = paying) {
  const signed = await signedOf(terms, by)
  await by.broadcast(signed)
  return signed
}

const recipientOf = ({ payments }: PaymentTerms) => payments[0]?.recipient ?? ''
const held = (terms: PaymentTerms, part = '') => bed.venue.balanceOf(recipientOf(terms), part)
const transfersTo = (account: string) =>
  bed.ledger.transactions.filter(({ action }) => 'destination' in action && action.destination === account)

const hideTransfers = (count: number) => bed.lie('userNonFundingLedgerUpdates', () => [], count)

/** Nothing can be paid from the perps part meanwhile: a nonce is given, and stays unused. */
async function withoutDollars(work: () => Promise<unknown>): Promise<void> {
  const had = bed.venue.balanceOf(wallet, '')
  bed.venue.fund(wallet, { '': -had })
  await work().finally(() => bed.venue.fund(wallet, { '': had }))
}

/** Hands in what was signed again and again, until nothing is in its way. */
async function insist(by: PayingChain, signed: { readonly raw: Hex }, times = 3): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await by.broadcast(signed).catch(() => undefined)
}

test.each<[string, string, bigint]>([
  ['spot dollars', spotDollars, 7n],
  ['a token', hype, 150n],
])('%s are paid in their own part of an account', async (_what, currency, units) => {
  const before = await paying.balanceOf(currency)
  const terms = termsOf({ payments: [{ recipient: bed.account(), currency, amount: units }] })
  await pay(terms)
  expect(held(terms, currency)).toBe(units)
  expect(await paying.balanceOf(currency)).toBe(before - units)
})

test('an account that is not there yet is paid for, and gets what it was promised', async () => {
  const recipient = `0x${'a0'.repeat(20)}`
  const terms = termsOf({ payments: [{ recipient, currency: perps, amount }] })
  const before = bed.venue.balanceOf(wallet, '')
  const signed = await pay(terms)
  expect([held(terms), signed.fee]).toEqual([amount, 100_000_000n])
  expect(before - bed.venue.balanceOf(wallet, '')).toBe(amount + 100_000_000n)
})

describe('of all that is signed for an id one transfer is executed', () => {
  test('after its nonce was given to it and never used: that one is spent before another one is taken', async () => {
    const terms = termsOf()
    const first = await signedOf(terms)
    await withoutDollars(() => expect(paying.broadcast(first)).rejects.toThrow('Insufficient'))
    const restored = bed.open()
    const spent = transfersTo(wallet).length
    await insist(restored, await signedOf(terms, restored))
    expect(held(terms)).toBe(amount)
    expect(transfersTo(wallet)).toHaveLength(spent + 1)
    await expect(paying.broadcast(first)).rejects.toThrow('made or closed')
    expect(await restored.readFinal(terms.id)).toMatchObject({ state: 'paid' })
  })

  test('and none of one that was closed after it had a nonce', async () => {
    const given = termsOf()
    const signed = await signedOf(given)
    await withoutDollars(() => expect(paying.broadcast(signed)).rejects.toThrow('Insufficient'))
    const closer = bed.open()
    const closing = await pay(closingOf(given), closer)
    expect(await closer.landingOf([closing])).toMatchObject({ kind: 'landed', hash: closing.hash })
    await expect(paying.broadcast(signed)).rejects.toThrow('made or closed')
    await expect(signedOf(given)).rejects.toThrow('would revert')
    expect(held(given)).toBe(0n)
  })
})

test('F-156: a payment that all endpoints leave out is paid once all the same: its nonce is spent', async () => {
  const terms = termsOf()
  await pay(terms)
  hideTransfers(3)
  const fresh = bed.open()
  const again = await signedOf(terms, fresh)
  await insist(fresh, again, 4)
  await insist(fresh, await fresh.sign({ terms: closingOf(terms), units: 1n }, bid), 2)
  expect(held(terms)).toBe(amount)
  expect(await fresh.readFinal(terms.id)).toMatchObject({ state: 'open' })
  await bed.faults.heal()
  expect(await bed.open().readFinal(terms.id)).toMatchObject({ state: 'paid' })
})

describe('without the hub', () => {
  test('nothing is sent while too few oracles vouch', async () => {
    const terms = termsOf()
    const signed = await signedOf(terms)
    bed.hub.set({ isSilent: true })
    await expect(paying.broadcast(signed)).rejects.toThrow('Too few oracles')
    expect(held(terms)).toBe(0n)
    bed.hub.set({})
    await paying.broadcast(signed)
    expect(held(terms)).toBe(amount)
  })

  test('nothing is known of a payment while its row cannot be read', async () => {
    bed.hub.set({ isGarbled: true })
    await expect(paying.readFinal(termsOf().id)).rejects.toThrow()
  })

  test('no solver opens the chain', () => {
    const options = { client: bed.client, key: new Secret(walletKey), fillContract: undefined }
    expect(() => payingFamily(bed.chain)?.open(options)).toThrow(/hyperliquid.*ORACLES/)
  })
})

describe('a nonce', () => {
  test('that the exchange may soon refuse is spent, and the payment gets another one', async () => {
    const terms = termsOf()
    const signed = await signedOf(terms)
    await withoutDollars(() => expect(paying.broadcast(signed)).rejects.toThrow('Insufficient'))
    await Promise.all(Array.from({ length: 50 }, () => pay(termsOf())))
    const landing = await paying.landingOf([signed])
    expect(landing.kind === 'none' && landing.finalHeight > signed.lastValidHeight).toBe(true)
    await insist(paying, await signedOf(terms))
    expect(held(terms)).toBe(amount)
  })

  test('F-156: that nothing can use any more, and nobody shows, is over: then the payment gets another one', async () => {
    const [late, terms] = [termsOf(), termsOf()]
    const signed = await signedOf(late)
    await withoutDollars(() => expect(paying.broadcast(signed)).rejects.toThrow('Insufficient'))
    const closed = await signedOf(terms)
    await withoutDollars(() => expect(paying.broadcast(closed)).rejects.toThrow('Insufficient'))
    bed.venue.nowMs = () => Date.now() + 50 * 3_600_000
    const spent = transfersTo(wallet).length
    await pay(late)
    expect(held(late)).toBe(amount)
    await pay(closingOf(terms))
    expect(await paying.readFinal(terms.id)).toMatchObject({ state: 'closed' })
    expect(transfersTo(wallet)).toHaveLength(spent)
  })

  test('that one endpoint shows is not over', async () => {
    const terms = termsOf()
    const first = bed.open()
    const signed = await signedOf(terms, first)
    await withoutDollars(() => expect(first.broadcast(signed)).rejects.toThrow('Insufficient'))
    await pay(closingOf(terms), bed.open())
    bed.venue.nowMs = () => Date.now() + 50 * 3_600_000
    hideTransfers(2)
    expect(await bed.open().readFinal(terms.id)).toMatchObject({ state: 'open' })
  })
})

describe('a transfer', () => {
  test.each<[string, (recipient: string) => Partial<PaymentTerms>, string]>([
    [
      'to a depository, which would be a deposit of its order,',
      () => ({ payments: [{ recipient: depository, currency: perps, amount }] }),
      'the recipient is a depository',
    ],
    [
      'of nothing',
      (recipient) => ({ payments: [{ recipient, currency: perps, amount: 0n }] }),
      'an amount is none',
    ],
    [
      'of a part that the exchange does not move',
      (recipient) => ({ payments: [{ recipient, currency: perps, amount: 150n }] }),
      'no such part of a dollar',
    ],
    [
      'of two payments',
      (recipient) => ({ payments: [1n, 2n].map((units) => ({ recipient, currency: hype, amount: units })) }),
      'a transfer makes one payment',
    ],
    ['that allows', () => ({ mark: 'allowed' as const }), 'nothing is allowed'],
    [
      'back to somebody who has no account, which nobody was charged for',
      () => ({
        makesNoState: true,
        payments: [{ recipient: `0x${'a1'.repeat(20)}`, currency: perps, amount }],
      }),
      'nobody was charged',
    ],
    [
      'of a token to somebody who has no account',
      () => ({ payments: [{ recipient: `0x${'a1'.repeat(20)}`, currency: hype, amount: 1n }] }),
      'paid for in dollars alone',
    ],
  ])('F-158: %s is refused', async (_what, change, reason) => {
    const plan = await paying.plan(termsOf(change(bed.account())), bid)
    expect('refusal' in plan && plan.refusal).toContain(reason)
  })
})
