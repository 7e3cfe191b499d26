// Goal: mixed load for an hour while everything that can break breaks, one thing a minute: no money lost or
// unexplained, and callers are served again within a minute. Method: the whole local network with two processes of
// quote-api and two of the solver, a database with a synchronous standby, three endpoints per chain; requests of users from
// quote to end, and a steady mix of prices, quotes, statuses, histories and attestations beside them. What chains and books
// hold at the end is judged; times and memory are reported, never judged. `npm run soak` is the hour and writes its
// figures; `npm run test:faults` runs every fault once.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@causeway/core'
import {
  createDatabase,
  type Database,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@causeway/database'
import { type ServicePlan, servicePlans } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyLedger } from '../../packages/ledger/src/index.ts'
import { createRandom } from '../../packages/localnet/test/support/random.ts'
import { type Pair, startPair } from '../databases/pair.ts'
import { endsWell, expectSingleFills } from '../support/endsOfLives.ts'
import { createRequestLives, drawWish, type Life } from '../support/requestLives.ts'
import {
  type MortalService,
  mortalServices,
  type SessionBed,
  startSessionBed,
} from '../support/sessionBed.ts'
import { allFaults, createEndpoints, type Fault } from './faults.ts'
import {
  type FaultSpan,
  kindFigures,
  type MemorySample,
  memoryFigures,
  recoveries,
  usualP99Ms,
} from './figures.ts'
import { type LoadKind, startSteadyMix } from './load.ts'

const minutes = Number(process.env['CAUSEWAY_SOAK_MINUTES'] ?? 0)
const isTimed = minutes > 0
/** Only faults whose names have this text, over and over: for whoever looks for a cause. */
const only = process.env['CAUSEWAY_SOAK_ONLY'] ?? ''
const seed = Number(process.env['CAUSEWAY_SEED'] ?? 20_261_125)
/** Before the first fault, so that there is something to compare with. */
const warmMs = isTimed ? 120_000 : 15_000
/** From one fault to the next. */
const pauseMs = isTimed ? 60_000 : 15_000
const livesAtOnce = 3
const memoryEveryMs = 10_000
const memoryWarmMs = 120_000
/** Above those of the first processes. */
const doubledPorts = 5
/** Deposits that are asked about are older, so that they are final. */
const finalAfterMs = 20_000

const endpoints = createEndpoints()
let directory: string
let pair: Pair
let solverServer: EmbeddedPostgres
let bed: SessionBed
let services: readonly MortalService[]
let database: Database | undefined

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-soak-'))
  pair = await startPair(directory)
  solverServer = await startEmbeddedPostgres({ dataDirectory: join(directory, 'solver') })
  bed = await startSessionBed({}, { services: [...servicePlans, ...seconds()].map(readingByProxies) })
  services = mortalServices(bed)
}, 240_000)
afterAll(async () => {
  await database?.close()
  await Promise.all((services ?? []).map((service) => service.stop()))
  await bed?.stop()
  await endpoints.stop()
  await Promise.all([pair?.stop(), solverServer?.stop()])
  await rm(directory, { recursive: true, force: true })
}, 120_000)

const chainVariables = { base: 'BASE_RPC_URL', optimism: 'OPTIMISM_RPC_URL', hub: 'RELAY_RPC_URL' } as const

/** Databases that processes of one service share, and endpoints that can be hurt. */
function readingByProxies(plan: ServicePlan): ServicePlan {
  return {
    ...plan,
    async environment(context, ports) {
      const own = await plan.environment(context, ports)
      const urls = { ...own }
      for (const key of ['base', 'optimism', 'hub'] as const) {
        if (own[chainVariables[key]] === undefined) continue
        urls[chainVariables[key]] = await endpoints.urlsOf(context.network.chains[key].url)
      }
      if (plan.script.includes('quote-api')) urls['DATABASE_URL'] = pair.connectionString
      if (plan.script.includes('solver')) urls['DATABASE_URL'] = solverServer.connectionString
      return urls
    },
  }
}

/** A second process of quote-api and of the solver, which asks it. */
function seconds(): readonly ServicePlan[] {
  const doubled = servicePlans.filter(({ name }) => name === 'quote-api' || name === 'solver')
  return doubled.map((plan) => ({
    ...plan,
    name: `${plan.name}-2`,
    ports: (first) => plan.ports({ ...first, quote: first.quote + doubledPorts }),
    environment({ ports: all, ...context }, ports) {
      const second = all.get('quote-api-2')
      return plan.environment(
        { ...context, ports: second === undefined ? all : new Map([...all, ['quote-api', second]]) },
        ports,
      )
    },
  }))
}

