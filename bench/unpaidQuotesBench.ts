// P20: how soon somebody's money is reacted to beside a month of quotes that nobody paid, and a flood of
// this minute, against empty tables. Prints the reaction of each follower and what its runs read.

import type { Hex } from '@causeway/core'
import { createDatabase, type Database } from '@causeway/database'
import { quote } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { localRequest, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { jobRuns, rowsRead, storeUnpaidQuotes } from '../apps/quote-api/test/serviceSupport/unpaidQuotes.ts'
import {
  type SettlementBed,
  startSettlementBed,
  startStandInOracles,
} from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { median } from './load.ts'
import type { BenchRow } from './row.ts'

const ofMonth = 200_000
const ofNow = 8_000
const samples = 7
const windowMs = 10_000
/** Reactions wait for the next pass of a job and the next block: figures of one run differ by as much. */
const blockMs = 1_000

type Figures = Readonly<Record<string, number>>

/** @throws Error when a request does not go on */
export async function benchUnpaidQuotes(): Promise<readonly BenchRow[]> {
  const oracles = await startStandInOracles()
  const bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  const { connectionString } = bed
  const database = createDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 600_000 })
  try {
    const sponsor = await createSponsor(bed.database, 1_000_000_000_000n)
    await reactions(bed, sponsor, 1)
    const empty = await reactions(bed, sponsor, samples)
    const emptyRows = await rowsPerRun(bed, database)
    const { requestId } = await quoteByAddress(bed)
    await storeUnpaidQuotes(database, { requestId, ofNow: 0, ofMonth })
    const monthRows = await rowsPerRun(bed, database)
    const month = await reactions(bed, sponsor, samples)
    await storeUnpaidQuotes(database, { requestId, ofNow, ofMonth: 0 })
    const flooded = await reactions(bed, sponsor, samples)
    const floodedRows = await rowsPerRun(bed, database)
    return [
      ...Object.keys(empty).map((follower) => rowOf(follower, { empty, month, flooded })),
      {
        id: 'P20-rows',
        name: 'rows and index entries read per run of a job: empty tables, a month, a month and a flood',
        value: [emptyRows, monthRows, floodedRows].map((rows) => rows.toFixed(0)).join(', '),
        limit: '<= 1,000 whatever the tables hold',
        ratio: Math.max(monthRows, floodedRows) / 1_000,
        goal: 1,
        atLeast: false,
      },
    ]
  } finally {
    await database.close()
    await bed.stop()
    await oracles.stop()
  }
}

function rowOf(
  follower: string,
  { empty, month, flooded }: { readonly empty: Figures; readonly month: Figures; readonly flooded: Figures },
): BenchRow {
  const [before = 0, beside = 0, among = 0] = [empty[follower], month[follower], flooded[follower]]
  return {
    id: 'P20',
    name: `${follower}, ${ofMonth} unpaid quotes of a month and ${ofNow} of this minute against none`,
    value: `median ${before.toFixed(0)} ms with none, ${beside.toFixed(0)} ms with a month, ${among.toFixed(0)} ms with both`,
    limit: '<= 1 block of a second more than with none',
    ratio: (Math.max(beside, among) - before) / blockMs,
    goal: 1,
    atLeast: false,
  }
}

async function reactions(bed: SettlementBed, sponsor: TestSponsor, count: number): Promise<Figures> {
  const figures = new Map<string, number[]>()
  for (let sample = 0; sample < count; sample += 1) {
    for (const [follower, ms] of [...(await settle(bed, sponsor)), ...(await payAddress(bed))])
      figures.set(follower, [...(figures.get(follower) ?? []), ms])
  }
  return Object.fromEntries([...figures].map(([follower, times]) => [follower, median(times)]))
}

type Timed = readonly (readonly [follower: string, elapsedMs: number])[]

/** From the block of the user's or solver's transaction on. */
async function settle({ requests, solver, database }: SettlementBed, sponsor: TestSponsor): Promise<Timed> {
  const one = await requests.quoted(sponsor, { amount: 60_000_000n })
  await requests.execute(one)
  const fillAsked = await timed(() => hasWork(database, one.requestId, 'fill'))
  await solver.carryOut(await requests.workFor(one, 'fill'))
  const succeeded = await timed(() => has(database, one.requestId, 'orders', 'status', 'success'))
  const settled = await timed(() => has(database, one.requestId, 'settlement', 'stage', 'settled'))
  const other = await requests.quoted(sponsor, { amount: 60_000_000n })
  await requests.deposit(other, { amount: 30_000_000n })
  const refundAsked = await timed(() => hasWork(database, other.requestId, 'refund'))
  return [
    ['deposits: from the deposit to the offered fill', fillAsked],
    ['fills: from the reported fill to success', succeeded],
    ['attestations: from success to the debit', settled],
    ['deposits: from an unfit deposit to the offered refund', refundAsked],
  ]
}

async function payAddress(bed: SettlementBed): Promise<Timed> {
  const { requestId, steps } = await quoteByAddress(bed)
  // CAST: the wire describes an address as text.
  const to = steps[0]?.depositAddress as Hex | undefined
  if (to === undefined) throw new Error('the quote has no deposit address')
  const payment = { what: 'payment', to, data: '0x', valueWei: 10n ** 17n } as const
  await bed.network.chains.base.chain.send(userOf(bed.network, 1), [payment])
  const elapsedMs = await timed(() => hasWork(bed.database, requestId, 'sweep'))
  return [['deposit addresses: from the payment to the offered sweep', elapsedMs]]
}

function quoteByAddress({ network, url }: SettlementBed) {
  const more = { useDepositAddress: true, refundTo: userOf(network, 1).address }
  const native = { pay: 'native', receive: 'native', amount: 10n ** 17n } as const
  return quote(url, localRequest(network, { ...native, more }))
}

const bytesOf = (requestId: string) => Buffer.from(requestId.slice(2), 'hex')

async function hasWork(database: Database, requestId: string, kind: string): Promise<boolean> {
  const rows = await database.query('select 1 from work_item where request_id = $1 and kind = $2', [
    ...[bytesOf(requestId), kind],
  ])
  return rows.length > 0
}

async function has(
  database: Database,
  requestId: string,
  table: 'orders' | 'settlement',
  column: 'status' | 'stage',
  value: string,
): Promise<boolean> {
  const sql = `select 1 from ${table} where request_id = $1 and ${column} = $2`
  return (await database.query(sql, [bytesOf(requestId), value])).length > 0
}

/** @returns milliseconds until it holds */
async function timed(holds: () => Promise<boolean>): Promise<number> {
  const startedAtMs = performance.now()
  while (!(await holds())) {
    if (performance.now() - startedAtMs > 120_000) throw new Error('a request did not go on')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - startedAtMs
}

/** Median of three windows: what is read once in a while is no cost of a run. */
async function rowsPerRun(bed: SettlementBed, database: Database): Promise<number> {
  const windows: number[] = []
  for (let window = 0; window < 3; window += 1) windows.push(await rowsInWindow(bed, database))
  return median(windows)
}

async function rowsInWindow({ opsUrl }: SettlementBed, database: Database): Promise<number> {
  const runsNow = async () => [...(await jobRuns(opsUrl)).values()].reduce((sum, runs) => sum + runs, 0)
  const [rows, runs] = [await rowsRead(database), await runsNow()]
  await new Promise((resolve) => setTimeout(resolve, windowMs))
  return ((await rowsRead(database)) - rows) / ((await runsNow()) - runs)
}
