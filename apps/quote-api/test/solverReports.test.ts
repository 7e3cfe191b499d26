// Goal: whoever holds the solver's key may name any transaction, and no user pays for it. Method: reports of
// what does not pay, of what pays by half and of one transaction for many items, to the running service.
import type { Hex } from '@causeway/core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type QuoteAnswer, readError, send } from './serviceSupport/callService.ts'
import type { RequestDriver } from './settlementSupport/requestDriver.ts'
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

async function deposited(): Promise<QuoteAnswer> {
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  return quote
}

/** A transaction of the fill chain that pays nobody. */
function somethingElse(): Promise<Hex> {
  const { chain } = bed.network.chains.optimism
  const [, , , user] = bed.network.keys.users
  if (user === undefined) throw new Error('no user')
  return chain.as(user).walletClient.sendTransaction({ to: user.address, value: 1n })
}

describe('a report of', () => {
  test('a transaction that pays nobody costs time, and the order is filled', async () => {
    const quote = await deposited()
    const first = await requests.workFor(quote, 'fill')
    const txHash = await somethingElse()
    expect((await bed.solver.report(first.id, txHash)).status).toBe(200)
    const again = await requests.workFor(quote, 'fill')
    expect(again.id).toBe(first.id)
    await bed.solver.carryOut(again)
    await requests.reachesStage(quote, 'settled')
    const [row] = await bed.database.query<{ reason: string; attempts: number }>(
      'select reason, attempts from work_item where id = $1',
      [first.id],
    )
    expect(row).toEqual({ reason: 'does not pay: other_order', attempts: 1 })
    const metrics = (await send(`${bed.opsUrl}/metrics`)).text
    expect(metrics).toMatch(/solver_false_reports_total\{[^}]*problem="other_order"[^}]*\} [1-9]/)
  })

  test('a payment by half, and again, ends in a refund: the sponsor pays nothing', async () => {
    const quote = await deposited()
    const first = await requests.workFor(quote, 'fill')
    await bed.solver.carryOut(first, 50n)
    const again = await requests.workFor(quote, 'fill')
    await bed.database.query('update work_item set attempts = 3 where id = $1', [again.id])
    await bed.solver.carryOut(again, 50n)
    await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
    await requests.reaches(quote, 'refund')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available: balance, held: 0n })
  })

  test('one transaction for ten items at once is taken once and refused by name nine times', async () => {
    const quotes = await Promise.all(Array.from({ length: 10 }, () => requests.quoted(sponsor, { amount })))
    for (const quote of quotes) await requests.execute(quote)
    const items = await Promise.all(quotes.map((quote) => requests.workFor(quote, 'fill')))
    const txHash = await somethingElse()
    const answers = await Promise.all(items.map(({ id }) => bed.solver.report(id, txHash)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
    const refused = answers.filter(({ status }) => status === 409)
    expect(new Set(refused.map((answer) => readError(answer).errorCode))).toEqual(
      new Set(['TRANSACTION_TAKEN']),
    )
  })
})
