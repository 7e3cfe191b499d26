import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { serviceEnvironment } from '../apps/quote-api/test/fixtures/service.ts'
import { fixedWorkUs } from './fixedWork.ts'
import { type LoadResult, load, median } from './load.ts'
import { type BenchProcess, startBenchProcess, startQuoteServer } from './process.ts'
import { measureQuoteFloor } from './quoteFloor.ts'
import type { BenchRow } from './row.ts'

const connections = 32
const rounds = 5
const seconds = 4

/** Users and amounts of their own, so that no answer repeats; `more` is added to each body. */
export function bodies(network: TestNetwork, { count = 1_000, more = {} } = {}): string[] {
  const { base, optimism } = network.deployment
  const accounts = Array.from(
    { length: count },
    (_, index) => `0x${(index + 1).toString(16).padStart(40, 'c')}`,
  )
  const sideOf = ({ chainId, tokens }: typeof base) => ({
    chainId,
    currency: tokens.USDC,
    unitsPerDollar: 1_000_000,
    leastDollars: 5,
    accounts,
  })
  return dollarBodies({ from: sideOf(base), to: sideOf(optimism), more })
}

/** The order's signature is a part of the quote. */
const signedInAnswer = { includeProtocolData: true }

export type QuoteSide = {
  readonly chainId: number
  readonly currency: string
  /** Smallest units of the currency that are worth a dollar. */
  readonly unitsPerDollar: number
  /** Dollars that the first user sends; the last of a thousand sends eight more. */
  readonly leastDollars: number
  /** Users or recipients, who take turns. */
  readonly accounts: readonly string[]
}

/** Dollars for dollars: one body per user, every amount its own. */
export function dollarBodies(args: {
  readonly from: QuoteSide
  readonly to: QuoteSide
  readonly more?: object
}): string[] {
  const { from, to, more = {} } = args
  const microDollarsOf = (index: number) => from.leastDollars * 1_000_000 + index * 7_919
  return from.accounts.map((user, index) =>
    JSON.stringify({
      user,
      recipient: to.accounts[index],
      originChainId: from.chainId,
      destinationChainId: to.chainId,
      originCurrency: from.currency,
      destinationCurrency: to.currency,
      // No finer than a millionth of a dollar, which is what transfers on Hyperliquid can move.
      amount: String(Math.floor((microDollarsOf(index) * from.unitsPerDollar) / 1_000_000)),
      tradeType: 'EXACT_INPUT',
      ...more,
    }),
  )
}

export type Target = {
  readonly name: string
  readonly url: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent instead of the common ones. */
  readonly texts?: readonly string[]
  /** The process whose time on processors is reported beside the rate. */
  readonly pid?: number | undefined
}

/** Rounds of two seconds until one is no faster than the one before. */
const warmUpRoundsMax = 12

/** Until the code of a target is compiled: one of few requests per second takes longer, and would be judged before it. */
async function warmUp(run: (forSeconds: number) => Promise<LoadResult>): Promise<void> {
  let before = 0
  for (let round = 0; round < warmUpRoundsMax; round += 1) {
    const { requestsPerSecond } = await run(2)
    if (requestsPerSecond < 1.1 * before) return
    before = requestsPerSecond
  }
}

/** Every target once per round, in turn, so that a noisy minute hits all of them. */
export async function alternate(
  targets: readonly Target[],
  texts: readonly string[],
): Promise<Map<string, LoadResult[]>> {
  const results = new Map<string, LoadResult[]>(targets.map(({ name }) => [name, []]))
  const run = ({ url, path, headers = {}, pid, ...target }: Target, forSeconds: number) =>
    load({ url, path, headers, bodies: target.texts ?? texts, connections, seconds: forSeconds, pid })
  for (const target of targets) await warmUp((forSeconds) => run(target, forSeconds))
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) {
      const { name } = target
      const result = await run(target, seconds)
      if (result.failed > 0)
        throw new Error(`${name}: ${result.failed} requests failed, the first with ${result.refusal}`)
      results.get(name)?.push(result)
    }
  }
  return results
}

