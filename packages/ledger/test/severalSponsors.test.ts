// Goal: what several sponsors are decided about in one transaction is what each would be told alone, whatever lands
// between, and none of them feels another. Method: attempts to get more than a balance, a policy or a cap allows by being
// in one batch, by changing a sponsor while a batch waits for it, and by holding a row.
import type { HoldRequest, SqlWriteTx } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  clearHalt,
  createLedger,
  haltReservations,
  readHalt,
  setPolicy,
  setSponsorFrozen,
  verifyLedger,
} from '../src/index.ts'
import { byTest, fund, holdNamed, noCaps, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

const batch = (requests: readonly HoldRequest[], on = ledger) =>
  bed.database.transaction((tx) => on.reserveBatch(tx, requests))
const free = (requests: readonly HoldRequest[], on = ledger) =>
  bed.database.transaction((tx) => on.reserveFree(tx, requests), { opensWithRead: true })
const statuses = (outcomes: readonly { readonly status: string }[]) => outcomes.map(({ status }) => status)

const keyOf = (sponsor: string) => sponsor.replaceAll(' ', '-')

/** One request of each sponsor, under one name. */
const oneOfEach = (name: string, sponsors: readonly string[], change: Partial<HoldRequest> = {}) =>
  sponsors.map((sponsor) =>
    holdNamed(`${name} of ${sponsor}`, { sponsor, apiKeyId: keyOf(sponsor), ...change }),
  )

async function fundAll(sponsors: readonly string[], amount = 1_000n): Promise<void> {
  for (const sponsor of sponsors) await fund(bed.database, sponsor, amount)
}

/**
 * Does `work` while a transaction of somebody else has the row of a sponsor, in which `change` was done. `work` may
 * return what waits for it: the row is free when it waits.
 */
async function withRow<T>(
  sponsor: string,
  work: () => Promise<{ readonly waiting?: Promise<T> }>,
  change: (tx: SqlWriteTx) => Promise<unknown> = async () => {},
): Promise<T | undefined> {
  let begun: Promise<{ readonly waiting?: Promise<T> }> | undefined
  await bed.database.transaction(async (tx) => {
    await tx.query(`select from account where kind = 'sponsor' and owner = $1 for no key update`, [sponsor])
    await change(tx)
    begun = work()
    const { waiting } = await begun
    if (waiting !== undefined) await someoneWaits()
  })
  return (await begun)?.waiting
}

/** Until somebody waits for a lock of another. */
async function someoneWaits(): Promise<void> {
  const waiting = `select count(*)::int as waiting from pg_locks where not granted`
  await expect
    .poll(async () => (await bed.database.query(waiting))[0]?.['waiting'], { timeout: 30_000 })
    .toBeGreaterThan(0)
}

test('L-49: who has the row of one sponsor holds up nobody else', async () => {
  const sponsors = ['row a', 'row b', 'row c']
  await fundAll(sponsors)
  const asked = oneOfEach('held up', sponsors)
  const outcomes = await withRow('row b', async () => {
    expect(statuses(await free(asked))).toEqual(['reserved', 'busy', 'reserved'])
    // Nothing was decided, so nothing is known of it, and the same request is new afterwards.
    const known = await bed.database.query('select from hold where request_id = $1', [
      Buffer.from(requestIdOf('held up of row b').slice(2), 'hex'),
    ])
    expect(known).toEqual([])
    return { waiting: batch(asked) }
  })
  expect(statuses(outcomes ?? [])).toEqual(['already_reserved', 'reserved', 'already_reserved'])
})

test('a sponsor who never had a balance is not taken for one whose row somebody has', async () => {
  await fundAll(['known'])
  expect(statuses(await free(oneOfEach('unknown', ['nobody', 'known'])))).toEqual([
    'insufficient_balance',
    'reserved',
  ])
})

test.each<{
  what: string
  funded: bigint
  change: (tx: SqlWriteTx, sponsor: string) => Promise<unknown>
  told: string
}>([
  {
    what: 'a top-up',
    funded: 9n,
    change: (tx, sponsor) => fund(tx, sponsor, 1n, `${sponsor} more`),
    told: 'reserved',
  },
  {
    what: 'a hold for all but nine',
    funded: 1_000n,
    change: (tx, sponsor) =>
      ledger.reserve(tx, holdNamed(`${sponsor} spends`, { sponsor, amountMicroUsd: 991n })),
    told: 'insufficient_balance',
  },
  {
    what: 'a suspension',
    funded: 1_000n,
    change: (tx, sponsor) => setSponsorFrozen(tx, { sponsor, frozen: true, ...byTest }),
    told: 'sponsor_frozen',
  },
  {
    what: 'a lower limit of the key',
    funded: 1_000n,
    change: (tx, sponsor) =>
      setPolicy(tx, { apiKeyId: keyOf(sponsor), rules: { maxPerRequest: '9' }, actor: 'test' }),
    told: 'policy_refused',
  },
])(
  '$what that lands while a batch waits decides, for its sponsor alone',
  async ({ what, funded, change, told }) => {
    const [changed, before, after] = [`m ${what}`, `a ${what}`, `z ${what}`]
    await fundAll([before, after])
    await fund(bed.database, changed, funded)
    const all = [before, changed, after]
    const outcomes = await withRow(
      changed,
      async () => {
        expect(statuses(await free(oneOfEach(`${what} free`, all)))).toEqual(['reserved', 'busy', 'reserved'])
        return { waiting: batch(oneOfEach(what, all)) }
      },
      (tx) => change(tx, changed),
    )
    expect(statuses(outcomes ?? [])).toEqual(['reserved', told, 'reserved'])
  },
)

test('a halt that lands while a batch waits stops all of it', async () => {
  const sponsors = ['halt a', 'halt b']
  await fundAll(sponsors)
  const outcomes = await withRow('halt b', async () => {
    const waiting = batch(oneOfEach('halted', sponsors))
    await someoneWaits()
    await haltReservations(bed.database, [])
    return { waiting }
  })
  expect(outcomes).toEqual(sponsors.map(() => ({ status: 'policy_refused', rule: 'LEDGER_HALTED' })))
  expect(statuses(await free(oneOfEach('halted free', sponsors)))).toEqual([
    'policy_refused',
    'policy_refused',
  ])
  await clearHalt(bed.database, byTest)
  expect(await readHalt(bed.database)).toBeUndefined()
})

test('a key of two sponsors spends its limit once, not once for each', async () => {
  const sponsors = ['shared a', 'shared b', 'shared c']
  await fundAll(sponsors)
  await setPolicy(bed.database, { apiKeyId: 'shared-key', rules: { maxTotal: '20' }, actor: 'test' })
  const asked = oneOfEach('shared', sponsors, { apiKeyId: 'shared-key' })
  // Those who come second would have to see what the first used.
  expect(statuses(await free(asked))).toEqual(['reserved', 'busy', 'busy'])
  expect(statuses(await batch(asked))).toEqual(['already_reserved', 'reserved', 'policy_refused'])
})

test('a request id for two sponsors holds with one of them', async () => {
  await fundAll(['twice a', 'twice b'])
  const asked = ['twice b', 'twice a'].map((sponsor) =>
    holdNamed('twice', { sponsor, apiKeyId: keyOf(sponsor) }),
  )
  expect(statuses(await free(asked))).toEqual(['busy', 'reserved'])
  expect(statuses(await batch(asked))).toEqual(['conflict', 'already_reserved'])
})

test('a flood of re-quotes in one batch holds one place and no one else up', async () => {
  await fundAll(['flood', 'past the flood'])
  const flood = Array.from({ length: 5 }, (_, n) =>
    holdNamed(`flood ${n}`, { sponsor: 'flood', apiKeyId: 'flood', user: 'u', requoteKey: 'flood' }),
  )
  const outcomes = await free([...flood, ...oneOfEach('flooded', ['past the flood'])])
  expect(statuses(outcomes)).toEqual(['reserved', 'busy', 'busy', 'busy', 'busy', 'reserved'])
  await batch(flood.slice(1))
  expect(await ledger.balance(bed.database, 'flood')).toMatchObject({ heldMicroUsd: 10n })
})

test('due holds of one sponsor are swept for it, and the others do not wait for that', async () => {
  await fund(bed.database, 'due', 10n)
  await fundAll(['not due'])
  const [old] = oneOfEach('old', ['due'])
  if (old === undefined) throw new Error('one sponsor, one request')
  await batch([old])
  await bed.database.query('update hold set expires_at = created_at where request_id = $1', [
    Buffer.from(old.requestId.slice(2), 'hex'),
  ])
  const asked = oneOfEach('new', ['due', 'not due'])
  expect(statuses(await free(asked))).toEqual(['busy', 'reserved'])
  expect(statuses(await batch(asked))).toEqual(['reserved', 'already_reserved'])
  expect(await ledger.balance(bed.database, 'due')).toMatchObject({
    availableMicroUsd: 0n,
    heldMicroUsd: 10n,
  })
})

test('every refusal stands at its request, and changes nothing for the others', async () => {
  const capped = createLedger({ caps: { ...noCaps, holdsPerUser: 1 } })
  await fundAll(['mixed rich', 'mixed frozen', 'mixed policy', 'mixed cap'])
  await fund(bed.database, 'mixed poor', 9n)
  await setSponsorFrozen(bed.database, { sponsor: 'mixed frozen', frozen: true, ...byTest })
  await setPolicy(bed.database, { apiKeyId: 'mixed-policy', rules: { active: false }, actor: 'test' })
  await batch([holdNamed('mixed first', { sponsor: 'mixed cap', user: 'capped' })])
  const asked = [
    ...oneOfEach('mixed 1', ['mixed rich', 'mixed poor', 'mixed frozen']),
    ...oneOfEach('mixed 1', ['mixed cap'], { user: 'capped', recipient: 'capped' }),
    ...oneOfEach('mixed 2', ['mixed rich', 'mixed policy', 'mixed nobody']),
  ]
  const expected = [
    'reserved',
    'insufficient_balance',
    'sponsor_frozen',
    'at_deposit',
    'reserved',
    'policy_refused',
    'insufficient_balance',
  ]
  expect(statuses(await free(asked, capped))).toEqual(expected)
  expect(statuses(await batch(asked, capped))).toEqual(
    expected.map((status) => (status === 'reserved' ? 'already_reserved' : status)),
  )
  expect(await ledger.balance(bed.database, 'mixed rich')).toMatchObject({ heldMicroUsd: 20n })
})

test('a re-quote frees the hold of its own sponsor alone', async () => {
  const sponsors = ['requote a', 'requote b']
  await fundAll(sponsors, 15n)
  const same = { requoteKey: 'same route', user: 'u', recipient: 'u' }
  await batch(oneOfEach('requote 1', sponsors, same))
  // Each has room for its second only because its first is freed.
  expect(statuses(await free(oneOfEach('requote 2', sponsors, same)))).toEqual(['reserved', 'reserved'])
  for (const sponsor of sponsors) {
    expect(await ledger.balance(bed.database, sponsor)).toMatchObject({ heldMicroUsd: 10n })
  }
  const states = await bed.database.query(
    `select state, count(*)::int as holds from hold where requote_key = 'same route' group by 1 order by 1`,
  )
  expect(states).toEqual([
    { state: 'reserved', holds: 2 },
    { state: 'voided', holds: 2 },
  ])
})

test('the books add up, balance after balance', async () => {
  expect(await verifyLedger(bed.database)).toEqual([])
})
