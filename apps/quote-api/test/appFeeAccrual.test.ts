// Goal: what a request's app fees come to is owed to its recipients when the request succeeds, in the transaction that
// debits the sponsor. Method: real deposits and fills; a trigger that refuses fees shows what is rolled back with them.
import { verifyLedger } from '@causeway/ledger'
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { debitOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, moneyOf, type TestSponsor } from './sponsorSupport/sponsors.ts'

const balance = 1_000_000_000n
const amount = 60_000_000n
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  requests = bed.requests
}, 120_000)
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})
beforeEach(async () => {
  sponsor = await createSponsor(bed.database, balance)
})

describe('app fees of a request', () => {
  const recipients = [1, 2, 3].map((n) => `0x${String(n).repeat(40)}`)
  const owed = async (recipient: string) => {
    const [row] = await bed.database.query<{ amount: bigint }>(
      `select credits_posted as amount from account where kind = 'app_fee' and owner = $1`,
      [recipient.toLowerCase()],
    )
    return row?.amount ?? 0n
  }

  test('accrue at success to each recipient what was quoted, beside the debit of the sponsor', async () => {
    const [one = '', two = '', three = ''] = recipients
    const appFees = [
      { recipient: one, fee: '50' },
      { recipient: two, fee: '25' },
      { recipient: one, fee: '10' },
      { recipient: three, fee: '0' },
    ]
    const quote = await requests.quoted(sponsor, { amount, more: { appFees } })
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    await requests.reachesStage(quote, 'settled')
    const accrued = [await owed(one), await owed(two), await owed(three)]
    const base = BigInt(quote.fees.app.amount)
    expect(accrued.reduce((sum, part) => sum + part, 0n)).toBe(base)
    expect(accrued).toEqual([(base * 60n) / 85n, (base * 25n) / 85n, 0n])
    expect((await moneyOf(bed.database, sponsor.wallet)).available).toBe(balance - debitOf(quote))
  })

  test.each([
    ['the fee', 'insert on transfer', `new.code = 'app_fee'`, '4'],
    ['the debit', 'insert on transfer', `new.code = 'sponsor_post'`, '5'],
    ['the end of the request', 'update on settlement', `new.stage = 'settled'`, '6'],
  ])('and the debit of its sponsor are booked together or not at all: without %s', async (...refused) => {
    const [, event, condition, digit] = refused
    const recipient = `0x${digit.repeat(40)}`
    const quote = await requests.quoted(sponsor, { amount, more: { appFees: [{ recipient, fee: '50' }] } })
    await bed.database.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not today'; end $$;
      create trigger refuse before ${event} for each row when (${condition}) execute function refuse()`)
    try {
      await requests.execute(quote)
      await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
      await requests.reaches(quote, 'success')
      const asked = oracles.all[0]?.asked ?? 0
      await waitUntil('it was tried more than once', async () => (oracles.all[0]?.asked ?? 0) > asked + 2)
      expect(await requests.stageOf(quote)).toBe('filled')
      expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(debitOf(quote))
      expect(await owed(recipient)).toBe(0n)
    } finally {
      await bed.database.query('drop function refuse() cascade')
    }
    await requests.reachesStage(quote, 'settled')
    expect(await owed(recipient)).toBe(BigInt(quote.fees.app.amount))
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({
      available: balance - debitOf(quote),
      held: 0n,
    })
  })
})

test('the books add up behind all of this', async () => {
  expect(await bed.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
})