test(`${isTimed ? `${minutes} minutes` : 'every fault once'} under load: all money is explained (seed ${seed})`, async () => {
  const startedAtMs = performance.now()
  const sinceMs = () => performance.now() - startedAtMs
  const random = createRandom(seed)
  const { kills, others, behaviours } = allFaults(bed, services, { endpoints, pair, directory })
  const mix = startSteadyMix(loadKinds(sinceMs), {
    headers: { 'x-api-key': bed.session.sponsorApiKey ?? '' },
    sinceMs,
  })

  let isOver = false
  const { lives, notPaid, unexplained, running } = keepLiving(random, () => isOver)
  const memory: MemorySample[] = []
  const watching = (async () => {
    for (; !isOver; await sleep(memoryEveryMs)) memory.push(...residents(sinceMs()))
  })()
  const spans = await injectAll(
    isTimed ? timedFaults(kills, [...others, ...behaviours]) : chosen([...kills, ...others]),
    sinceMs,
  )
  isOver = true
  await mix.stop()
  await watching
  await Promise.all(running)

  report({ mix, spans, memory, lives, notPaid, lastedMs: sinceMs() })
  database = createDatabase({ connectionString: pair.connectionString, poolSize: 2 })
  for (const life of lives) await endsWell(database, life)
  await expectSingleFills(bed, database, lives)
  const findings = await database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))
  expect(unexplained).toEqual([])
  expect(findings).toEqual([])
  // Somebody was served, or nothing was proven.
  expect(lives.length).toBeGreaterThan(spans.length)
  expect(new Set(lives.map(({ status }) => status))).toEqual(new Set(['success', 'refund']))
}, 7_200_000)

function chosen(all: readonly Fault[]): readonly Fault[] {
  if (only === '') return all
  const some = all.filter(({ name }) => name.includes(only))
  return Array.from({ length: all.length }, (_, index) => some[index % some.length]).filter(
    (one) => one !== undefined,
  )
}

/** As many faults as the time has room for: kills in the beginning, so that memory can be watched afterwards. */
function timedFaults(kills: readonly Fault[], others: readonly Fault[]): readonly Fault[] {
  const count = Math.floor((minutes * 60_000 - warmMs) / pauseMs)
  const again = <Value>(values: readonly Value[], wanted: number): readonly Value[] =>
    Array.from({ length: wanted }, (_, index) => values[index % values.length]).filter(
      (value) => value !== undefined,
    )
  const killed = Math.min(Math.ceil(count * 0.4), kills.length)
  return [...kills.slice(0, killed), ...again(others, count - killed)]
}

async function injectAll(faults: readonly Fault[], sinceMs: () => number): Promise<readonly FaultSpan[]> {
  const spans: FaultSpan[] = []
  await sleep(warmMs)
  for (const { name, inject } of faults) {
    const beganMs = sinceMs()
    await inject()
    spans.push({ name, beganMs, endedMs: sinceMs() })
    await sleep(Math.max(pauseMs / 2, beganMs + pauseMs - sinceMs()))
  }
  return spans
}

/** Users who ask, pay and wait, until it is over; requests under way are waited for. */
function keepLiving(random: ReturnType<typeof createRandom>, isOver: () => boolean) {
  const requests = createRequestLives(bed, { isPatient: true })
  const lives: Life[] = []
  const unexplained: string[] = []
  const notPaid = new Map<string, number>()
  const count = (why: string) => notPaid.set(why, (notPaid.get(why) ?? 0) + 1)
  const user = async () => {
    while (!isOver()) {
      try {
        const life = await requests.live(drawWish(bed, random, { doomedShare: 0.15 }))
        if (life === undefined) count('refused')
        else lives.push(life)
      } catch (error) {
        // The user's own transaction reverted, or a reorganization took it for good: nothing was deposited.
        const told = error instanceof Error ? error.message : String(error)
        const isOwn = /^reverted on chain|was not mined in|nonce|took too long|HTTP request failed/i.exec(
          told,
        )
        if (isOwn === null) unexplained.push(told)
        else count(isOwn[0])
      }
    }
  }
  return { lives, notPaid, unexplained, running: Array.from({ length: livesAtOnce }, user) }
}

