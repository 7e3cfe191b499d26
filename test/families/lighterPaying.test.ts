// Goal: on Lighter every transfer takes the next nonce of its key and names its order, and what a fill wallet signs is what
// the exchange takes. Who gains by breaking it: a user who is paid twice; an endpoint that makes a transfer pay another fee.
// Method: the exchange's own signer, transfers handed to an exchange of a stand-in behind three endpoints, one of which
// lies; a desk with real PostgreSQL.

import { payingFamily } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import type { Landing, PayingChain, PaymentTerms } from '@causeway/families'
import { FlatFees, lighterTransferMessage } from '@causeway/families/rules'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  type LighterBench,
  startLighterBench,
  lighterWallet as wallet,
  lighterWalletKey as walletKey,
} from '../../apps/solver/test/support/lighterBench.ts'
import { aTask, begin, keptOf, rounds } from '../../apps/solver/test/support/payerRounds.ts'
import { openLighterSigner } from '../../packages/families/src/lighter/paying/lighterSigner.ts'
import type { SentTransaction } from '../../packages/families/src/shared/payingChain.ts'

let bed: LighterBench
let paying: PayingChain

beforeAll(async () => {
  bed = await startLighterBench()
  paying = bed.open()
}, 60_000)
afterAll(() => bed?.stop())
afterEach(() => bed.faults.heal())

const bid = { fees: new FlatFees({ transferFee: 3_000_000n }), ceiling: 5_000_000n }
const amount = 2_000_000n
let ids = 0

function termsOf(change: Partial<PaymentTerms> = {}): PaymentTerms {
  ids += 1
  const id: Hex = `0x${ids.toString(16).padStart(64, 'e')}`
  return {
    id,
    mark: 'paid',
    orderId: id,
    payments: [{ recipient: bed.account(), currency: '0', amount }],
    ...change,
  }
}

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

/** An endpoint that a loaded machine makes late leaves it unknown: a solver asks again too. */
async function landingOf(signed: SentTransaction, by = paying): Promise<Landing> {
  for (;;) {
    const landing = await by.landingOf([signed])
    if (landing.kind !== 'unknown') return landing
  }
}

const held = (account: string, currency = '0') => bed.exchange.accounts.get(account)?.held.get(currency) ?? 0n
const recipientOf = ({ payments }: PaymentTerms) => payments[0]?.recipient ?? ''

test.each<[string, string]>([
  ['ether', '1'],
  ['spot dollars', '3'],
])('%s is paid in its own part of an account', async (_what, currency) => {
  bed.exchange.accounts.get(wallet)?.held.set(currency, 100_000_000n)
  const terms = termsOf({ payments: [{ recipient: bed.account(), currency, amount: 7n }] })
  await pay(terms)
  expect(held(recipientOf(terms), currency)).toBe(7n)
  expect(await paying.balanceOf(currency)).toBe(100_000_000n - 7n)
})

test('F-164: payments that are signed for one nonce are all made, one after the other, and told by the id of each', async () => {
  const process = await bed.process(await bed.database())
  const tasks = await Promise.all([1, 2, 3].map(() => aTask(bed, { recipient: bed.account(), amount: 7n })))
  for (const task of tasks) await begin(process, task)
  await rounds(process, 12)
  for (const task of tasks) expect(await keptOf(process, task)).toMatchObject({ outcome: 'done' })
  expect(tasks.map(({ recipient }) => held(recipient))).toEqual([7n, 7n, 7n])
})

test('P-75: a refund whose terms nobody knows was paid where a transfer names its order, closed or not', async () => {
  const order = termsOf()
  const refund = termsOf({ orderId: order.id })
  const read = async (of: PaymentTerms) => (await bed.open().readFinal(of.id, { orderId: order.id })).state
  expect(await read(refund)).toBe('open')
  await pay(refund)
  expect(await read(refund)).toBe('paid')
  await pay({ id: refund.id, mark: 'closed', payments: [] }, bed.open())
  expect(await read(refund)).toBe('paid')
})

describe('one endpoint of three', () => {
  test('F-162: cannot make a transfer pay another fee', async () => {
    bed.lie({ '/api/v1/transferFeeInfo': (body) => ({ ...body, transfer_fee_usdc: 4_000_000 }) })
    expect((await signedOf(termsOf())).fee).toBe(3_000_000n)
  })

  test('leaves a nonce out: then nothing is known, and nothing signed, where no two others tell', async () => {
    const withoutFirst = (body: Record<string, unknown>) => ({ ...body, txs: Object(body['txs']).slice(1) })
    bed.lie({ '/api/v1/accountTxs': withoutFirst }, bed.nodes.slice(0, 2))
    await expect(bed.open().readFinal(termsOf().id)).rejects.toThrow()
  })
})

