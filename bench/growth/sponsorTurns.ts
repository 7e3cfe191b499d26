// `npm run bench -- growth-turns`: what a sponsored quote costs where a hundred sponsors take turns against where one asks,
// round by round of each, in half a minute. Its ratio counts the service and PostgreSQL alone, so that others who use the
// machine meanwhile do not weigh.
import type { SqlDatabase } from '@causeway/core'
import { createSponsor } from '../../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { type LoadBody, type LoadResult, load, median } from '../load.ts'
import { familyCpuMs } from '../processFigures.ts'
import { type QuoteBed, withQuoteBed } from '../quoteBed.ts'
import { bodies } from '../quoteBench.ts'
import type { BenchRow } from '../row.ts'

const sponsors = 100
const rounds = 3
const seconds = 4
const connections = 32
const users = 900

type Spent = { readonly machine: number; readonly service: number; readonly postgres: number }

export async function benchSponsorTurns(): Promise<BenchRow> {
  const { one, many } = await withQuoteBed(measureTurns)
  return {
    id: 'growth-turns',
    name: `sponsored quote, ${sponsors} sponsors in turn against one: time on processors of the service and PostgreSQL`,
    value: `one: ${describe(one)}; ${sponsors}: ${describe(many)}`,
    limit: '<= 1.5 x',
    ratio: ownUs(many) / ownUs(one),
    goal: 1.5,
    atLeast: false,
  }
}

async function measureTurns(bed: QuoteBed): Promise<{ one: readonly Spent[]; many: readonly Spent[] }> {
  const keys = await moreSponsors(bed.database, sponsors)
  await bed.database.query('vacuum analyze')
  const [of1, of100] = [asked(bed, keys.slice(0, 1)), asked(bed, keys)]
  const [one, many]: [Spent[], Spent[]] = [[], []]
  // The first of each warms up.
  for (let round = 0; round <= rounds; round += 1) {
    one.push(await measureRound(bed, of1))
    many.push(await measureRound(bed, of100))
  }
  return { one: one.slice(1), many: many.slice(1) }
}

/** Each body is of one sponsor for good; neighbours are of sponsors far apart. */
function asked({ network }: QuoteBed, keys: readonly string[]): readonly LoadBody[] {
  return bodies(network, { count: users, more: { subsidizeFees: true } }).map((body, index) => ({
    body,
    headers: { 'x-api-key': keys[(index * 7_919) % keys.length] ?? '' },
  }))
}

async function measureRound(
  { server, service: { url, child } }: QuoteBed,
  sent: readonly LoadBody[],
): Promise<Spent> {
  const before = familyCpuMs(server.pid)
  const result = await load({ url, path: '/quote', bodies: sent, connections, seconds, pid: child.pid })
  const postgresMs = familyCpuMs(server.pid) - before
  return spentPerQuote(result, postgresMs)
}

function spentPerQuote(result: LoadResult, postgresMs: number): Spent {
  const { failed, refusal, cpuMsPerRequest, machineCpuMsPerRequest } = result
  if (failed > 0) throw new Error(`${failed} requests failed, the first with ${refusal}`)
  return {
    machine: 1_000 * machineCpuMsPerRequest,
    service: 1_000 * cpuMsPerRequest,
    postgres: (1_000 * postgresMs) / (result.requestsPerSecond * seconds),
  }
}

/** Their keys. A balance that no bench uses up. */
export async function moreSponsors(database: SqlDatabase, count: number): Promise<readonly string[]> {
  const keys: string[] = []
  for (let made = 0; made < count; made += 1) keys.push((await createSponsor(database, 10n ** 12n)).apiKey)
  return keys
}

/** The median of each by itself. */
function middle(spent: readonly Spent[]): Spent {
  return {
    machine: median(spent.map(({ machine }) => machine)),
    service: median(spent.map(({ service }) => service)),
    postgres: median(spent.map(({ postgres }) => postgres)),
  }
}

function ownUs(spent: readonly Spent[]): number {
  const { service, postgres } = middle(spent)
  return service + postgres
}

function describe(spent: readonly Spent[]): string {
  const { machine, service, postgres } = middle(spent)
  const rounded = [machine, service, postgres].map((us) => us.toFixed(0))
  return `service ${rounded[1]} and PostgreSQL ${rounded[2]} of ${rounded[0]} µs of all processors a quote`
}
