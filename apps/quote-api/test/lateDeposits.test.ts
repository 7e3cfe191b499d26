// Goal: a quote is no free option. Whoever waits for the market and deposits after `expiresAt` is refunded where
// the solver would lose more than the tolerance, however the deposit is made; in time, or at a price that is
// no worse, it is filled as quoted. Method: the service with its jobs, PostgreSQL and real nodes; feeds and
// pools are moved on chain; what is late is made so by the time that the quote ended, never by waiting.
import type { Hex } from '@causeway/core'
import { movePrice, waitUntil } from '@causeway/localnet'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { findBookedDeposits } from '../src/jobs/bookedDeposits.ts'
import { checkBooks } from '../src/jobs/invariants.ts'
import { post, postPatiently, type QuoteAnswer, readError, readOk } from './serviceSupport/callService.ts'
import { type LocalRequest, localRequest } from './serviceSupport/localRequest.ts'
import { bytesOf, debitOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, moneyOf } from './sponsorSupport/sponsors.ts'

const oneEther = 10n ** 18n
const usdX18 = 10n ** 18n
const etherToUsdc: LocalRequest = { pay: 'native', receive: 'USDC', amount: oneEther }
const usdcToEther: LocalRequest = { pay: 'USDC', receive: 'native', amount: 2_500_000_000n }

let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  requests = bed.requests
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})
beforeEach(async () => {
  oracles.set()
  await moveEther(2_500n)
})

/** Moves feed and pools, and waits until the service prices by it. */
async function moveEther(usd: bigint): Promise<void> {
  await movePrice(bed.network, { price: 'ETH/USD', answer: usd * 10n ** 8n })
  await waitUntil(`ether is worth ${usd}`, async () => {
    const price = bed.service.market.snapshot().price('ETH/USD')
    if ('reason' in price) return false
    const apart = price.usdX18 - usd * usdX18
    return apart < 10n ** 12n && apart > -(10n ** 12n)
  })
}

async function quoted(request: LocalRequest): Promise<QuoteAnswer> {
  return readOk(
    await postPatiently(`${bed.url}/quote`, localRequest(bed.network, request)),
    quoteResponseSchema,
  )
}

/** The price of the quote ended a minute ago: whatever is mined from now on is late. */
const expire = (quote: QuoteAnswer) => endPrice(quote, '-60 seconds')
/** However slow this machine is, what follows is in time. */
const hold = (quote: QuoteAnswer) => endPrice(quote, '10 minutes')
const endPrice = ({ requestId }: QuoteAnswer, fromNow: string) =>
  bed.database.query(
    'update orders set expires_at = clock_timestamp() + $2::interval where request_id = $1',
    [bytesOf(requestId), fromNow],
  )

async function isRefunded(quote: QuoteAnswer, failReason: string): Promise<void> {
  await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
  await requests.reaches(quote, 'refund')
  const status = await requests.statusOf(quote)
  expect(status.failReason).toBe(failReason)
  // Whoever asks sees that the price had ended before the deposit.
  expect(status.quoteExpiresAt).toBeLessThan(status.updatedAt)
  expect(await requests.openWork(quote, 'fill')).toBeUndefined()
}

/** Its fill pays exactly what was quoted. */
async function isFilledAsQuoted(quote: QuoteAnswer): Promise<void> {
  const fill = await requests.workFor(quote, 'fill')
  const payments = 'payments' in fill.payload ? fill.payload.payments : []
  expect(payments.map(({ amount }) => amount)).toEqual([quote.details.currencyOut.amount])
  await bed.solver.carryOut(fill)
  await requests.reaches(quote, 'success')
}

