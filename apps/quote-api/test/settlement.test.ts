// Goal: a request lives its whole life on facts alone. Users deposit on real nodes, a scripted solver works
// the items off, oracles sign for real; the sponsor pays exactly the quoted subsidy, once, and only on enough
// listed signatures over the fill of this very order. Method: the service with its jobs, PostgreSQL, anvil.
import { setPolicy, setSponsorFrozen, verifyLedger } from '@causeway/ledger'
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { post, type QuoteAnswer, readError, send } from './serviceSupport/callService.ts'
import { nativeAddress } from './serviceSupport/localRequest.ts'
import { bytesOf, debitOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import type { OracleMode } from './settlementSupport/standInOracle.ts'
import { createSponsor, moneyOf, type TestSponsor } from './sponsorSupport/sponsors.ts'

const amount = 60_000_000n
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor

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
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})

const quoted = (more: object = {}) => requests.quoted(sponsor, { amount, more })

describe('a sponsored request', () => {
  test('is detected, filled, proven by two of three oracles and paid for exactly as quoted', async () => {
    oracles.set('honest', 'garbage', 'honest')
    const quote = await quoted({ appFees: [{ recipient: `0x${'33'.repeat(20)}`, fee: '50' }] })
    expect((await requests.statusOf(quote)).status).toBe('waiting')
    await requests.execute(quote)
    await requests.reaches(quote, 'pending')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(debitOf(quote))
    const hash = await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    const status = await requests.statusOf(quote)
    expect(status).toMatchObject({ failReason: 'N/A', refundFailReason: 'N/A' })
    expect(status.txHashes).toEqual([hash])
    expect(status.inTxHashes).toHaveLength(1)
    await requests.reachesStage(quote, 'settled')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - debitOf(quote),
      held: 0n,
    })
    expect((await requests.settlementOf(quote))?.evidence).toMatchObject({ threshold: 2 })
    const fees = await bed.database.query(
      `select credits_posted from account where kind = 'app_fee' and owner = $1`,
      [`0x${'33'.repeat(20)}`],
    )
    expect(fees).toEqual([{ credits_posted: BigInt(quote.fees.app.amount) }])
    expect(await bed.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
  })

  test.each<[string, OracleMode]>([
    ['execution signatures alone', 'execution_only'],
    ['a refund attestation', 'refund'],
    ['a fill attestation of another order', 'other_order'],
    ['signatures of unlisted signers', 'unlisted'],
    ['refusals', 'refuses'],
  ])('L-68: is not paid for on %s', async (_what, mode) => {
    oracles.set(mode, mode, 'honest')
    const quote = await quoted()
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    if (mode !== 'refuses') await requests.contradictedBefore(quote)
    await requests.reachesStage(quote, 'parked')
    expect((await requests.settlementOf(quote))?.parked_reason).toBe('SEEN_BUT_DENIED')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - debitOf(quote),
      held: debitOf(quote),
    })
  })

  test('whose order key was replaced waits for its own key, and keeps no other waiting', async () => {
    const nameSolver = (solver: string, { requestId }: QuoteAnswer) =>
      bed.database.query(
        `update orders set order_data = jsonb_set(order_data::jsonb, '{solver}', to_jsonb($2::text))::json
         where request_id = $1`,
        [bytesOf(requestId), solver],
      )
    const [waiting, other] = [await quoted(), await quoted()]
    const ownKey = String(waiting.protocol?.v2.orderData.solver)
    await nameSolver(`0x${'0b'.repeat(20)}`, waiting)
    await requests.execute(waiting)
    await requests.execute(other)
    await requests.workFor(other, 'fill')
    expect(await requests.openWork(waiting, 'fill')).toBeUndefined()
    expect((await requests.statusOf(waiting)).status).toBe('waiting')
    await nameSolver(ownKey, waiting)
    const { payload } = await requests.workFor(waiting, 'fill')
    expect(payload).toMatchObject({ orderSignature: expect.stringMatching(/^0x[0-9a-f]{130}$/) })
  })

  test('L-68: is paid for by oracles that hold the execution at their signing caps: the message is enough', async () => {
    oracles.set('holds', 'holds', 'refuses')
    const quote = await quoted()
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reachesStage(quote, 'settled')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(0n)
  })

  test('is paid for when oracles that denied it a moment ago sign it now', async () => {
    oracles.set('refuses', 'refuses', 'refuses')
    const quote = await quoted()
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    const before = oracles.all[0]?.asked ?? 0
    await waitUntil('the oracles denied it', async () => (oracles.all[0]?.asked ?? 0) > before)
    oracles.set('honest', 'honest', 'honest')
    await requests.reachesStage(quote, 'settled')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(0n)
  })

  test('waits while one oracle is dead and one lies, and settles once two honest ones answer', async () => {
    oracles.set('honest', 'other_order', 'garbage')
    const quote = await quoted()
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    const asked = oracles.all[0]?.asked ?? 0
    await waitUntil('the oracles are asked again', async () => (oracles.all[0]?.asked ?? 0) > asked + 1)
    expect(await requests.stageOf(quote)).toBe('filled')
    oracles.set('honest', 'other_order', 'honest')
    await requests.reachesStage(quote, 'settled')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(0n)
  })

  test('that the solver gives up is refunded, and its hold is free again', async () => {
    const quote = await quoted()
    await requests.execute(quote)
    const item = await requests.workFor(quote, 'fill')
    await bed.database.query('update work_item set attempts = 3 where id = $1', [item.id])
    expect((await bed.solver.fail(item.id, 'no inventory')).status).toBe(200)
    const refund = await requests.workFor(quote, 'refund')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(0n)
    const hash = await bed.solver.carryOut(refund)
    await requests.reaches(quote, 'refund')
    expect(await requests.statusOf(quote)).toMatchObject({
      failReason: 'TRANSACTION_SUBMISSION_FAILED',
      txHashes: [hash],
    })
    expect((await moneyOf(bed.database, sponsor.wallet)).available).toBe(1_000_000_000n)
  })
})