describe('a transfer', () => {
  test('ends by the time of the exchange, whatever this machine believes', async () => {
    const signed = await signedOf(termsOf())
    const now = Date.now()
    bed.exchange.nowMs = () => Date.now() + 300_000
    try {
      const landing = await landingOf(signed)
      expect(landing.kind === 'none' && landing.finalHeight > signed.lastValidHeight).toBe(true)
      await expect(paying.broadcast(signed)).rejects.toThrow('expired')
      const terms = termsOf()
      await pay(terms)
      expect(held(recipientOf(terms))).toBe(amount)
    } finally {
      bed.exchange.nowMs = () => Date.now()
    }
    expect(Number(signed.lastValidHeight) - now).toBeLessThan(200_000)
  })

  test('that was executed under the same id with another memo is another payment', async () => {
    const terms = termsOf()
    const signed = await signedOf(terms)
    const content = JSON.stringify({ Memo: Array(32).fill(1), Nonce: 0 })
    const executed = { code: 200, hash: signed.hash, status: 3, info: content }
    bed.lie({ [`/api/v1/tx?by=hash&value=${signed.hash}`]: () => executed }, bed.nodes)
    expect(await landingOf(signed)).toMatchObject({ kind: 'none' })
  })

  test.each<[string, (recipient: string) => Partial<PaymentTerms>, string]>([
    [
      'to nobody',
      () => ({ payments: [{ recipient: '99999999', currency: '0', amount }] }),
      'the recipient is no account',
    ],
    [
      'to a depository, which would be a deposit of its order,',
      () => ({ payments: [{ recipient: '723071', currency: '0', amount }] }),
      'the recipient is a depository',
    ],
    [
      'of nothing',
      (recipient) => ({ payments: [{ recipient, currency: '0', amount: 0n }] }),
      'an amount is none',
    ],
    [
      'of an asset that nobody attests',
      (recipient) => ({ payments: [{ recipient, currency: '2', amount }] }),
      'an amount is none',
    ],
    [
      'of two payments',
      (recipient) => ({ payments: [1n, 2n].map((units) => ({ recipient, currency: '0', amount: units })) }),
      'a transfer makes one payment',
    ],
    ['that allows', () => ({ mark: 'allowed' as const }), 'nothing is allowed'],
  ])('F-158: %s is refused', async (_what, change, reason) => {
    const plan = await paying.plan(termsOf(change(bed.account())), bid)
    expect('refusal' in plan && plan.refusal).toContain(reason)
  })

  test('of somebody else is not signed: the key is compared with the account', async () => {
    bed.exchange.setAccount('501', `0x${'cc'.repeat(20)}`, { '0': 10n ** 9n })
    const other = payingFamily(bed.chain)?.open({
      client: bed.client,
      key: new Secret(walletKey),
      fillContract: undefined,
      account: { name: '501', apiKey: bed.apiKey, apiKeyIndex: 4 },
    })
    expect(await other?.plan(termsOf(), bid)).toEqual({
      refusal: 'LIGHTER_PRIVATE_KEY is not the key of account 501',
    })
  })
})

test("the signer names what it signs: its text is that of the oracles, and its id the exchange's own", async () => {
  const transfer = {
    nonce: 7n,
    fromAccountIndex: 5n,
    apiKeyIndex: 4n,
    toAccountIndex: 723_071n,
    assetIndex: 3n,
    fromRouteType: 0n,
    toRouteType: 0n,
    amount: 1_000_000n,
    usdcFee: 3_000_000n,
    memo: `0x${'30'.repeat(32)}` as const,
  }
  const open = (lighterChainId: bigint) =>
    openLighterSigner({
      lighterChainId,
      apiKey: bed.apiKey,
      account: 5n,
      apiKeyIndex: 4,
      nowMs: () => 1_795_705_370_204,
      lifetimeMs: 599_000,
    })
  const [main, test_] = [await open(304n), await open(300n)]
  const { hash, info, expiresAtMs } = main.signTransfer(transfer)
  expect(info).toMatchObject({ FromAccountIndex: 5, ToAccountIndex: 723_071, Amount: 1_000_000, Nonce: 7 })
  // Made by the exchange's own program for this content, network and expiry, whoever signs it.
  expect([expiresAtMs, hash]).toEqual([
    1_795_705_969_204,
    '1d3565b17cd548ea7ce69f0db903a4d846ccf53c4322ed17bda98d94e2dfd69b65c90641e70b7bef',
  ])
  expect(test_.signTransfer(transfer).hash).toBe(
    '9b8d72cdd3999e3c87143bf9edf910850e69cdd503a9cd0d43990d34a9cb087932807524a8500aae',
  )
  expect(main.signTransfer({ ...transfer, memo: `0x${'31'.repeat(32)}` }).expiresAtMs).toBeGreaterThan(
    expiresAtMs,
  )
  expect(lighterTransferMessage({ ...transfer, lighterChainId: 304n })).toContain(
    'chainId: 0x0000000000000130',
  )
  expect(() => main.signTransfer({ ...transfer, amount: 0n })).toThrow('refuses')
  await expect(
    openLighterSigner({
      lighterChainId: 304n,
      apiKey: new Secret('0x12'),
      account: 5n,
      apiKeyIndex: 4,
      nowMs: () => 1,
    }),
  ).rejects.toThrow('refuses')
})
