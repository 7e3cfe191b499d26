// Goal: a fill wallet on Hyperliquid pays each id once, whoever signed it, whatever it forgot and whatever endpoints leave
// out, and what it pays names its order. Who gains by breaking it: a user who is paid twice; an endpoint that hides a payment
// or invents one; a payment of one order that counts for another. Method: three endpoints of one exchange of a stand-in,
// which checks signatures, nonces and balances; the hub's own contract on a real node, oracles' real signatures.

import { openFamilyChain, payingFamily } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import type { PayingChain, PaymentTerms } from '@causeway/families'
import { FlatFees } from '@causeway/families/rules'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  depository,
  hype,
  type PayingBed,
  perps,
  spotDollars,
  startPayingBed,
  wallet,
  walletKey,
} from './hyperliquidSupport/startPayingBed.ts'

let bed: PayingBed
let paying: PayingChain

beforeAll(async () => {
  bed = await startPayingBed()
  paying = bed.open()
}, 60_000)
afterAll(() => bed?.stop())
afterEach(() => {
  for (const node of bed.nodes) node.set({ kind: 'none' })
  bed.hub.set({})
  bed.venue.nowMs = () => Date.now()
})

const bid = { fees: new FlatFees({ transferFee: 0n }), ceiling: 200_000_000n }
const amount = 200_000_000n
let ids = 0

function termsOf(change: Partial<PaymentTerms> = {}): PaymentTerms {
  ids += 1
  const id: Hex = `0x${ids.toString(16).padStart(64, 'e')}`
  return {
    ...{ id, mark: 'paid', orderId: id },
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
const held = (terms: PaymentTerms, part = '') => bed.venue.held(recipientOf(terms), part)
const transfersTo = (account: string) =>
  bed.ledger.transactions.filter(({ action }) => 'destination' in action && action.destination === account)

type Asked = Record<string, unknown>

/** Rewrites the answers of some endpoints to one question. */
function lie(
  type: string,
  rewrite: (body: unknown) => unknown,
  nodes: PayingBed['nodes'] = bed.nodes.slice(0, 1),
): void {
  const isAbout = ({ text }: { readonly text: string }) => (JSON.parse(text) as Asked)['type'] === type // CAST: an object.
  for (const node of nodes) node.set({ kind: 'lie', isAbout, rewrite: (_path, body) => rewrite(body) })
}
const hideTransfers = (nodes: PayingBed['nodes']) => lie('userNonFundingLedgerUpdates', () => [], nodes)

/** Nothing can be paid from the perps part meanwhile: a nonce is given, and stays unused. */
async function withoutDollars(work: () => Promise<unknown>): Promise<void> {
  const had = bed.venue.held(wallet, '')
  bed.venue.fund(wallet, { '': -had })
  await work().finally(() => bed.venue.fund(wallet, { '': had }))
}

/** Hands in what was signed again and again, until nothing is in its way. */
async function insist(by: PayingChain, signed: { readonly raw: Hex }, times = 3): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await by.broadcast(signed).catch(() => undefined)
}

test('a payment is what the exchange takes and what oracles attest, once it has a hash', async () => {
  const terms = termsOf()
  const signed = await pay(terms)
  expect(held(terms)).toBe(amount)
  expect(signed.fee).toBe(0n)
  const landing = await paying.landingOf([signed])
  const [listed] = transfersTo(recipientOf(terms))
  expect(landing).toEqual({ kind: 'landed', hash: listed?.hash, succeeded: true, isFinal: true })
  const chain = openFamilyChain({ ...bed.chain, depository }, { finalEntriesMax: 0 }, bed.hub.entries)
  const question = {
    ...{ transactionId: listed?.hash ?? '', orderId: terms.id, extraData: '0x' as const },
    payments: terms.payments,
  }
  const facts = await chain.reader.readPayment(question, { signal: AbortSignal.timeout(5_000) })
  expect(facts).toMatchObject({
    referencesOrder: true,
    transfers: [{ recipient: recipientOf(terms), currency: perps, amount }],
  })
  await chain.close()
})

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
  const before = bed.venue.held(wallet, '')
  const signed = await pay(terms)
  expect([held(terms), signed.fee]).toEqual([amount, 100_000_000n])
  expect(before - bed.venue.held(wallet, '')).toBe(amount + 100_000_000n)
})

