// Goal: whatever is killed or held up while requests are under way, each ends in success or refund, is filled at
// most once and paid for at most once. Method: a whole local network; at moments drawn from a seed quote-api, an
// oracle or the solver is killed with SIGKILL and started again, or a node is stopped for a while. What counts is
// what chains and ledger hold at the end. CAUSEWAY_FAULTS=1 runs the long form.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyLedger } from '../packages/ledger/src/index.ts'
import { createRandom, type Random } from '../packages/localnet/test/support/random.ts'
import { endsWell, expectSingleFills } from './support/endsOfLives.ts'
import { createRequestLives, liveMany } from './support/requestLives.ts'
import { type MortalService, mortalServices, type SessionBed, startSessionBed } from './support/sessionBed.ts'

const isLong = process.env['CAUSEWAY_FAULTS'] === '1'
const count = isLong ? 50 : 8
/** At least so many faults, however soon the requests end. */
const faultsMin = isLong ? 25 : 4
const seed = Number(process.env['CAUSEWAY_SEED'] ?? 20_261_121)
const longTest = 2_400_000

let bed: SessionBed
let services: readonly MortalService[]
let database: Database | undefined

beforeAll(async () => {
  bed = await startSessionBed()
  services = mortalServices(bed)
}, 240_000)
afterAll(async () => {
  await database?.close()
  await Promise.all((services ?? []).map((service) => service.stop()))
  await bed?.stop()
}, 120_000)

/** Kills a service, or holds a node up, and waits until it is back. @returns what it did */
async function injectFault(random: Random): Promise<string> {
  const nodes = ['base', 'optimism'] as const
  const index = random.integer(0, services.length + nodes.length - 1)
  const service = services[index]
  if (service !== undefined) {
    await service.killAndRestart()
    return `killed ${service.name}`
  }
  const key = nodes[index - services.length] ?? 'base'
  const { pid } = bed.session.network.chains[key]
  const stalledMs = random.integer(500, 5_000)
  process.kill(pid, 'SIGSTOP')
  try {
    await sleep(stalledMs)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  return `stalled ${key} for ${stalledMs} ms`
}

test(
  `${count} requests under random kills and stalls all end well (seed ${seed})`,
  async () => {
    const random = createRandom(seed)
    const lives = createRequestLives(bed, { isPatient: true })
    const faults: string[] = []
    let isOver = false
    const faulting = (async () => {
      while (!isOver || faults.length < faultsMin) {
        await sleep(random.integer(0, 3_000))
        faults.push(await injectFault(random))
      }
    })()
    const requests = liveMany(bed, lives, {
      count,
      atOnce: isLong ? 6 : 4,
      random: createRandom(seed + 1),
      doomedShare: 0.2,
    })
    // Faults that cannot be mended end the test as well.
    const done = await Promise.race([requests, faulting.then(() => requests)]).finally(() => {
      isOver = true
    })
    await faulting

    database = await bed.openDatabase()
    for (const life of done) await endsWell(database, life)
    await expectSingleFills(bed, database, done)
    const findings = await database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))
    expect(findings, faults.join(', ')).toEqual([])
  },
  longTest,
)