describe('a deposit after the price of its quote', () => {
  test('is refunded where the market moved against the solver', async () => {
    const quote = await quoted(etherToUsdc)
    await moveEther(2_300n)
    await expire(quote)
    await requests.execute(quote)
    await isRefunded(quote, 'QUOTE_EXPIRED_PRICE_MOVED')
  })

  test('is filled as quoted where the market moved in favour of the solver', async () => {
    const quote = await quoted(etherToUsdc)
    await moveEther(2_700n)
    await expire(quote)
    await requests.execute(quote)
    await isFilledAsQuoted(quote)
  })

  test('P-54: is filled for the gas that its own price charges', async () => {
    const quote = await quoted(etherToUsdc)
    await bed.database.query(
      `update orders set quoted = jsonb_set(quoted::jsonb, '{gasCharged}', '"1"') where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await expire(quote)
    await requests.execute(quote)
    const { payload } = await requests.workFor(quote, 'fill')
    expect(payload).toMatchObject({ gasCharged: expect.stringMatching(/^\d{2,}$/) })
    await isFilledAsQuoted(quote)
  })

  test('is filled as quoted within the tolerance', async () => {
    const quote = await quoted(etherToUsdc)
    // 0.2 % less, of 0.3 %.
    await moveEther(2_495n)
    await expire(quote)
    await requests.execute(quote)
    await isFilledAsQuoted(quote)
  })

  test('is filled where one of two quotes for both directions is worse for the user, and only that one', async () => {
    const [selling, buying] = [await quoted(etherToUsdc), await quoted(usdcToEther)]
    await moveEther(2_300n)
    await Promise.all([expire(selling), expire(buying)])
    await requests.execute(selling)
    await requests.execute(buying)
    await isRefunded(selling, 'QUOTE_EXPIRED_PRICE_MOVED')
    await isFilledAsQuoted(buying)
  })

  test('L-60: is late by the block that it is in, when its quote is signed for and relayed', async () => {
    const quote = await quoted({ ...usdcToEther, more: { usePermit: true } })
    await handIn(quote)
    await moveEther(2_700n)
    await expire(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'permit'))
    await isRefunded(quote, 'QUOTE_EXPIRED_PRICE_MOVED')
  })

  test('L-62: is filled for its sponsor at the quoted subsidy, and refunded without one once the price moved', async () => {
    const sponsor = await createSponsor(bed.database, 1_000_000_000n)
    const bridge = { pay: 'native', receive: 'native', amount: oneEther } as const
    const [kept, moved] = [
      await requests.quoted(sponsor, bridge),
      await requests.quoted(sponsor, etherToUsdc),
    ]
    expect(debitOf(kept)).toBeGreaterThan(0n)
    await Promise.all([kept, moved].map(endHold))
    await Promise.all([expire(kept), expire(moved)])
    await moveEther(2_300n)
    await requests.execute(kept)
    await requests.execute(moved)
    await isFilledAsQuoted(kept)
    await isRefunded(moved, 'QUOTE_EXPIRED_PRICE_MOVED')
    await requests.reachesStage(kept, 'settled')
    const paid = 1_000_000_000n - (await moneyOf(bed.database, sponsor.wallet)).available
    expect(paid).toBe(await debitStored(kept))
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(0n)
  })
})

describe('a deposit in time', () => {
  test('is filled whatever the market did', async () => {
    const quote = await quoted(etherToUsdc)
    await hold(quote)
    await moveEther(2_300n)
    await requests.execute(quote)
    await isFilledAsQuoted(quote)
  })

  test('that is seen late counts by its block', async () => {
    const quote = await quoted(etherToUsdc)
    await hold(quote)
    await requests.execute(quote)
    const { timestamp } = await bed.network.chains.base.chain.client.getBlock()
    await bed.database.query('update orders set expires_at = to_timestamp($2) where request_id = $1', [
      bytesOf(quote.requestId),
      timestamp,
    ])
    await isFilledAsQuoted(quote)
  })
})

describe('a deposit of less than was quoted, of a quote that may slip', () => {
  test('L-10: is paid for what it is, and the least for the least', async () => {
    const slipping = { pay: 'USDX', receive: 'USDC', more: { slippageTolerance: '5000' } } as const
    const [least, half] = [
      await quoted({ ...slipping, amount: 1_000_000_000n }),
      await quoted({ ...slipping, amount: 1_000_000_000n }),
    ]
    await Promise.all([hold(least), hold(half)])
    const accepted = inputOf(least)
    const expected = BigInt(least.details.currencyOut.amount)
    expect(accepted).toBeLessThan(510_000_000n)
    await requests.deposit(least, { amount: accepted })
    await requests.deposit(half, { amount: 750_000_000n })
    expect(await paidFor(least)).toBe(BigInt(least.details.currencyOut.minimumAmount ?? 0))
    const paid = await paidFor(half)
    expect(paid).toBeGreaterThan((expected * 74n) / 100n)
    // The amount that the solver keeps covers its fixed and its proportional fees.
    expect((750_000_000n - paid) * 4n).toBeGreaterThanOrEqual(BigInt(half.fees.relayer.amount) * 3n)
  })
})

describe('what is booked of a quote that may slip', () => {
  const feeRecipient = `0x${'7b'.repeat(20)}`
  const more = { slippageTolerance: '9900', appFees: [{ recipient: feeRecipient, fee: '5000' }] }
  const owedTo = async (recipient: string) => {
    const rows = await bed.database.query<{ amount: bigint }>(
      `select credits_posted as amount from account where kind = 'app_fee' and owner = $1`,
      [recipient],
    )
    return rows[0]?.amount ?? 0n
  }

  test('L-10, L-12: is of the deposit: neither fees nor a debit for what nobody deposited', async () => {
    const balance = 1_000_000_000n
    const sponsor = await createSponsor(bed.database, balance)
    const quote = await requests.quoted(sponsor, {
      pay: 'USDX',
      receive: 'USDC',
      amount: 5_000_000_000n,
      more,
    })
    const accepted = inputOf(quote)
    expect(accepted).toBeLessThan(150_000_000n)
    await requests.deposit(quote, { amount: accepted })
    const fill = await requests.workFor(quote, 'fill')
    expect(fill.payload).toMatchObject({
      appFees: [{ wallet: feeRecipient, amount: (accepted / 2n).toString() }],
      gasCharged: expect.stringMatching(/^[1-9]\d+$/),
    })
    await bed.solver.carryOut(fill)
    await requests.reachesStage(quote, 'settled')
    const paid = BigInt(quote.details.currencyOut.minimumAmount ?? 0)
    expect(await owedTo(feeRecipient)).toBe(accepted / 2n)
    const { available, held } = await moneyOf(bed.database, sponsor.wallet)
    const debited = balance - available
    expect([held, debited < debitOf(quote) / 20n]).toEqual([0n, true])
    expect(paid + accepted / 2n).toBeLessThanOrEqual(accepted + debited)
    expect(await checkBooks(bed.database, 'all')).toEqual([])
  })

  test.each([
    ['an app fee', `update transfer set amount = amount + 1 where code = 'app_fee' and request_id = $1`],
    [
      'a debit',
      `update hold set posted_amount = posted_amount + 1 where state = 'posted' and request_id = $1`,
    ],
    [
      'a payment',
      `update work_item set payload = jsonb_set(payload::jsonb, '{payments,0,amount}', '"999999999"') where kind = 'fill' and request_id = $1`,
    ],
    ['a deposit', `update deposit_seen set amount = amount - 1 where request_id = $1`],
  ])('L-11: is held against its deposit: %s of another amount is found', async (_what, change) => {
    const sponsor = await createSponsor(bed.database, 1_000_000_000n)
    const quote = await requests.quoted(sponsor, {
      pay: 'USDX',
      receive: 'USDC',
      amount: 1_000_000_000n,
      more,
    })
    await requests.deposit(quote, { amount: inputOf(quote) })
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reachesStage(quote, 'settled')
    const rollback = new Error('rolled back')
    const found = bed.database.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica')
      await tx.query(change, [bytesOf(quote.requestId)])
      expect(await findBookedDeposits(tx)).toMatchObject([
        { invariant: 'I10', figures: { request: quote.requestId } },
      ])
      throw rollback
    })
    await expect(found).rejects.toBe(rollback)
    expect(await checkBooks(bed.database, 'all')).toEqual([])
  })
})

describe('while the market cannot be read', () => {
  const blind = () => movePrice(bed.network, { price: 'ETH/USD', answer: 3_500n * 10n ** 8n, only: 'feed' })
  const isBlind = () =>
    waitUntil(
      'nobody knows what ether is worth',
      async () => 'reason' in bed.service.market.snapshot().price('ETH/USD'),
    )
  const waits = async ({ requestId }: QuoteAnswer) => {
    const rows = await bed.database.query<{ state: string }>(
      'select state from deposit_seen where request_id = $1',
      [bytesOf(requestId)],
    )
    return rows.map(({ state }) => state)
  }

  test('L-61: a late deposit waits, and is judged by the first price there is', async () => {
    const quote = await quoted(etherToUsdc)
    await expire(quote)
    await blind()
    await isBlind()
    await requests.execute(quote)
    await waitUntil('it is seen', async () => (await waits(quote)).length > 0)
    expect(await waits(quote)).toEqual(['seen'])
    await moveEther(2_500n)
    await isFilledAsQuoted(quote)
  })

  test('L-61: it is refunded once that takes too long', async () => {
    const quote = await quoted(etherToUsdc)
    await expire(quote)
    await blind()
    await isBlind()
    await requests.execute(quote)
    await waitUntil('it is seen', async () => (await waits(quote)).length > 0)
    await bed.database.query(
      `update deposit_seen set seen_at = seen_at - interval '10 minutes' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await isRefunded(quote, 'QUOTE_EXPIRED_MARKET_UNAVAILABLE')
  })
})

describe('a flood of deposits that wait', () => {
  /** More than a pass takes. */
  const flood = 600

  test('L-66: for the market keeps no payment in time waiting, nor does one that nobody can act on', async () => {
    const [late, poisoned, victim] = [
      await quoted(etherToUsdc),
      await quoted(usdcToEther),
      await quoted(usdcToEther),
    ]
    await Promise.all([hold(poisoned), hold(victim)])
    await expire(late)
    await movePrice(bed.network, { price: 'ETH/USD', answer: 3_500n * 10n ** 8n, only: 'feed' })
    await waitUntil(
      'nobody knows what ether is worth',
      async () => 'reason' in bed.service.market.snapshot().price('ETH/USD'),
    )
    await requests.execute(late)
    await waitUntil('the late one is seen', async () => (await depositRows(late)) > 0)
    await storeCopies(late, flood)
    // Its chain left the configuration: whatever is tried fails.
    await bed.database.query('update orders set destination_chain_id = 99 where request_id = $1', [
      bytesOf(poisoned.requestId),
    ])
    await requests.execute(poisoned)
    await requests.execute(victim)
    await isFilledAsQuoted(victim)
    // Those that wait are still looked at, all of them.
    await waitUntil('all are looked at', async () => (await copiesNeverLookedAt()) === 0n)
    await moveEther(2_500n)
    await waitUntil('all are judged', async () => (await copiesThatWait()) === 0n)
  })

  const depositRows = async ({ requestId }: QuoteAnswer) =>
    (await bed.database.query('select 1 from deposit_seen where request_id = $1', [bytesOf(requestId)]))
      .length
  const countOf = async (condition: string) => {
    const [row] = await bed.database.query<{ count: bigint }>(
      `select count(*)::bigint as count from deposit_seen where tx_hash like 'copy-%' and ${condition}`,
    )
    return row?.count
  }
  const copiesThatWait = () => countOf(`state = 'seen'`)
  const copiesNeverLookedAt = () => countOf(`state = 'seen' and looks = 0`)

  /** As many other users with the same quote and deposit. */
  async function storeCopies({ requestId }: QuoteAnswer, count: number): Promise<void> {
    const idOf = (what: string) => `sha256(convert_to('${what}' || i, 'UTF8'))`
    await bed.database.query(
      `insert into orders (request_id, order_id, user_address, recipient, origin_chain_id, destination_chain_id,
         quoted, order_data, order_signature, steps_digest, expires_at, deadline, keep_until)
       select ${idOf('request')}, ${idOf('order')}, user_address, recipient, origin_chain_id,
         destination_chain_id, quoted, order_data, order_signature, steps_digest, expires_at, deadline, keep_until
       from orders, generate_series(1, $2::int) i where request_id = $1`,
      [bytesOf(requestId), count],
    )
    await bed.database.query(
      `insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time,
         order_id, request_id, depositor, currency, amount, is_final)
       select chain_id, 'copy-' || i, onchain_index, block_number, block_hash, block_time,
         ${idOf('order')}, ${idOf('request')}, depositor, currency, amount, true
       from deposit_seen, generate_series(1, $2::int) i where request_id = $1`,
      [bytesOf(requestId), count],
    )
  }
})

describe('quotes that are left open', () => {
  test('Q-32: hold no more than the solver can pay from one place, whatever is paid in', async () => {
    const user = `0x${'77'.repeat(20)}`
    const most = 1_000_000_000_000n
    const ask = (request: LocalRequest) =>
      post(`${bed.url}/quote`, localRequest(bed.network, { ...request, more: { user } }))
    const first = await ask({ ...usdcToEther, receive: 'USDC', amount: most })
    expect(first.status, first.text).toBe(200)
    const refused = await ask({ ...usdcToEther, receive: 'USDC', amount: most })
    expect([refused.status, readError(refused).errorCode]).toEqual([400, 'OPEN_QUOTES_LIMIT'])
    expect(readError(refused)).toMatchObject({ retryable: true })
    expect(readError(await ask({ ...etherToUsdc, amount: 400n * oneEther })).errorCode).toBe(
      'OPEN_QUOTES_LIMIT',
    )
    // A price promises nothing, and other users are not held up.
    const priced = await post(
      `${bed.url}/price`,
      localRequest(bed.network, { ...etherToUsdc, amount: 400n * oneEther, more: { user } }),
    )
    expect(priced.status).toBe(200)
    expect(await quoted({ ...etherToUsdc, amount: 400n * oneEther })).toBeDefined()
  })
})

/** The least deposit that the order takes. */
function inputOf({ protocol }: QuoteAnswer): bigint {
  return BigInt(protocol?.v2.orderData.inputs[0]?.payment.amount ?? 0)
}

async function paidFor(quote: QuoteAnswer): Promise<bigint> {
  const { payload } = await requests.workFor(quote, 'fill')
  const [first] = 'payments' in payload ? payload.payments : []
  if (first === undefined) throw new Error('the fill pays nobody')
  return BigInt(first.amount)
}

/** Signs the typed data of the quote as a wallet does, and hands the signature in. */
async function handIn(quote: QuoteAnswer): Promise<void> {
  const [step] = quote.steps
  const item = step?.kind === 'signature' ? step.items[0] : undefined
  if (item === undefined) throw new Error('the quote asks for no signature')
  const { sign, post: to } = item.data
  const signature = await privateKeyToAccount(requests.user.privateKey).signTypedData({
    // CAST: the wire describes an address as text.
    domain: { ...sign.domain, verifyingContract: sign.domain.verifyingContract as Hex },
    types: sign.types,
    primaryType: sign.primaryType,
    message: sign.value,
  })
  const answer = await post(`${bed.url}${to.endpoint}?signature=${signature}`, to.body)
  expect(answer.status).toBe(200)
}

const endHold = ({ requestId }: QuoteAnswer) =>
  bed.database.query(
    `update hold set expires_at = clock_timestamp() - interval '1 second' where request_id = $1`,
    [bytesOf(requestId)],
  )

async function debitStored({ requestId }: QuoteAnswer): Promise<bigint> {
  const [row] = await bed.database.query<{ debit: bigint }>(
    'select debit_micro_usd as debit from request_sponsorship where request_id = $1',
    [bytesOf(requestId)],
  )
  return row?.debit ?? 0n
}