function loadKinds(sinceMs: () => number): readonly LoadKind[] {
  const { session } = bed
  const { deployment, keys } = session.network
  const urls = session.services.flatMap(({ plan, ports }) =>
    plan.script.includes('quote-api') ? [`http://127.0.0.1:${ports['http']}`] : [],
  )
  let turn = 0
  const nextUrl = () => urls[turn++ % urls.length] ?? ''
  const oracles = session.services.flatMap(({ plan, ports }) =>
    plan.name.startsWith('oracle') ? [`http://127.0.0.1:${ports['http']}`] : [],
  )
  const deposits: { readonly hash: Hex; readonly chain: string; readonly seenMs: number }[] = []
  watchDeposits((hash, chain) => deposits.push({ hash, chain, seenMs: sinceMs() }))
  let asked = 0
  const body = (tradeType: string) => {
    asked += 1
    const user = keys.users[asked % keys.users.length]?.address
    const [from, to] = asked % 2 === 0 ? (['base', 'optimism'] as const) : (['optimism', 'base'] as const)
    return {
      user,
      recipient: user,
      tradeType,
      amount: String(5_000_000 + asked),
      originChainId: deployment[from].chainId,
      destinationChainId: deployment[to].chainId,
      originCurrency: deployment[from].tokens.USDC,
      destinationCurrency: deployment[to].tokens.USDC,
    }
  }
  return [
    {
      kind: 'POST /price',
      perSecond: 8,
      next: () => ({ url: `${nextUrl()}/price`, body: body('EXACT_INPUT') }),
    },
    {
      kind: 'POST /quote',
      perSecond: 3,
      next: () => ({ url: `${nextUrl()}/quote`, body: body('EXACT_OUTPUT') }),
    },
    { kind: 'GET /requests/v3', perSecond: 2, next: () => ({ url: `${nextUrl()}/requests/v3?limit=10` }) },
    { kind: 'GET /chains', perSecond: 2, next: () => ({ url: `${nextUrl()}/chains` }) },
    {
      kind: 'attest a deposit',
      perSecond: 2,
      next() {
        const old = deposits.filter(({ seenMs }) => seenMs < sinceMs() - finalAfterMs)
        asked += 1
        // Mostly the newest, now and then one from long ago.
        const deposit = asked % 4 === 0 ? old[asked % old.length] : old.at(-1 - (asked % 3))
        const oracle = oracles[asked % oracles.length]
        if (deposit === undefined || oracle === undefined) return undefined
        const { hash: transactionId, chain: chainId } = deposit
        return { url: `${oracle}/attestations/depository-deposits/v1`, body: { chainId, transactionId } }
      },
    },
  ]
}

/** Calls back for each transaction to a depository, in the order of blocks, until the network stops. */
function watchDeposits(found: (hash: Hex, chain: string) => void): void {
  const { chains, deployment } = bed.session.network
  for (const key of ['base', 'optimism'] as const) {
    const { client } = chains[key].chain
    const { depository } = deployment[key]
    client.watchBlocks({
      includeTransactions: true,
      emitMissed: true,
      pollingInterval: 1_000,
      onError: () => {},
      onBlock({ transactions }) {
        for (const { to, hash } of transactions)
          if (to?.toLowerCase() === depository.toLowerCase()) found(hash, key)
      },
    })
  }
}

/** Resident memory of every running service: one that was just killed has none. */
function residents(atMs: number): readonly MemorySample[] {
  return services.flatMap((service) => {
    const pid = service.pid()
    const residentNow = pid === undefined ? undefined : residentMiBOf(pid)
    return pid === undefined || residentNow === undefined
      ? []
      : [{ process: service.name, pid, atMs, residentMiB: residentNow }]
  })
}

function residentMiBOf(pid: number): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) / 1024
  } catch {
    return undefined
  }
}

function report(seen: {
  mix: ReturnType<typeof startSteadyMix>
  spans: readonly FaultSpan[]
  memory: readonly MemorySample[]
  lives: readonly Life[]
  notPaid: ReadonlyMap<string, number>
  lastedMs: number
}): void {
  const { mix, spans, memory, lives, notPaid, lastedMs } = seen
  const quoted = mix.samples.filter(({ kind }) => !kind.startsWith('attest'))
  const ends = (status: string) => lives.filter((life) => life.status === status).length
  const figures = {
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    node: process.version,
    seed,
    minutes: lastedMs / 60_000,
    requests: { success: ends('success'), refund: ends('refund'), notPaid: Object.fromEntries(notPaid) },
    load: kindFigures(mix.samples),
    failures: Object.fromEntries(mix.failures),
    usualP99Ms: usualP99Ms(quoted, spans),
    faults: recoveries(quoted, spans),
    memory: memoryFigures(memory, memoryWarmMs),
  }
  console.log(JSON.stringify(figures, null, 1))
  if (!isTimed) return
  const folder = new URL('../../bench/results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('soak.json', folder), `${JSON.stringify(figures, null, 2)}\n`)
}
