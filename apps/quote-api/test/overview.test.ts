// Goal: the first page of the console tells true sums, and costs the same however many requests there are. Adversary: a
// long history, and a receiver of messages that has failed for long. Method: the reading itself over 40,000 requests in a
// real database, its sums compared with integers, its plans with the indexes that they may use.
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import {
  daysSql,
  inFlightSql,
  oldestWorkSql,
  readOverview,
  sponsorsSql,
  statusesSql,
} from '../src/operate/admin/overviewReading.ts'
import { exposureText, keepExposure, parseExposure } from '../src/requests/work/solverExposure.ts'
import { fillHistory, historyDirectories } from './historySupport/filledHistory.ts'
import { quotedTexts } from './historySupport/historyRows.ts'

const key = 'aaaaaaaaaa'
let bed: TestDatabase
beforeAll(async () => {
  bed = await startTestDatabase({ directories: historyDirectories, pool: { statementTimeoutMs: 300_000 } })
  const { database } = bed
  await fillHistory(database, 40_000)
  // Settled 20 seconds apart; what settled last is on its way again.
  await database.query(
    `insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
       request_id, depositor, currency, amount, state)
     select 8453, '0x' || encode(request_id, 'hex'), '0', 1, '0xb', now(), order_id, request_id, '0xd', '0xc', 1, 'taken'
     from orders where status = 'success'`,
  )
  await database.query(
    `insert into settlement (request_id, deposit_id, stage, is_bound, updated_at)
     select request_id, id, case when id <= 5 then 'filled' else 'settled' end, true, now() - id * interval '20 seconds'
     from deposit_seen`,
  )
  await database.query(
    `insert into work_item (kind, request_id, subject, chain_id, payload, state, tx_hash, created_at)
     select 'fill', request_id, '', 10, '{}', case when id <= 3 then 'open' else 'done' end,
       case when id > 3 then tx_hash end, now() - id * interval '1 minute' from deposit_seen`,
  )
  // Last: each change above is one too.
  await database.query(
    `insert into request_event (request_id, part, state, evidence)
     select request_id, 'status', state, '{}' from orders, unnest(array['pending', status]) state
     where status = 'failure' and created_at > now() - interval '1 hour'`,
  )
  await database.query('insert into api_key (id, label) values ($1, $2)', [key, 'shop'])
  await database.query(
    `insert into webhook_endpoint (api_key_id, url, sealed, pepper_id)
     values ($1, 'https://shop.example/path-with-a-token', '', 'v1')`,
    [key],
  )
  await database.query(
    `insert into webhook_delivery (event_id, api_key_id, request_id, body, state, problem, finished_at)
     select gen_random_uuid(), $1, decode(repeat('11', 32), 'hex'), '{}', 'failed', 'timed out', now()
     from generate_series(1, 5000)`,
    [key],
  )
  await database.query('vacuum analyze settlement, request_event, work_item, webhook_delivery, deposit_seen')
}, 300_000)
afterAll(() => bed?.stop())

const amount = z.string().transform(BigInt)
const unit = z.object({ decimals: z.number(), usdX18: amount })
const quotedSchema = z.object({
  amountIn: amount,
  amountOut: amount,
  relayerGas: amount,
  units: z.object({ in: unit, out: unit, fee: unit }),
})

