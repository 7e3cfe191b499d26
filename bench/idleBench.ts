// An idle quote-api: what it costs per second and chain while nobody asks it anything.
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { type FaultCounters, type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { cpuMs } from './processFigures.ts'
import { type QuoteBed, withQuoteBed } from './quoteBed.ts'
import type { BenchRow } from './row.ts'

const chains = 2
/** Until every chain was read and every job is led. */
const settleMs = 15_000
const measuredMs = 30_000
/** Per second and chain, before looks that find nothing new ended early. */
const statementsBefore = 44

/** Per second and chain. */
type IdleCost = {
  readonly cpuMs: number
  readonly statements: number
  readonly requests: number
  /** Calls that list logs, which hosted endpoints charge most for. */
  readonly lists: number
}

export async function benchIdle(): Promise<readonly BenchRow[]> {
  const { cpuMs: busyMs, statements, requests, lists } = await measure()
  const shown = [
    `${busyMs.toFixed(1)} ms of processor time`,
    `${statements.toFixed(1)} statements`,
    `${requests.toFixed(1)} chain requests`,
    `${lists.toFixed(1)} lists of logs`,
  ]
  return [
    {
      id: 'idle',
      name: `quote-api without requests on ${chains} chains, per second and chain: statements against ${statementsBefore}`,
      value: shown.join(', '),
      limit: `<= 0.5 x ${statementsBefore} statements`,
      ratio: statements / statementsBefore,
      goal: 0.5,
      atLeast: false,
    },
  ]
}

async function measure(): Promise<IdleCost> {
  let proxies: readonly FaultProxy[] = []
  try {
    return await withQuoteBed(
      async (bed) => {
        await pause(settleMs)
        return await measureBed(bed, proxies)
      },
      async (network) => {
        const { base, optimism } = network.chains
        const [baseProxy, optimismProxy] = await Promise.all(
          [base, optimism].map(({ url }) => startFaultProxy({ targetUrl: url })),
        )
        proxies = [baseProxy, optimismProxy].filter((proxy) => proxy !== undefined)
        return { BASE_RPC_URL: baseProxy?.url ?? '', OPTIMISM_RPC_URL: optimismProxy?.url ?? '' }
      },
    )
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.stop()))
  }
}

/** Processor time first, because the log of statements costs some. */
async function measureBed({ service, server, database }: QuoteBed, proxies: readonly FaultProxy[]) {
  const pid = service.child.pid ?? 0
  const perSecond = (count: number, sinceMs: number) =>
    count / ((performance.now() - sinceMs) / 1_000) / chains
  const busyBeforeMs = cpuMs(pid)
  for (const proxy of proxies) proxy.resetCounters()
  const beganMs = performance.now()
  await pause(measuredMs)
  const counters = proxies.map((proxy) => proxy.counters())
  const sumOf = (count: (one: FaultCounters) => number) => counters.reduce((sum, one) => sum + count(one), 0)
  const cost = {
    cpuMs: perSecond(cpuMs(pid) - busyBeforeMs, beganMs),
    requests: perSecond(
      sumOf(({ requests }) => requests),
      beganMs,
    ),
    lists: perSecond(
      sumOf(({ callsByMethod }) => callsByMethod['eth_getLogs'] ?? 0),
      beganMs,
    ),
  }
  await database.query(`alter system set log_statement = 'all'`)
  await database.query('select pg_reload_conf()')
  const loggedBefore = await countStatements(server.logFile)
  const loggedSinceMs = performance.now()
  await pause(measuredMs)
  const logged = (await countStatements(server.logFile)) - loggedBefore
  return { ...cost, statements: perSecond(logged, loggedSinceMs) }
}

/** Statements in the log of the server; a transaction's begin and commit are two of them. */
async function countStatements(logFile: string): Promise<number> {
  const log = await readFile(logFile, 'utf8')
  return log.match(/ LOG: {2}(?:statement|execute [^:]+): /g)?.length ?? 0
}
