import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createSponsor } from '../../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { cpuMs, machineCpuMs } from '../processFigures.ts'
import { withQuoteBed } from '../quoteBed.ts'
import type { BenchRow } from '../row.ts'
import { type DistantChain, describeDelays, startDistantChain } from './distantEndpoints.ts'
import { goalRate, goalRows } from './goals.ts'
import { openLoad } from './openLoad.ts'
import { watchPriceAges } from './priceAges.ts'
import { createMix, type MixedRequest } from './routeMix.ts'
import { printRun, type RateRun, summaryOf } from './runReport.ts'
import { seededRandom } from './seededRandom.ts'

const warmUpSeconds = 4
/** A key has at most 1,000 holds open at once. */
const sponsors = 4
const balanceMicroUsd = 10n ** 15n
const hangingSeconds = 60
const aroundHangingSeconds = 10

type Options = {
  readonly rates: readonly number[]
  readonly seconds: number
  readonly goalSeconds: number
  readonly seed: number
}

/**
 * `LATENCY_RATES=10,50` requests per second, `LATENCY_SECONDS` of each, `LATENCY_SEED`. The rate that has goals takes
 * long enough for an endpoint to hang for a whole minute, unless `LATENCY_SECONDS` is given.
 */
function readOptions(environment: NodeJS.ProcessEnv): Options {
  const given = environment['LATENCY_SECONDS']
  return {
    rates: (environment['LATENCY_RATES'] ?? '10,50,100,200').split(',').map(Number),
    seconds: Number(given ?? 20),
    goalSeconds: Number(given ?? hangingSeconds + 2 * aroundHangingSeconds),
    seed: Number(environment['LATENCY_SEED'] ?? 20_261_126),
  }
}

/** P17: a day's mix over endpoints as far away as public ones. Timings fail nothing. */
export async function benchLatency(): Promise<readonly BenchRow[]> {
  const options = readOptions(process.env)
  const chains: DistantChain[] = []
  const distant = async (url: string) => {
    const chain = await startDistantChain(url, options.seed + chains.length)
    chains.push(chain)
    return chain.urls
  }
  try {
    return await withQuoteBed(
      async ({ network, database, service }) => {
        const apiKeys: string[] = []
        while (apiKeys.length < sponsors)
          apiKeys.push((await createSponsor(database, balanceMicroUsd)).apiKey)
        const next = createMix(network, seededRandom(options.seed))
        const { url, child } = service
        const runs = await measureRates(options, { url, pid: child.pid, apiKeys, next, chains })
        for (const run of runs) printRun(run)
        const delays = describeDelays(chains)
        console.log(`\n${delays}`)
        await keep({ ...options, delays, runs: runs.map(summaryOf) })
        return goalRows(runs)
      },
      async ({ chains: { base, optimism, hub } }) => ({
        BASE_RPC_URL: await distant(base.url),
        OPTIMISM_RPC_URL: await distant(optimism.url),
        RELAY_RPC_URL: await distant(hub.url),
      }),
    )
  } finally {
    await Promise.all(chains.map((chain) => chain.stop()))
  }
}

type Bed = {
  readonly url: string
  readonly pid: number | undefined
  readonly apiKeys: readonly string[]
  readonly chains: readonly DistantChain[]
  readonly next: () => MixedRequest
}

async function measureRates(options: Options, bed: Bed): Promise<readonly RateRun[]> {
  const runs: RateRun[] = []
  for (const rate of options.rates) {
    await openLoad({ ...bed, rate, seconds: warmUpSeconds, isHanging: () => false })
    runs.push(await measureRate(bed, rate, rate === goalRate ? options.goalSeconds : options.seconds))
  }
  return runs
}

/** One endpoint of each chain hangs in the middle of it: for a minute, or for half of a shorter run. */
async function measureRate(bed: Bed, rate: number, seconds: number): Promise<RateRun> {
  const hangSeconds = seconds > hangingSeconds ? hangingSeconds : seconds / 2
  let isHanging = false
  let turning: Promise<unknown> = Promise.resolve()
  const turn = (hangs: boolean) => {
    isHanging = hangs
    turning = Promise.all(bed.chains.map((chain) => chain.setHanging(hangs)))
  }
  const beforeSeconds = (seconds - hangSeconds) / 2
  const timers = [
    setTimeout(turn, beforeSeconds * 1_000, true),
    setTimeout(turn, (beforeSeconds + hangSeconds) * 1_000, false),
  ]
  const ages = watchPriceAges(bed.url)
  const lag = monitorEventLoopDelay({ resolution: 1 })
  lag.enable()
  const spentMs = () => [machineCpuMs(), bed.pid === undefined ? Number.NaN : cpuMs(bed.pid)] as const
  const [machineBefore, serviceBefore] = spentMs()
  const startedMs = performance.now()
  try {
    const answers = await openLoad({ ...bed, rate, seconds, isHanging: () => isHanging })
    lag.disable()
    const [machineAfter, serviceAfter] = spentMs()
    const processorsMs = (performance.now() - startedMs) * cpus().length
    return {
      rate,
      seconds,
      hangSeconds,
      answers,
      ages: await ages.stop(),
      ownLagMs: lag.percentile(99) / 1e6,
      busyShare: (machineAfter - machineBefore) / processorsMs,
      serviceShare: (serviceAfter - serviceBefore) / processorsMs,
    }
  } finally {
    for (const timer of timers) clearTimeout(timer)
    turn(false)
    await turning
  }
}

async function keep(report: object): Promise<void> {
  const folder = new URL('../results/', import.meta.url)
  await mkdir(folder, { recursive: true })
  await writeFile(new URL('latency.json', folder), `${JSON.stringify(report, null, 2)}\n`)
}