describe('a fill whose solver stalled', () => {
  test('L-72: is offered again once its transaction can have no effect, to another solver', async () => {
    const quote = await quoted()
    await requests.execute(quote)
    const { id } = await requests.workFor(quote, 'fill')
    const longAgo = 1
    expect((await bed.solver.report(id, `0x${'cd'.repeat(31)}01`, undefined, longAgo)).status).toBe(200)
    const again = await requests.workFor(quote, 'fill')
    expect(again.id).toBe(id)
    const endOf = () => bed.database.query('select state, valid_until from work_item where id = $1', [id])
    expect(await endOf()).toEqual([{ state: 'open', valid_until: null }])
    await bed.solver.carryOut(again)
    expect(await endOf()).toEqual([{ state: expect.stringMatching(/reported|done/), valid_until: null }])
    await requests.reaches(quote, 'success')
  })

  test('L-72: has no end where one of the transactions that were reported has none', async () => {
    const quote = await quoted()
    await requests.execute(quote)
    const { id } = await requests.workFor(quote, 'fill')
    const later = Math.floor(Date.now() / 1_000) + 86_400
    const [one, two, three] = ['01', '02', '03'].map((end) => `0x${'ce'.repeat(31)}${end}`)
    const endOf = async () =>
      (
        await bed.database.query<{ valid_until: bigint | null }>(
          'select valid_until from work_item where id = $1',
          [id],
        )
      )[0]?.valid_until
    await bed.solver.report(id, one ?? '', undefined, later)
    await bed.solver.report(id, two ?? '', one, later - 1)
    expect(await endOf()).toBe(BigInt(later))
    await bed.solver.report(id, three ?? '', two)
    expect(await endOf()).toBeNull()
    await bed.solver.report(id, one ?? '', three, later)
    expect(await endOf()).toBeNull()
  })
})