it('Q-129: sums of the newest settled requests, what is on its way, and who fails', async () => {
  const { amountIn, amountOut, relayerGas, units } = quotedSchema.parse(
    JSON.parse((await quotedTexts()).quoted),
  )
  const microUsd = (count: bigint, value: bigint, { decimals, usdX18 }: z.output<typeof unit>) =>
    (count * value * usdX18) / 10n ** BigInt(12 + decimals)
  const overview = await readOverview(bed.database)
  const sum = (member: 'volumeMicroUsd' | 'gasMicroUsd') =>
    overview.days.reduce((total, day) => total + day[member], 0n)
  expect(overview.days.reduce((total, { requests }) => total + requests, 0)).toBe(2_000)
  // The oldest day alone lacks something.
  expect(overview.days.map(({ isCut }) => isCut)).toEqual(
    overview.days.map((_day, at) => at === overview.days.length - 1),
  )
  // Each day is rounded down.
  for (const [member, value, of] of [
    ['volumeMicroUsd', amountIn, units.in],
    ['gasMicroUsd', relayerGas, units.fee],
  ] as const) {
    const lost = microUsd(2_000n, value, of) - sum(member)
    expect([member, lost >= 0n && lost < BigInt(overview.days.length)]).toEqual([member, true])
    expect(sum(member)).toBeGreaterThan(0n)
  }
  expect(overview.inFlight).toMatchObject([
    { stage: 'filled', requests: 5, outMicroUsd: microUsd(5n, amountOut, units.out) },
  ])
  // Each request has its last status alone.
  expect(overview.statuses).toEqual([{ status: 'failure', requests: 3 }])
  expect(overview.oldestWork).toMatchObject([{ kind: 'fill' }, { kind: 'fill' }, { kind: 'fill' }])
  expect(overview.failingWebhooks).toMatchObject([
    { apiKeyId: key, host: 'shop.example', failed: 1_001, problem: 'timed out' },
  ])
  expect(JSON.stringify(overview.failingWebhooks)).not.toContain('token')
})

it('Q-129: the oldest work is told, however much of another kind is reported and due before it', async () => {
  const rolledBack = new Error('nothing of it stays')
  const reading = bed.database.transaction(async (tx) => {
    await tx.query(
      `insert into work_item (kind, subject, chain_id, payload, state, tx_hash, created_at, not_before)
       select kind, n::text, 10, '{}', 'reported', kind || n, now() - age, now() + later
       from (values ('claim', 30, interval '0', interval '0'), ('sweep', 30, interval '0', interval '0'),
         ('sweep', 1, interval '9 hours', interval '1 minute')) work (kind, count, age, later),
         generate_series(count, 2 * count - 1) n`,
    )
    const [oldest] = await tx.query(oldestWorkSql)
    expect(oldest).toMatchObject({ kind: 'sweep', state: 'reported' })
    throw rolledBack
  })
  await expect(reading).rejects.toBe(rolledBack)
})

it('Q-136: of what solvers tell within a minute the fullest is shown, and what falls once that is over', async () => {
  const { database } = bed
  const shown = async () =>
    (await readOverview(database)).unattested.map(
      ({ chainId, paidMicroUsd, maxMicroUsd }) => `${chainId}: ${paidMicroUsd} of ${maxMicroUsd}`,
    )
  const tell = (text: string) => keepExposure(database, parseExposure(text))
  const pass = (seconds: number) =>
    database.query("update solver_exposure set told_at = told_at - $1 * interval '1 second'", [seconds])
  expect(await shown()).toEqual([])
  await tell('')
  await tell('0:900:1000,10:80:100,8453:0:500')
  expect(await shown()).toEqual(['0: 900 of 1000', '10: 80 of 100', '8453: 0 of 500'])
  // Another solver has room, and hides nothing; one that is fuller is seen at once, whatever its cap.
  await tell('0:100:1000,10:9:10')
  expect(await shown()).toEqual(['0: 900 of 1000', '10: 9 of 10', '8453: 0 of 500'])
  await pass(61)
  await tell('0:100:1000')
  expect(await shown()).toEqual(['0: 100 of 1000', '10: 9 of 10', '8453: 0 of 500'])
  await pass(21)
  expect(await shown()).toEqual(['0: 100 of 1000'])
  expect(() => exposureText.parse('10:1:1,')).toThrow()
  expect(() => exposureText.parse('10:-1:1')).toThrow()
})

it.each<[string, string, readonly string[]]>([
  ['days', daysSql, ['settlement_settled', 'orders_pkey']],
  ['statuses', statusesSql, ['request_event_pkey']],
  ['what is on its way', inFlightSql, ['settlement_due']],
  ['work', oldestWorkSql, ['work_item_open', 'work_item_reported']],
  ['sponsors', sponsorsSql, []],
])('Q-130: %s are read from an index', async (_what, sql, indexes) => {
  const rows = await bed.database.query(`explain ${sql}`, [], { isPlannedEachTime: true })
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  for (const index of indexes) expect(plan).toMatch(new RegExp(`using ${index} |on ${index} `))
  expect(plan).not.toMatch(/Seq Scan on (orders|settlement|request_event|work_item|webhook_delivery)/)
})
