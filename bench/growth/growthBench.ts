// `npm run bench -- growth`: what one request costs at today's size and at a hundred times as much of everything, each kind
// of growth by itself and in one run. It draws the three that matter most: `-- growth --draw` writes them for the page.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadResult, load, median } from '../load.ts'
import { type QuoteBed, withQuoteBed } from '../quoteBed.ts'
import { bodies } from '../quoteBench.ts'
import type { BenchRow } from '../row.ts'
import { measureMerging } from '../signatureBench.ts'
import { readStatuses, storeCopies, storeOne } from '../statusBench.ts'
import { type GrownTo, grownEnvironment } from './grownConfig.ts'
import { type Curve, drawCurves } from './growthPlot.ts'
import { moreSponsors } from './sponsorTurns.ts'

const rounds = 3
const seconds = 4
const connections = 32
/** Largest ratio of a row's cost at the end of its growth to that at its beginning. */
const goal = 1.5

const steps = {
  chains: [
    { chains: 2, currenciesPerChain: 5 },
    { chains: 30, currenciesPerChain: 50 },
    { chains: 100, currenciesPerChain: 50 },
  ],
  sponsors: [1, 100, 10_000],
  /** `GROWTH_REQUESTS` goes further than the disk of everybody. */
  requests: [10_000, 100_000, 1_000_000, Number(process.env['GROWTH_REQUESTS'] ?? 1_000_000)],
  pollers: [100, 300, 1_000],
  peers: [20, 50, 200],
} as const

type Measured = { readonly name: string; readonly unit: string; readonly points: Curve['points'] }

const kinds: readonly { readonly id: string; measure(): Promise<readonly Measured[]> }[] = [
  { id: 'growth-chains', measure: growChains },
  { id: 'growth-sponsors', measure: growSponsors },
  { id: 'growth-requests', measure: growRequests },
  { id: 'growth-pollers', measure: growPollers },
  { id: 'growth-peers', measure: growPeers },
]

export const growthIds: readonly string[] = ['growth', ...kinds.map(({ id }) => id)]

/** Whatever of `growthIds` is wanted; all of it by `growth`. */
export async function benchGrown(wanted: ReadonlySet<string>): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  const curves: Curve[] = []
  for (const { id, measure } of kinds) {
    if (wanted.size > 0 && !wanted.has('growth') && !wanted.has(id)) continue
    for (const measured of await measure()) {
      rows.push(rowOf(id, measured))
      curves.push({ name: measured.name, points: measured.points })
    }
  }
  if (wanted.has('--draw')) await drawCurves(curves)
  return rows
}

function rowOf(id: string, { name, unit, points }: Measured): BenchRow {
  const [first, last] = [points[0]?.cost ?? Number.NaN, points.at(-1)?.cost ?? Number.NaN]
  const value = points.map(({ size, cost }) => `${size.toLocaleString('en-US')}: ${cost.toFixed(1)} ${unit}`)
  return {
    id,
    name: `${name}, from the first size to the last`,
    value: value.join('; '),
    limit: `<= ${goal} x`,
    ratio: last / first,
    goal,
    atLeast: false,
  }
}

/** Processor time of the service for one `/price`, its memory unseen: nothing but configuration grows. */
async function growChains(): Promise<readonly Measured[]> {
  const points: Curve['points'] = []
  for (const grown of steps.chains) {
    const cost = await withGrown(grown, async ({ network, service: { url, child } }) => {
      const ask = () =>
        load({ url, path: '/price', bodies: bodies(network), connections, seconds, pid: child.pid })
      return serviceUs(await warm(ask))
    })
    points.push({ size: grown.chains * grown.currenciesPerChain, cost })
  }
  return [{ name: 'price, by configured currencies', unit: 'µs', points }]
}