describe('of all that is signed for an id one transfer is executed', () => {
  test('by two processes at once', async () => {
    const terms = termsOf()
    const other = bed.open()
    const [one, two] = [await signedOf(terms), await signedOf(terms, other)]
    await Promise.all([insist(paying, one, 6), insist(other, two, 6)])
    expect(held(terms)).toBe(amount)
    expect(transfersTo(recipientOf(terms))).toHaveLength(1)
    expect(await bed.open().readFinal(terms.id)).toMatchObject({ state: 'paid' })
    await expect(signedOf(terms, bed.open())).rejects.toThrow('would revert')
  })

  test('when it was paid between planning and sending', async () => {
    const terms = termsOf()
    const late = await signedOf(terms)
    await pay(terms, bed.open())
    await expect(paying.broadcast(late)).rejects.toThrow('made or closed')
    expect(held(terms)).toBe(amount)
  })

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

  test('and none of a payment that was closed, whether it had a nonce or not', async () => {
    const [never, given] = [termsOf(), termsOf()]
    const unsent = await signedOf(never)
    await pay(closingOf(never), bed.open())
    expect(await paying.readFinal(never.id)).toMatchObject({ state: 'closed' })
    await expect(paying.broadcast(unsent)).rejects.toThrow('made or closed')
    expect(held(never)).toBe(0n)

    const signed = await signedOf(given)
    await withoutDollars(() => expect(paying.broadcast(signed)).rejects.toThrow('Insufficient'))
    const closer = bed.open()
    const closing = await pay(closingOf(given), closer)
    expect(await closer.landingOf([closing])).toMatchObject({ kind: 'landed', hash: closing.hash })
    await expect(paying.broadcast(signed)).rejects.toThrow('made or closed')
    await expect(signedOf(given)).rejects.toThrow('would revert')
    expect(held(given)).toBe(0n)
  })

  test('of refunds by their own ids: two deposits of one order go back, each once', async () => {
    const orderId: Hex = `0x${'0d'.repeat(32)}`
    const recipient = bed.account()
    const refund = (id: string): PaymentTerms => ({
      ...{ id: `0x${id.repeat(32)}`, mark: 'paid', orderId },
      payments: [{ recipient, currency: perps, amount }],
    })
    await pay(refund('a1'))
    await pay(refund('a2'))
    expect(bed.venue.held(recipient, '')).toBe(2n * amount)
    await expect(signedOf(refund('a1'), bed.open())).rejects.toThrow('would revert')
  })
})

describe('endpoints', () => {
  test('one that hides what was paid is outvoted', async () => {
    const terms = termsOf()
    await pay(terms)
    hideTransfers(bed.nodes.slice(0, 1))
    expect(await bed.open().readFinal(terms.id)).toMatchObject({ state: 'paid' })
    await expect(signedOf(terms, bed.open())).rejects.toThrow('would revert')
  })

  test('F-156: that all leave a payment out have it paid once all the same: its nonce is spent', async () => {
    const terms = termsOf()
    await pay(terms)
    hideTransfers(bed.nodes)
    const fresh = bed.open()
    const again = await signedOf(terms, fresh)
    await insist(fresh, again, 4)
    await insist(fresh, await fresh.sign({ terms: closingOf(terms), units: 1n }, bid), 2)
    expect(held(terms)).toBe(amount)
    expect(await fresh.readFinal(terms.id)).toMatchObject({ state: 'open' })
    for (const node of bed.nodes) node.set({ kind: 'none' })
    expect(await bed.open().readFinal(terms.id)).toMatchObject({ state: 'paid' })
  })

  test('one cannot invent a payment, nor a closing', async () => {
    const terms = termsOf()
    const signed = await signedOf(terms)
    const { nonce } = JSON.parse(Buffer.from(signed.raw.slice(2), 'hex').toString())
    const invent = (destination: string) => (body: unknown) => [
      ...(body as unknown[]), // CAST: a ledger is a list.
      {
        ...{ hash: `0x${'77'.repeat(32)}`, time: Number(nonce) },
        delta: { type: 'send', user: wallet, destination, nonce: Number(nonce) },
      },
    ]
    lie('userNonFundingLedgerUpdates', invent(recipientOf(terms)))
    expect(await paying.landingOf([signed])).toMatchObject({ kind: 'none' })
    lie('userNonFundingLedgerUpdates', invent(wallet))
    const landing = await paying.landingOf([signed])
    expect(landing.kind === 'none' && landing.finalHeight <= signed.lastValidHeight).toBe(true)
    await paying.broadcast(signed)
    expect(held(terms)).toBe(amount)
  })

  test('one cannot end a payment by its clock', async () => {
    const signed = await signedOf(termsOf())
    lie('exchangeStatus', (body) => ({ ...Object(body), time: 9_999_999_999_999 }))
    const landing = await paying.landingOf([signed])
    expect(landing.kind === 'none' && landing.finalHeight <= signed.lastValidHeight).toBe(true)
  })

  test('of which two are silent have nothing sent', async () => {
    const signed = await signedOf(termsOf())
    for (const node of bed.nodes.slice(1)) node.set({ kind: 'reset' })
    await expect(bed.open().broadcast(signed)).rejects.toThrow()
    await expect(paying.landingOf([signed])).rejects.toThrow()
  })
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
    hideTransfers(bed.nodes.slice(0, 2))
    expect(await bed.open().readFinal(terms.id)).toMatchObject({ state: 'open' })
  })
})

describe('a transfer', () => {
  test.each<[string, (recipient: string) => Partial<PaymentTerms>, string]>([
    [
      'to the wallet',
      () => ({ payments: [{ recipient: wallet, currency: perps, amount }] }),
      'the recipient is the fill wallet',
    ],
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

  test('is nothing while an account takes more than the operator bears', async () => {
    const terms = termsOf({ payments: [{ recipient: `0x${'a2'.repeat(20)}`, currency: perps, amount }] })
    expect(await paying.plan(terms, { ...bid, ceiling: 1n })).toEqual({
      refusal: 'an account takes more than maxFeePerGasWei',
    })
  })
})
