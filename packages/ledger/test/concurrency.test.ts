// Goal: limits are exact and effects happen once, whoever asks at the same time. Method: three processes on
// one database, each with several connections, in batches of random size.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLedger, setPolicy, verifyLedger } from '../src/index.ts'
import { fund, holdNamed, noCaps, startLedgerBed } from './support/ledgerBed.ts'

const processes = 3
let bed: TestDatabase
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

/** Runs one child per lane at the same time and adds up what they print. */
async function inThreeProcesses(
  file: string,
  argumentsOf: (lane: number) => readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const lanes = Array.from({ length: processes }, (_, lane) => runChild(file, argumentsOf(lane)))
  const sums: Record<string, number> = {}
  for (const printed of await Promise.all(lanes)) {
    for (const [name, count] of Object.entries(printed)) sums[name] = (sums[name] ?? 0) + Number(count)
  }
  return sums
}

function runChild(file: string, values: readonly string[]): Promise<object> {
  const path = join(import.meta.dirname, 'support', file)
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...values], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { out: '', errors: '' }
  child.stdout.on('data', (chunk) => {
    printed.out += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    printed.errors += String(chunk)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(printed.out))
      else reject(new Error(`a child ended with ${code}: ${printed.errors}`))
    })
  })
}

const reserving = (scenario: string, counts: readonly number[]) =>
  inThreeProcesses('reservingProcess.ts', (lane) => [
    bed.connectionString,
    scenario,
    String(lane),
    String(counts[lane]),
  ])

describe('from three processes', () => {
  test('5,000 reservations on a balance for 1,000 approve exactly 1,000', async () => {
    await fund(bed.database, 'race', 1_000n)
    expect(await reserving('race', [1_667, 1_667, 1_666])).toEqual({
      reserved: 1_000,
      insufficient_balance: 4_000,
    })
    expect(await ledger.balance(bed.database, 'race')).toMatchObject({
      availableMicroUsd: 0n,
      heldMicroUsd: 1_000n,
    })
  })

  test('a policy for 300 in all and 7 per user approves exactly as much', async () => {
    await fund(bed.database, 'policed', 10_000n)
    const rules = { maxTotal: '300', maxCountPerUser: 7 }
    await setPolicy(bed.database, { apiKeyId: 'policed', rules, actor: 'test' })
    const outcomes = await reserving('policed', [400, 400, 400])
    expect(outcomes['reserved']).toBe(300)
    expect(outcomes['reserved']).toBe(
      1_200 - (outcomes['MAX_TOTAL'] ?? 0) - (outcomes['MAX_COUNT_PER_USER'] ?? 0),
    )
    const [largest] = await bed.database.query(
      `select max(used_count) as most from policy_usage where api_key_id = 'policed' and subject <> ''`,
    )
    expect(largest).toEqual({ most: 7n })
  })

  // Which users a lane comes to first is chance, so each cap has a scenario in which only it refuses.
  test('a cap of 3 per user approves exactly 3 for each of 50 users', async () => {
    await fund(bed.database, 'capped', 10_000n)
    expect(await reserving('capped', [300, 300, 300])).toEqual({ reserved: 150, at_deposit: 750 })
    const perUser = await bed.database.query(
      `select count(*) as holds from hold where api_key_id = 'capped' group by user_key`,
    )
    expect(perUser).toEqual(Array.from({ length: 50 }, () => ({ holds: 3n })))
  })

  test('a cap of 100 per key approves exactly 100', async () => {
    await fund(bed.database, 'keyed', 10_000n)
    expect(await reserving('keyed', [300, 300, 300])).toEqual({ reserved: 100, at_deposit: 800 })
  })

  test('a storm of 1,000 of one request id holds once; equal bodies agree, others conflict', async () => {
    await fund(bed.database, 'sponsor', 100n)
    await bed.database.transaction((tx) =>
      ledger.reserve(tx, holdNamed('storm', { amountMicroUsd: 1n, user: 'u' })),
    )
    const outcomes = await reserving('storm', [336, 332, 332])
    expect(outcomes).toEqual({ already_reserved: 750, conflict: 250 })
    expect(await ledger.balance(bed.database, 'sponsor')).toMatchObject({ heldMicroUsd: 1n })
  })

  test('posts, voids and expiries race: each hold has exactly one end', async () => {
    const holds = 600
    await fund(bed.database, 'racer', 10_000n)
    // Half are due and unpinned; the others can only be posted or voided.
    const requests = Array.from({ length: holds }, (_, index) =>
      holdNamed(`raced ${index}`, { sponsor: 'racer', amountMicroUsd: 2n }),
    )
    await bed.database.transaction((tx) => ledger.reserveBatch(tx, requests))
    await bed.database.query(
      `update hold set expires_at = created_at where sponsor = (select id from account where owner = 'racer')
         and get_byte(request_id, 0) % 2 = 0`,
    )
    const ends = await inThreeProcesses('resolvingProcess.ts', () => [bed.connectionString, String(holds)])
    const states = await bed.database.query<{ state: string; count: bigint }>(
      `select h.state, count(*) from hold h join account a on a.id = h.sponsor
       where a.owner = 'racer' group by h.state`,
    )
    const counted = new Map(states.map(({ state, count }) => [state, Number(count)]))
    for (const state of ['posted', 'voided', 'expired']) {
      expect(ends[state]).toBeGreaterThan(0)
      expect(counted.get(state)).toBe(ends[state])
    }
    const [debited] = await bed.database.query(`select debits_posted from account where owner = 'racer'`)
    expect(debited).toEqual({ debits_posted: BigInt(ends['posted'] ?? 0) })
  })

  test('leave books that add up', async () => {
    expect(await verifyLedger(bed.database)).toEqual([])
  })
})
