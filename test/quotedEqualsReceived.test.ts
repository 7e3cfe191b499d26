// Goal: what was quoted is what arrives, and what the sponsor pays is what was quoted. Method: random requests
// over both chains, all currencies and trade types, with app fees, gas top-ups and caps, on a whole local
// network; recipients are new, so that their balance is what they received. CAUSEWAY_FAULTS=1 runs the long form.
import type { Database } from '@causeway/database'
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { verifyLedger } from '../packages/ledger/src/index.ts'
import { createRandom } from '../packages/localnet/test/support/random.ts'
import { createRequestLives, debitOf, type Life, liveMany } from './support/requestLives.ts'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

const count = process.env['CAUSEWAY_FAULTS'] === '1' ? 200 : 40
const seed = 20_261_121
const longTest = 1_200_000

let bed: SessionBed
let database: Database

beforeAll(async () => {
  bed = await startSessionBed()
  database = await bed.openDatabase()
}, 240_000)
afterAll(async () => {
  await database?.close()
  await bed?.stop()
}, 60_000)

const historySchema = z.object({
  requests: z.array(
    z.object({
      data: z.looseObject({
        feeSponsorship: z
          .looseObject({
            actual: z.looseObject({ sponsorPayment: z.object({ amount: z.string() }) }).optional(),
          })
          .optional(),
      }),
    }),
  ),
})

/** `feeSponsorship.actual` of a request's history, 0n where nobody but the user paid. */
async function actualOf({ quote }: Life): Promise<bigint> {
  const headers = { 'x-api-key': bed.session.sponsorApiKey ?? '' }
  const response = await fetch(`${bed.url}/requests/v3?id=${quote.requestId}`, { headers })
  const [request] = historySchema.parse(await response.json()).requests
  return BigInt(request?.data.feeSponsorship?.actual?.sponsorPayment.amount ?? 0)
}

/**
 * True if the swap on the origin gave less than quoted, as another user moved its pool in between: the order is then
 * paid in proportion, never below its minimum.
 */
async function gotLessThanQuoted(sql: Database, { quote }: Life): Promise<boolean> {
  const [row] = await sql.query<{ is_short: boolean }>(
    `select d.amount < (o.quoted ->> 'feeBasis')::numeric as is_short
     from settlement s join deposit_seen d on d.id = s.deposit_id join orders o on o.request_id = s.request_id
     where s.request_id = $1`,
    [Buffer.from(quote.requestId.slice(2), 'hex')],
  )
  if (row === undefined) throw new Error(`request ${quote.requestId} has no deposit`)
  return row.is_short
}

test(
  `of ${count} random requests each pays out and costs exactly what was quoted (seed ${seed})`,
  async () => {
    const lives = createRequestLives(bed, { isPatient: false })
    const done = await liveMany(bed, lives, { count, atOnce: 6, random: createRandom(seed) })
    expect(done.map(({ status }) => status)).toEqual(done.map(() => 'success'))
    for (const life of done) {
      const { wish, quote } = life
      const { currencyOut, currencyGasTopup } = quote.details
      const received = await lives.received(life)
      expect(received.amount, quote.requestId).toBeGreaterThanOrEqual(BigInt(currencyOut.minimumAmount))
      const isShort = await gotLessThanQuoted(database, life)
      if (isShort) expect(received.amount, quote.requestId).toBeLessThanOrEqual(BigInt(currencyOut.amount))
      else expect(received.amount, quote.requestId).toBe(BigInt(currencyOut.amount))
      if (wish.body['tradeType'] === 'EXACT_OUTPUT')
        expect(received.amount).toBe(BigInt(String(wish.body['amount'])))
      if (currencyGasTopup !== undefined) expect(received.native).toBe(BigInt(currencyGasTopup.amount))

      await waitUntil(
        `${quote.requestId} settles`,
        async () => (await debitOf(database, life)).stage === 'settled',
        { patienceMs: 300_000 },
      )
      const debit = await debitOf(database, life)
      expect(debit.debitedMicroUsd, quote.requestId).toBe(debit.quotedMicroUsd)
      expect(await actualOf(life)).toBe(debit.debitedMicroUsd)
      expect(debit.posts).toBe(debit.quotedMicroUsd > 0n ? 1 : 0)
      if (debit.heldMicroUsd !== undefined)
        expect(debit.debitedMicroUsd).toBeLessThanOrEqual(debit.heldMicroUsd)
      if (wish.maxSubsidyMicroUsd !== undefined)
        expect(debit.debitedMicroUsd).toBeLessThanOrEqual(wish.maxSubsidyMicroUsd)
    }
    expect(await database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
  },
  longTest,
)