async function withGrown<T>(grown: GrownTo, work: (bed: QuoteBed) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-grown-'))
  try {
    return await withQuoteBed(work, () => grownEnvironment(directory, grown))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Time of all processors for one sponsored quote, by how many sponsors take turns. */
function growSponsors(): Promise<readonly Measured[]> {
  return withQuoteBed(async ({ network, database, service: { url, child } }) => {
    const texts = bodies(network, { count: 900, more: { subsidizeFees: true } })
    const keys: string[] = []
    const points: Curve['points'] = []
    for (const size of steps.sponsors) {
      while (keys.length < size)
        keys.push(...(await moreSponsors(database, Math.min(size - keys.length, 50))))
      await database.query('vacuum analyze')
      // Neighbours among the bodies are of sponsors far apart.
      const sent = Array.from({ length: Math.max(size, texts.length) }, (_, index) => ({
        body: texts[index % texts.length] ?? '',
        headers: { 'x-api-key': keys[(index * 7_919) % size] ?? '' },
      }))
      const ask = () => load({ url, path: '/quote', bodies: sent, connections, seconds, pid: child.pid })
      points.push({ size, cost: machineUs(await warm(ask)) })
    }
    return [{ name: 'sponsored quote, by sponsors', unit: 'µs', points }]
  })
}

/** Time of all processors for one stored quote, and how long a status takes at 500 in a second, by what is stored. */
function growRequests(): Promise<readonly Measured[]> {
  return withQuoteBed(
    async ({ network, database, service: { url, child } }) => {
      const texts = bodies(network)
      await storeOne(url, texts[0] ?? '')
      const quotes: Curve['points'] = []
      const statuses: Curve['points'] = []
      let stored = 0
      for (const size of new Set(steps.requests)) {
        await storeCopies(database, { from: stored + 1, to: size })
        stored = size
        const ask = () => load({ url, path: '/quote', bodies: texts, connections, seconds, pid: child.pid })
        quotes.push({ size, cost: machineUs(await warm(ask)) })
        const reads = []
        for (let round = 0; round <= rounds; round += 1)
          reads.push(await readStatuses(url, { stored, round }))
        const failed = reads.reduce((sum, read) => sum + read.failed, 0)
        if (failed > 0) throw new Error(`${failed} reads failed`)
        statuses.push({ size, cost: 1_000 * median(reads.slice(1).map(({ p50Ms }) => p50Ms)) })
      }
      return [
        { name: 'quote, by stored requests', unit: 'µs', points: quotes },
        { name: 'status, p50, by stored requests', unit: 'µs', points: statuses },
      ]
    },
    // Requests that nobody deposited for, under ids that no order has: jobs have no business with them.
    () => ({ JOBS: 'off' }),
  )
}

/** The answer that only one in a hundred waits longer for, by clients that each ask once in a second. */
function growPollers(): Promise<readonly Measured[]> {
  return withQuoteBed(async ({ network, database, service: { url } }) => {
    await storeOne(url, bodies(network, { count: 1 })[0] ?? '')
    const stored = 10_000
    await storeCopies(database, { from: 1, to: stored })
    const points: Curve['points'] = []
    for (const size of steps.pollers) {
      const p99: number[] = []
      for (let round = 0; round <= rounds; round += 1) {
        const read = await readStatuses(url, { stored, round, rate: size, connections: size })
        if (read.failed > 0) throw new Error(`${read.failed} polls failed`)
        p99.push(1_000 * read.p99Ms)
      }
      points.push({ size, cost: median(p99.slice(1)) })
    }
    return [{ name: 'poll of a status, p99, by pollers', unit: 'µs', points }]
  })
}

/** Processor time per peer for reading, verifying and merging its answer to a fill. */
async function growPeers(): Promise<readonly Measured[]> {
  const points: Curve['points'] = []
  for (const size of steps.peers) {
    const { mergedUs } = await measureMerging(size, Math.ceil(2_000 / size))
    points.push({ size, cost: mergedUs / size })
  }
  return [{ name: 'answer of a peer, by peers', unit: 'µs', points }]
}

/** The first two warm up. */
async function warm(ask: () => Promise<LoadResult>): Promise<readonly LoadResult[]> {
  const results: LoadResult[] = []
  for (let round = 0; round < rounds + 2; round += 1) {
    const result = await ask()
    if (result.failed > 0)
      throw new Error(`${result.failed} requests failed, the first with ${result.refusal}`)
    results.push(result)
  }
  return results.slice(2)
}

const serviceUs = (results: readonly LoadResult[]) =>
  1_000 * median(results.map(({ cpuMsPerRequest }) => cpuMsPerRequest))

const machineUs = (results: readonly LoadResult[]) =>
  1_000 * median(results.map(({ machineCpuMsPerRequest }) => machineCpuMsPerRequest))
