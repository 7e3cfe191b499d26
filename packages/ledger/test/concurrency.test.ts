// Goal: limits are exact and effects happen once, whoever asks at the same time. Method: three processes on
// one database, each with several connections, in batches of random size. CAUSEWAY_FAULTS=1 runs the long form.
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLedger, setPolicy, verifyLedger } from '../src/index.ts'
import { type Lanes, startLanes } from './support/lanes.ts'
import { fund, holdNamed, noCaps, startLedgerBed } from './support/ledgerBed.ts'
import { turnOf, turns } from './support/reserving.ts'

const processes = 3
const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const [asked, funded] = isLongForm ? [5_000, 1_000] : [1_250, 250]
const third = Math.floor(asked / processes)
let bed: TestDatabase
let lanes: Lanes
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed()
  lanes = startLanes(bed.connectionString, processes)
})
afterAll(async () => {
  await lanes?.stop()
  await bed?.stop()
})

const reserving = (scenario: string, counts: readonly number[]) =>
  lanes.all((lane) => ({ do: 'reserve', scenario, lane, count: counts[lane] ?? 0 }))

describe('from three processes', () => {
  test(`${asked} reservations on a balance for ${funded} approve exactly as many`, async () => {
    await fund(bed.database, 'race', BigInt(funded))
    expect(await reserving('race', [asked - 2 * third, third, third])).toEqual({
      reserved: funded,
      insufficient_balance: asked - funded,
    })
    expect(await ledger.balance(bed.database, 'race')).toMatchObject({
      availableMicroUsd: 0n,
      heldMicroUsd: BigInt(funded),
    })
  })

  test(`${turns} sponsors in every batch, each for 30 of 120 reservations, approve exactly as many`, async () => {
    const sponsors = Array.from({ length: turns }, (_, index) => turnOf(index))
    for (const sponsor of sponsors) await fund(bed.database, sponsor, 30n)
    const each = 40 * turns
    // No deadlock, and nobody is left undecided.
    expect(await reserving('turns', [each, each, each])).toEqual({
      reserved: 30 * turns,
      insufficient_balance: 90 * turns,
    })
    for (const sponsor of sponsors) {
      expect(await ledger.balance(bed.database, sponsor)).toMatchObject({
        availableMicroUsd: 0n,
        heldMicroUsd: 30n,
      })
    }
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
    const ends = await lanes.all(() => ({ do: 'race', count: holds }))
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
