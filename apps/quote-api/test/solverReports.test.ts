// Goal: whoever holds the solver's key may name any transaction, and no user pays for it. Method: reports of
// what does not pay, of what pays by half and of one transaction for many items, to the running service.
import type { Hex } from '@causeway/core'
import { testFill } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRequestAdministration } from '../src/operate/admin/requestAdministration.ts'
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

// CAST: the wire describes a request id as text.
const idOf = ({ requestId }: QuoteAnswer) => requestId as Hex

/** The last of the tries that an item has. */
async function giveUp(quote: QuoteAnswer): Promise<void> {
  const { id } = await requests.workFor(quote, 'fill')
  await bed.database.query('update work_item set attempts = 3 where id = $1', [id])
  expect((await bed.solver.fail(id, 'the inventory does not reach')).status).toBe(200)
}

describe('an order that a solver gives up', () => {
  test('P-48: is not refunded where its fill contract has it as paid, and an operator ends it', async () => {
    const quote = await deposited()
    await bed.solver.payInSecret(await requests.workFor(quote, 'fill'))
    await giveUp(quote)
    await requests.reachesStage(quote, 'parked')
    expect(await requests.settlementOf(quote)).toMatchObject({ parked_reason: 'FILL_RECORDED' })
    expect(await requests.openWork(quote, 'refund')).toBeUndefined()
    const operator = createRequestAdministration(bed.database)
    const deed = { actor: 'cli:ops', reason: 'paid by 0x01' }
    await expect(operator.resolve(idOf(quote), 'refund', deed)).rejects.toMatchObject({
      code: 'RESOLUTION_NOT_POSSIBLE',
    })
    await operator.resolve(idOf(quote), 'unpaid', deed)
    await requests.reaches(quote, 'success')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available: balance, held: 0n })
  })

  test('P-48: is refunded where a stranger alone has recorded it as paid', async () => {
    const quote = await deposited()
    const { payload } = await requests.workFor(quote, 'fill')
    const [, , , stranger] = bed.network.keys.users
    if (stranger === undefined || !('payments' in payload)) throw new Error('no user, or no fill')
    // CAST: the wire describes an order id as text.
    const data = testFill({ orderId: payload.orderId as Hex })
    const to = bed.network.deployment.optimism.fillContract
    await bed.network.chains.optimism.chain.as(stranger).walletClient.sendTransaction({ to, data })
    await giveUp(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
    await requests.reaches(quote, 'refund')
  })
})

describe('a report of', () => {
  test('L-73: a transaction that pays nobody costs time, and the order is filled', async () => {
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

  test('P-48: a payment by half of the fill wallet waits for an operator: nobody pays twice', async () => {
    const quote = await deposited()
    const first = await requests.workFor(quote, 'fill')
    await bed.solver.carryOut(first, 50n)
    const again = await requests.workFor(quote, 'fill')
    await bed.database.query('update work_item set attempts = 3 where id = $1', [again.id])
    await bed.solver.fail(again.id, 'the transaction would revert')
    await requests.reachesStage(quote, 'parked')
    expect(await requests.settlementOf(quote)).toMatchObject({ parked_reason: 'FILL_RECORDED' })
    expect(await requests.openWork(quote, 'refund')).toBeUndefined()
  })

  test('L-73: one transaction for ten items at once is taken once and refused by name nine times', async () => {
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