describe('deposits that do not fit', () => {
  test('a second one is refunded and the first is filled', async () => {
    const quote = await quoted()
    await requests.execute(quote)
    await requests.workFor(quote, 'fill')
    await requests.deposit(quote, { amount })
    await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    await requests.reachesStage(quote, 'settled')
  })

  test('L-59: a short one is refunded, and a fitting one that follows is filled', async () => {
    const quote = await quoted()
    await requests.deposit(quote, { amount: amount - 1n })
    const refund = await requests.workFor(quote, 'refund')
    expect((await requests.statusOf(quote)).status).toBe('pending')
    await bed.solver.carryOut(refund)
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
  })

  test('one in the wrong currency is refunded for the most part', async () => {
    const quote = await quoted()
    const deposited = 10n ** 16n
    await requests.deposit(quote, { token: nativeAddress, amount: deposited })
    const { payload } = await requests.workFor(quote, 'refund')
    expect(payload).toMatchObject({ currency: nativeAddress })
    const back = 'amount' in payload ? BigInt(payload.amount) : 0n
    expect(back).toBeGreaterThan(deposited / 2n)
    expect(back).toBeLessThan(deposited)
  })

  test('what is paid too much goes back once the order is filled', async () => {
    const quote = await quoted()
    await requests.deposit(quote, { amount: amount + 5_000_000n })
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    const { payload } = await requests.workFor(quote, 'refund')
    expect('amount' in payload && BigInt(payload.amount)).toBeGreaterThan(4_000_000n)
  })
})

describe('a deposit after the hold of its quote has ended', () => {
  const endHold = (quote: QuoteAnswer) =>
    bed.database.query(
      `update hold set expires_at = clock_timestamp() - interval '1 second' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )

  test('reserves again and is filled', async () => {
    const quote = await quoted()
    await endHold(quote)
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reachesStage(quote, 'settled')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - debitOf(quote),
      held: 0n,
    })
  })

  test('holds where its quote held nothing, and is refunded once the balance is gone', async () => {
    const own = await createSponsor(bed.database, 1_000_000_000n)
    await setPolicy(bed.database, { apiKeyId: own.keyId, rules: { unsettledShareBps: 0 }, actor: 'test' })
    const quotedFor = (n: number) =>
      requests.quoted(own, { amount, more: { recipient: `0x${`${n}`.repeat(40)}` } })
    const first = await quotedFor(1)
    const [filled, refunded] = [await quotedFor(2), await quotedFor(3)]
    const isHeld = [first, filled, refunded].map(({ feeSponsorship }) => feeSponsorship?.heldAtDeposit)
    expect(isHeld).toEqual([undefined, true, true])
    expect((await moneyOf(bed.database, own.wallet)).held).toBe(debitOf(first))
    await requests.execute(filled)
    await requests.reaches(filled, 'pending')
    expect((await moneyOf(bed.database, own.wallet)).held).toBe(debitOf(first) + debitOf(filled))
    await bed.solver.carryOut(await requests.workFor(filled, 'fill'))
    await requests.reachesStage(filled, 'settled')
    expect((await moneyOf(bed.database, own.wallet)).available).toBe(
      1_000_000_000n - debitOf(first) - debitOf(filled),
    )
    await setPolicy(bed.database, { apiKeyId: own.keyId, rules: { maxPerRequest: '1' }, actor: 'test' })
    await requests.execute(refunded)
    await bed.solver.carryOut(await requests.workFor(refunded, 'refund'))
    await bed.database.query(
      `update orders set expires_at = clock_timestamp() - interval '1 minute' where request_id = $1`,
      [bytesOf(refunded.requestId)],
    )
    await requests.reaches(refunded, 'refund')
    expect((await requests.statusOf(refunded)).failReason).toBe('SPONSOR_BALANCE_TOO_LOW')
  })

  test('is refunded with SPONSOR_BALANCE_TOO_LOW when the sponsor cannot pay', async () => {
    const quote = await quoted()
    await endHold(quote)
    await bed.database.transaction((tx) =>
      setSponsorFrozen(tx, { sponsor: sponsor.wallet, frozen: true, actor: 'cli:test', reason: 'test' }),
    )
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
    // A fitting deposit may follow until the quote's own hold would be over.
    await bed.database.query(
      `update orders set expires_at = clock_timestamp() - interval '1 minute' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await requests.reaches(quote, 'refund')
    expect((await requests.statusOf(quote)).failReason).toBe('SPONSOR_BALANCE_TOO_LOW')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(0n)
  })
})