async function answerBytes(url: string, path: string, body: string): Promise<number> {
  const response = await fetch(url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${text}`)
  return Buffer.byteLength(text)
}

export type QuoteBenchOptions = {
  /** Adds to the environment of the service, e.g. another configuration folder. */
  readonly environment?: (network: TestNetwork, directory: string) => Promise<Record<string, string>>
}

/** Runs `/price` and `/quote` beside routes of constant bytes. */
async function measure(options: QuoteBenchOptions): Promise<Map<string, LoadResult[]>> {
  const network = await startTestNetwork({ blockTimeSeconds: 2 })
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  const processes: BenchProcess[] = []
  const keep = async (starting: Promise<BenchProcess>) => {
    const started = await starting
    processes.push(started)
    return started
  }
  try {
    const texts = bodies(network)
    const [first = ''] = texts
    const extra = (await options.environment?.(network, directory)) ?? {}
    const environment = { ...process.env, ...(await serviceEnvironment(network, directory)), ...extra }
    const probe = await keep(
      startQuoteServer({ ...environment, BENCH_PRICE_BYTES: '100', BENCH_QUOTE_BYTES: '100' }),
    )
    const priceBytes = await answerBytes(probe.url, '/price', first)
    const quoteBytes = await answerBytes(probe.url, '/quote', first)
    await probe.stop()
    const sizes = { BENCH_PRICE_BYTES: String(priceBytes), BENCH_QUOTE_BYTES: String(quoteBytes) }
    const { url, child } = await keep(startQuoteServer({ ...environment, ...sizes }))
    const { pid } = child
    const nakedScript = new URL('./nakedServer.mjs', import.meta.url).pathname
    const naked = await keep(
      startBenchProcess(nakedScript, { ...process.env, BENCH_ANSWER_BYTES: String(priceBytes) }),
    )
    return await alternate(
      [
        { name: 'base of /price', url, path: '/bench/price', pid },
        { name: '/price', url, path: '/price', pid },
        { name: 'base of /quote', url, path: '/bench/quote', pid },
        { name: '/quote', url, path: '/quote', pid },
        {
          name: '/quote, signed',
          url,
          path: '/quote',
          pid,
          texts: bodies(network, { more: signedInAnswer }),
        },
        { name: 'naked Fastify', url: naked.url, path: '/bench/naked', pid: naked.child.pid },
      ],
      texts,
    )
  } finally {
    for (const started of processes) await started.stop()
    await network.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

export function ratioOf(results: Map<string, LoadResult[]>, name: string, baseName: string): number {
  const rates = results.get(name) ?? []
  const bases = results.get(baseName) ?? []
  return median(
    rates.map(({ requestsPerSecond }, round) => requestsPerSecond / (bases[round]?.requestsPerSecond ?? 1)),
  )
}

export function describe(results: Map<string, LoadResult[]>, name: string): string {
  const runs = results.get(name) ?? []
  const rate = median(runs.map(({ requestsPerSecond }) => requestsPerSecond))
  const p50 = median(runs.map(({ p50Ms }) => p50Ms))
  const p99 = median(runs.map(({ p99Ms }) => p99Ms))
  const cpu = median(runs.map(({ cpuMsPerRequest }) => cpuMsPerRequest))
  const spent = Number.isNaN(cpu) ? '' : `, ${cpu.toFixed(3)} CPU ms`
  return `${rate.toFixed(0)}/s, p50 ${p50} ms, p99 ${p99} ms${spent}`
}

function machineUs(results: Map<string, LoadResult[]>, name: string): number {
  return 1_000 * median((results.get(name) ?? []).map((result) => result.machineCpuMsPerRequest))
}

/** Upper bound of P2 with everything on one machine, and the cost of a quote beyond its unavoidable parts. */
async function ceilingRows(results: Map<string, LoadResult[]>): Promise<readonly BenchRow[]> {
  const baseUs = machineUs(results, 'base of /quote')
  const { signUs, storeUs } = await measureQuoteFloor()
  const floor = `base ${baseUs.toFixed(0)}, signature and check ${signUs.toFixed(0)}, durable insert ${storeUs.toFixed(0)}`
  const spentBy = (name: string) =>
    `a quote ${machineUs(results, name).toFixed(0)} µs of all processors; ${floor}`
  return [
    {
      id: 'P2-ceiling',
      name: 'P2 if all but base and durable insert were free',
      value: spentBy('/quote'),
      limit: '>= 0.15 of Base',
      ratio: baseUs / (baseUs + storeUs),
      goal: 0.15,
      atLeast: true,
    },
    {
      id: 'P19',
      name: 'a signed quote over the sum of base, signature with check and durable insert',
      value: spentBy('/quote, signed'),
      limit: '<= 2.6',
      ratio: machineUs(results, '/quote, signed') / (baseUs + signUs + storeUs),
      goal: 2.6,
      atLeast: false,
    },
  ]
}

/** Processor time of a route beyond its base, in fixed works, so that it says the same on every host. */
function beyondBase(
  results: Map<string, LoadResult[]>,
  { id, route, goal }: { readonly id: string; readonly route: string; readonly goal: number },
): BenchRow {
  const cpuUs = (name: string) =>
    1_000 * median((results.get(name) ?? []).map(({ cpuMsPerRequest }) => cpuMsPerRequest))
  const beyondUs = cpuUs(route) - cpuUs(`base of ${route}`)
  const workUs = fixedWorkUs()
  return {
    id,
    name: `processor time of ${route} beyond its base, against a fixed work`,
    value: `${beyondUs.toFixed(0)} µs; fixed work ${workUs.toFixed(0)} µs`,
    limit: `<= ${goal} works`,
    ratio: beyondUs / workUs,
    goal,
    atLeast: false,
  }
}

/** P1 and P2, and what the framework alone would do. */
export async function benchQuotes(): Promise<readonly BenchRow[]> {
  const results = await measure({})
  const naked = ratioOf(results, '/price', 'naked Fastify')
  return [
    {
      id: 'P1',
      name: `POST /price, same-asset bridge, warm, ${connections} connections (${naked.toFixed(2)} of naked Fastify)`,
      value: `${describe(results, '/price')}; base ${describe(results, 'base of /price')}`,
      limit: '>= 0.42 of Base',
      ratio: ratioOf(results, '/price', 'base of /price'),
      goal: 0.42,
      atLeast: true,
    },
    {
      id: 'P2',
      name: 'POST /quote unsponsored: steps, order id, durable store',
      value: `${describe(results, '/quote')}; base ${describe(results, 'base of /quote')}`,
      limit: '>= 0.15 of Base',
      ratio: ratioOf(results, '/quote', 'base of /quote'),
      goal: 0.15,
      atLeast: true,
    },
    {
      id: 'P2s',
      name: 'the same with the signature in the answer',
      value: describe(results, '/quote, signed'),
      limit: '>= 0.12 of Base',
      ratio: ratioOf(results, '/quote, signed', 'base of /quote'),
      goal: 0.12,
      atLeast: true,
    },
    beyondBase(results, { id: 'P1-us', route: '/price', goal: 0.75 }),
    beyondBase(results, { id: 'P2-us', route: '/quote', goal: 1.3 }),
    ...(await ceilingRows(results)),
  ]
}

/** Growth: the same work with 70 chains and ten times the currencies in the configuration. */
export async function benchGrowth(environment: QuoteBenchOptions['environment']): Promise<BenchRow> {
  const results = await measure({ ...(environment !== undefined && { environment }) })
  return {
    id: 'P1-growth',
    name: 'P1 with 10 x the currencies and 70 chains',
    value: describe(results, '/price'),
    limit: '>= 0.42 of Base',
    ratio: ratioOf(results, '/price', 'base of /price'),
    goal: 0.42,
    atLeast: true,
  }
}
