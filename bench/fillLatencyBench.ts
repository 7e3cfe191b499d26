// P21: from a deposit at the depth of its pin to the broadcast fill, through both services and every check of the solver.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SpawnedService, solverEnvironment, spawnSolver } from '@causeway/localnet'
import {
  type SettlementBed,
  solverKey,
  startSettlementBed,
  startStandInOracles,
} from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { type BlockClock, blockClock } from './depositLatencyBench.ts'
import type { BenchRow } from './row.ts'
import { percentile } from './steadyLoad.ts'

const samples = 100
const warmups = 3
const patienceMs = 120_000
const goalsMs = { p50: 250, p99: 1_000 }

/** @throws Error when an order is not filled */
export async function benchFillLatency(): Promise<readonly BenchRow[]> {
  const oracles = await startStandInOracles()
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  const bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async ({ chains }) => blocksTold(chains),
  })
  const clock = await blockClock(blocksTold(bed.network.chains).BASE_WS_RPC_URL)
  let solver: SpawnedService | undefined
  try {
    solver = await startSolver(bed, directory)
    const sponsor = await createSponsor(bed.database, 1_000_000_000_000n)
    const times: number[] = []
    const behindBlock: number[] = []
    for (let sample = -warmups; sample < samples; sample += 1) {
      const { elapsedMs, behindBlockMs } = await fillOnce(bed, sponsor, clock)
      if (sample < 0) continue
      times.push(elapsedMs)
      behindBlock.push(behindBlockMs)
    }
    for (const list of [times, behindBlock]) list.sort((one, other) => one - other)
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
    const behind = percentile(behindBlock, 0.5)
    return [
      {
        id: 'P21',
        name: `from a deposit at its pin depth to the broadcast fill, ${samples} orders one after the other`,
        value: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; p50 ${behind.toFixed(0)} ms behind the newest block`,
        limit: `<= 1 of p50 ${goalsMs.p50} ms and p99 ${goalsMs.p99} ms`,
        ratio: Math.max(p50 / goalsMs.p50, p99 / goalsMs.p99),
        goal: 1,
        atLeast: false,
      },
    ]
  } finally {
    solver?.kill('SIGKILL')
    await solver?.ended
    clock.stop()
    await bed.stop()
    await oracles.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** As a local network does it: nodes tell both services of their blocks. */
const blocksTold = ({ base, optimism }: SettlementBed['network']['chains']) => ({
  BASE_WS_RPC_URL: base.url.replace('http:', 'ws:'),
  OPTIMISM_WS_RPC_URL: optimism.url.replace('http:', 'ws:'),
})

async function startSolver(bed: SettlementBed, directory: string): Promise<SpawnedService> {
  const { network, connectionString, url } = bed
  await bed.database.query('create database solver_of_bench')
  const databaseUrl = new URL(connectionString)
  databaseUrl.pathname = '/solver_of_bench'
  const solver = spawnSolver({
    ...solverEnvironment(network, {
      quoteApiUrl: url,
      quoteApiKey: solverKey,
      databaseUrl: databaseUrl.toString(),
      directory,
      opsPort: 0,
      pollMs: 500,
    }),
    ...blocksTold(network.chains),
    ECDSA_PRIVATE_KEY: network.keys.fillWallet.privateKey,
  })
  await solver.ready()
  return solver
}

/**
 * A deposit of this size is deep enough for quote-api in the newest block, and for the solver in the one behind it: its
 * receipt is the begin. The end is the transaction in the pool of its node, or in a block that came before anybody
 * could look. Most of the time in between is a wait for that block, so the time behind it is told as well.
 */
async function fillOnce(
  { network, requests }: SettlementBed,
  sponsor: TestSponsor,
  clock: BlockClock,
): Promise<{ readonly elapsedMs: number; readonly behindBlockMs: number }> {
  const { chain } = network.chains.optimism
  const { address } = network.keys.fillWallet
  const sentCount = () => chain.client.getTransactionCount({ address, blockTag: 'pending' })
  const quote = await requests.quoted(sponsor, { amount: 60_000_000n })
  // The wallet pays nothing but this order, and a fill is one transaction.
  const before = await sentCount()
  await requests.execute(quote)
  const beganMs = performance.now()
  while ((await sentCount()) === before) {
    if (performance.now() - beganMs > patienceMs) throw new Error('an order was not filled')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const nowMs = performance.now()
  const times = { elapsedMs: nowMs - beganMs, behindBlockMs: nowMs - clock.newestMs() }
  await requests.reaches(quote, 'success')
  return times
}