describe('the routes of the solver', () => {
  test('are closed without the key, and to the keys of integrators', async () => {
    for (const headers of [{}, { 'x-api-key': 'wrong-key-of-nobody' }, { 'x-api-key': sponsor.apiKey }]) {
      const answer = await send(`${bed.url}/solver/work`, { headers })
      expect(answer.status).toBe(401)
      expect(readError(answer).errorCode).toBe('UNAUTHORIZED')
    }
  })

  test('L-70: take a report once, and refuse another transaction or an unknown item', async () => {
    const quote = await quoted()
    await requests.execute(quote)
    const { id, payload } = await requests.workFor(quote, 'fill')
    expect(payload).toMatchObject({
      order: { solver: expect.any(String), inputs: [{}] },
      orderSignature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
      deposits: [
        {
          chainId: expect.any(Number),
          transactionId: expect.any(String),
          // Among the logs of its block, where others may stand before it.
          onchainIndex: expect.stringMatching(/^[0-9]+$/),
        },
      ],
    })
    const hash = `0x${'ab'.repeat(31)}01`
    expect((await bed.solver.report(id, hash)).status).toBe(200)
    expect((await bed.solver.report(id, hash)).status).toBe(200)
    const other = await bed.solver.report(id, `0x${'ab'.repeat(31)}02`)
    expect([other.status, readError(other).errorCode]).toEqual([409, 'WORK_NOT_OPEN'])
    expect((await bed.solver.fail(id, 'too late')).status).toBe(409)
    const dearer = `0x${'ab'.repeat(31)}03`
    const misnamed = await bed.solver.report(id, dearer, `0x${'ab'.repeat(31)}02`)
    expect([misnamed.status, readError(misnamed).errorCode]).toEqual([409, 'WORK_NOT_OPEN'])
    expect((await bed.solver.report(id, dearer, hash)).status).toBe(200)
    expect((await bed.solver.report(id, hash)).status).toBe(409)
    expect((await bed.solver.report(id, hash, dearer)).status).toBe(200)
    const unknown = await bed.solver.report('00000000-0000-4000-8000-000000000000', hash)
    expect([unknown.status, readError(unknown).errorCode]).toEqual([404, 'WORK_NOT_FOUND'])
  })
})

describe('the status routes', () => {
  test('need no key, are never cached, and know no made-up request', async () => {
    const quote = await quoted()
    for (const path of ['/intents/status', '/intents/status/v2', '/intents/status/v3']) {
      const answer = await send(`${bed.url}${path}?requestId=${quote.requestId}`)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
      const unknown = await send(`${bed.url}${path}?requestId=0x${'ee'.repeat(32)}`)
      expect([unknown.status, readError(unknown).errorCode]).toEqual([404, 'REQUEST_NOT_FOUND'])
    }
  })

  test('keep an end for good, whoever writes', async () => {
    const quote = await quoted()
    const id = bytesOf(quote.requestId)
    await bed.database.query(`update orders set status = 'refund' where request_id = $1`, [id])
    await expect(
      bed.database.query(`update orders set status = 'success' where request_id = $1`, [id]),
    ).rejects.toThrow('is final')
  })

  test('take hints of any kind and believe none', async () => {
    const quote = await quoted()
    const txHash = `0x${'cd'.repeat(32)}`
    const index = { chainId: '8453', txHash, referrer: 'a.client' }
    const single = { requestId: quote.requestId, chainId: '8453', tx: '{"txHash":1', referrer: 'a.client' }
    expect((await post(`${bed.url}/transactions/index`, index)).status).toBe(200)
    expect((await post(`${bed.url}/transactions/single`, single)).status).toBe(200)
    expect((await requests.statusOf(quote)).status).toBe('waiting')
  })
})
