// P18: from the block of a deposit at the depth of its pin to the work that a solver is offered, where nodes tell of their
// blocks and where the chain is looked at by the clock.
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import {
  type SettlementBed,
  startSettlementBed,
  startStandInOracles,
} from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import type { BenchRow } from './row.ts'
import { percentile } from './steadyLoad.ts'

const samples = 30
const warmups = 3
/** So long an allowance counts that the last deposit has spent. */
const factsMs = 2_000
const patienceMs = 60_000
const goalMs = 150

/** @throws Error when a deposit becomes no work */
export async function benchDepositLatency(): Promise<readonly BenchRow[]> {
  const told = await measure(true)
  const byClock = await measure(false)
  const shown = (times: readonly number[]) =>
    `p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`
  const p50 = percentile(told, 0.5)
  return [
    {
      id: 'P18',
      name: `from the block of a deposit at its pin depth to the offered work, ${samples} orders one after the other`,
      value: `${shown(told)}; by the clock alone ${shown(byClock)}`,
      limit: `p50 below ${goalMs} ms`,
      ratio: p50 / goalMs,
      goal: 1,
      atLeast: false,
    },
  ]
}

/** @returns sorted milliseconds */
async function measure(areBlocksTold: boolean): Promise<readonly number[]> {
  const oracles = await startStandInOracles()
  const bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async ({ chains }) =>
      areBlocksTold
        ? { BASE_WS_RPC_URL: socketOf(chains.base.url), OPTIMISM_WS_RPC_URL: socketOf(chains.optimism.url) }
        : {},
  })
  const clock = await blockClock(socketOf(bed.network.chains.base.url))
  try {
    const sponsor = await createSponsor(bed.database, 1_000_000_000_000n)
    const times: number[] = []
    for (let sample = -warmups; sample < samples; sample += 1) {
      const elapsedMs = await offerOnce(bed, sponsor, clock)
      if (sample >= 0) times.push(elapsedMs)
    }
    return times.toSorted((one, other) => one - other)
  } finally {
    clock.stop()
    await bed.stop()
    await oracles.stop()
  }
}

const socketOf = (url: string) => url.replace('http:', 'ws:')

export type BlockClock = { newestMs(): number; stop(): void }

/** When the newest block was told of. */
export async function blockClock(url: string): Promise<BlockClock> {
  const socket = new WebSocket(url)
  let newestMs = 0
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('open', () => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
      resolve()
    })
  })
  socket.on('message', () => {
    newestMs = performance.now()
  })
  return { newestMs: () => newestMs, stop: () => socket.terminate() }
}

/** A deposit of this size is deep enough in its own block, after which none comes before its work is looked for. */
async function offerOnce(
  { requests }: SettlementBed,
  sponsor: TestSponsor,
  clock: BlockClock,
): Promise<number> {
  await pause(factsMs)
  const quote = await requests.quoted(sponsor, { amount: 60_000_000n })
  await requests.execute(quote)
  const blockMs = clock.newestMs()
  while ((await requests.openWork(quote, 'fill')) === undefined) {
    if (performance.now() - blockMs > patienceMs) throw new Error('a deposit became no work')
    await pause(5)
  }
  return performance.now() - blockMs
}
