// Goal: a token transfer to custody counts once, whatever its chain does. Method: sightings against a
// PostgreSQL of the test's own; at the end the sums of all accounts agree.
import type { Hex } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  claimTopUp,
  finalizeTopUp,
  findTopUps,
  haltTopUps,
  listFinalTopUps,
  listSeenTopUps,
  listSuspendedTopUps,
  moveFinalCursor,
  moveLiveCursor,
  type ObservedTopUp,
  openTopUpCursor,
  orphanTopUp,
  readTopUpCursor,
  recordTopUp,
  resumeTopUps,
  reverseTopUp,
  type SightingOutcome,
} from '../src/index.ts'
import { startLedgerBed } from './support/ledgerBed.ts'

let server: TestDatabase
let nextTransaction = 1
let wallet: Hex

beforeAll(async () => {
  server = await startLedgerBed()
})
afterAll(() => server?.stop())
beforeEach(() => {
  wallet = hex(nextTransaction, 20)
})

const hex = (value: number, bytes: number): Hex => `0x${value.toString(16).padStart(2 * bytes, '0')}`
const account = { chainId: 8453, custody: hex(0xc0, 20), token: hex(0xdc, 20) }
const evidence = { ticket: 'T-1' }

function observed(parts: Partial<ObservedTopUp> = {}): ObservedTopUp {
  nextTransaction += 1
  return {
    ...account,
    transactionHash: hex(nextTransaction, 32),
    blockNumber: 10n,
    blockHash: hex(0xb0, 32),
    log: { ordinal: 0, logIndex: 3, from: hex(0xaa, 20), value: 100n },
    tail: undefined,
    verdict: { kind: 'credit', parse: 'ok', owner: wallet },
    ...parts,
  }
}

const suspended = { kind: 'suspense', parse: 'no_tail' } as const
const inTransaction: TestDatabase['database']['transaction'] = (work) => server.database.transaction(work)
const see = (topUp: ObservedTopUp, replace = false): Promise<SightingOutcome> =>
  inTransaction((tx) => recordTopUp(tx, topUp, { replace }))
const finalize = (eventId: bigint) => inTransaction((tx) => finalizeTopUp(tx, eventId, evidence))
const orphan = (eventId: bigint) => inTransaction((tx) => orphanTopUp(tx, eventId))

async function seenId(topUp: ObservedTopUp): Promise<bigint> {
  const { eventId } = await see(topUp)
  if (eventId === undefined) throw new Error('no event')
  return eventId
}

async function finalId(topUp: ObservedTopUp): Promise<bigint> {
  const id = await seenId(topUp)
  expect(await finalize(id)).toBe(true)
  return id
}

/** Counters of the wallet's account: posted, spent, pending. */
async function balance(owner: Hex = wallet): Promise<readonly bigint[]> {
  const [row] = await server.database.query<{ posted: bigint; spent: bigint; pending: bigint }>(
    `select credits_posted as posted, debits_posted as spent, credits_pending as pending
     from account where kind = 'sponsor' and owner = $1`,
    [owner],
  )
  return row === undefined ? [] : [row.posted, row.spent, row.pending]
}

async function sums(): Promise<{ debits: bigint; credits: bigint; held: bigint; awaited: bigint }> {
  const [row] = await server.database.query<{
    debits: bigint
    credits: bigint
    held: bigint
    awaited: bigint
  }>(
    `select sum(debits_posted) as debits, sum(credits_posted) as credits, sum(debits_pending) as held,
       sum(credits_pending) as awaited from account`,
  )
  if (row === undefined) throw new Error('no sums')
  return row
}

describe('a sighting', () => {
  test('is pending and not spendable, and final once', async () => {
    const id = await seenId(observed())
    expect(await balance()).toEqual([0n, 0n, 100n])
    expect(await finalize(id)).toBe(true)
    expect(await finalize(id)).toBe(false)
    expect(await balance()).toEqual([100n, 0n, 0n])
  })

  test('repeated changes nothing, in whatever state', async () => {
    const topUp = observed()
    const id = await seenId(topUp)
    expect(await see(topUp)).toEqual({ answer: 'known', eventId: id })
    await finalize(id)
    expect(await see(topUp, true)).toEqual({ answer: 'known', eventId: id })
    expect(await balance()).toEqual([100n, 0n, 0n])
  })

  test('that is dropped takes its pending amount along, and its transaction may come again elsewhere', async () => {
    const topUp = observed()
    const id = await seenId(topUp)
    const moved = { ...topUp, blockHash: hex(0xb1, 32), log: { ...topUp.log, logIndex: 9 } }
    expect((await see(moved)).answer).toBe('elsewhere')
    expect(await orphan(id)).toBe(true)
    expect(await orphan(id)).toBe(false)
    expect(await finalize(id)).toBe(false)
    expect(await balance()).toEqual([0n, 0n, 0n])
    await finalId(moved)
    expect(await balance()).toEqual([100n, 0n, 0n])
  })

  test('may be dropped and come back in the same block, again and again', async () => {
    const topUp = observed()
    for (let round = 0; round < 3; round += 1) await orphan(await seenId(topUp))
    await finalId(topUp)
    expect(await balance()).toEqual([100n, 0n, 0n])
  })

  test('cannot be live twice, even by a statement of its own', async () => {
    const topUp = observed()
    await seenId(topUp)
    const again = server.database.query(
      `insert into chain_event (chain_id, tx_hash, log_index, tx_log_ordinal, block_number, block_hash, sighting,
         token, from_addr, to_addr, value, parse, credited_owner)
       select chain_id, tx_hash, log_index, tx_log_ordinal, block_number, sha256('other'), 0, token, from_addr,
         to_addr, value, parse, credited_owner from chain_event where tx_hash = decode($1, 'hex')`,
      [topUp.transactionHash.slice(2)],
    )
    await expect(again).rejects.toMatchObject({ constraint: 'chain_event_live' })
  })

  test('gives way to what is known better, until it is final', async () => {
    const topUp = observed()
    const other = hex(0xee00 + nextTransaction, 20)
    await seenId(topUp)
    const better: ObservedTopUp = { ...topUp, verdict: { kind: 'credit', parse: 'ok', owner: other } }
    expect((await see(better)).answer).toBe('differs')
    const { answer, eventId } = await see(better, true)
    expect(answer).toBe('seen')
    await finalize(eventId ?? 0n)
    expect((await see(topUp, true)).answer).toBe('differs')
    expect([await balance(), await balance(other)]).toEqual([
      [0n, 0n, 0n],
      [100n, 0n, 0n],
    ])
  })

  test('with another sender or place in its block is not the one that is known', async () => {
    const topUp = observed()
    await seenId(topUp)
    const { log } = topUp
    const fromOther = await see({ ...topUp, log: { ...log, from: hex(0xbb, 20) } })
    const elsewhere = await see({ ...topUp, log: { ...log, logIndex: log.logIndex + 1 } })
    expect([fromOther.answer, elsewhere.answer]).toEqual(['differs', 'elsewhere'])
  })

  test('that is final is not dropped', async () => {
    expect(await orphan(await finalId(observed()))).toBe(false)
    expect(await balance()).toEqual([100n, 0n, 0n])
  })

  test('stored by ten connections at once counts once', async () => {
    const topUp = observed()
    await Promise.all(Array.from({ length: 10 }, () => see(topUp)))
    const [event] = await inTransaction((tx) => findTopUps(tx, topUp))
    await Promise.all(Array.from({ length: 10 }, () => finalize(event?.id ?? 0n)))
    expect(await balance()).toEqual([100n, 0n, 0n])
  })

  test('is listed by its state', async () => {
    const topUp = observed({ blockNumber: 77n })
    const id = await seenId(topUp)
    const seen = await inTransaction((tx) => listSeenTopUps(tx, account))
    expect(seen.map((event) => event.id)).toContain(id)
    await finalize(id)
    const final = await inTransaction((tx) => listFinalTopUps(tx, account, { from: 77n, to: 77n, limit: 9 }))
    expect(final).toMatchObject([
      {
        id,
        transactionHash: topUp.transactionHash,
        from: topUp.log.from,
        value: 100n,
        creditedOwner: wallet,
      },
    ])
    expect(await inTransaction((tx) => listSeenTopUps(tx, account))).not.toContainEqual(
      expect.objectContaining({ id }),
    )
  })
})

describe('suspended money', () => {
  test('waits for its claim, which counts once', async () => {
    const topUp = observed({ verdict: suspended })
    const id = await seenId(topUp)
    const claim = () =>
      inTransaction((tx) => claimTopUp(tx, { eventId: id, owner: wallet, actor: 'claimant', evidence }))
    expect(await claim()).toBe('not_final')
    await finalize(id)
    const waiting = await inTransaction((tx) => listSuspendedTopUps(tx, { after: id - 1n, limit: 1 }))
    expect(waiting).toMatchObject([{ id, parse: 'no_tail' }])
    expect(await Promise.all([claim(), claim()])).toEqual(
      expect.arrayContaining(['claimed', 'already_claimed']),
    )
    expect(await balance()).toEqual([100n, 0n, 0n])
    expect(await inTransaction((tx) => listSuspendedTopUps(tx, { after: id - 1n, limit: 1 }))).toEqual([])
  })

  test('cannot be claimed where nothing is suspended', async () => {
    const credited = await finalId(observed())
    const dropped = await seenId(observed({ verdict: suspended }))
    await orphan(dropped)
    const claim = (eventId: bigint) =>
      inTransaction((tx) => claimTopUp(tx, { eventId, owner: wallet, actor: 'claimant', evidence }))
    expect(await claim(credited)).toBe('not_suspended')
    expect(await claim(dropped)).toBe('unknown')
    expect(await claim(999_999_999n)).toBe('unknown')
  })
})

describe('a final top-up that its chain took back', () => {
  const reverse = (eventId: bigint) =>
    inTransaction((tx) => reverseTopUp(tx, { eventId, actor: 'operator', evidence }))

  test('is taken from its owner, once, and may be topped up anew', async () => {
    const topUp = observed()
    const id = await finalId(topUp)
    expect([await reverse(id), await reverse(id)]).toEqual([true, false])
    expect(await balance()).toEqual([100n, 100n, 0n])
    await finalId({ ...topUp, blockHash: hex(0xb5, 32) })
    expect(await balance()).toEqual([200n, 100n, 0n])
  })

  test('is a loss as far as the owner has spent it', async () => {
    const id = await finalId(observed())
    await server.database.query(
      `select ledger_transfer(gen_random_uuid(), 'posted', ledger_account('sponsor', $1, 1),
         ledger_account('solver_earned', '0', 1), 70, 'sponsor_post', 'test')`,
      [wallet],
    )
    expect(await reverse(id)).toBe(true)
    expect(await balance()).toEqual([100n, 100n, 0n])
    const [loss] = await server.database.query<{ balance: bigint }>(
      `select debits_posted - credits_posted as balance from account where kind = 'bad_debt'`,
    )
    expect(loss?.balance).toBe(70n)
  })

  test('is taken from suspense, or from who claimed it', async () => {
    const waiting = await finalId(observed({ verdict: suspended }))
    expect(await reverse(waiting)).toBe(true)
    expect(await balance()).toEqual([])
    const claimed = await finalId(observed({ verdict: suspended }))
    await inTransaction((tx) => claimTopUp(tx, { eventId: claimed, owner: wallet, actor: 'x', evidence }))
    expect(await reverse(claimed)).toBe(true)
    expect(await balance()).toEqual([100n, 100n, 0n])
  })
})

describe('the cursor of an account', () => {
  const account = { chainId: 1, custody: hex(0xc1, 20), token: hex(0xdc, 20) }
  const read = () => inTransaction((tx) => readTopUpCursor(tx, account))

  test('starts before its first block, moves, halts with its sponsors frozen, and resumes', async () => {
    expect(await read()).toBeUndefined()
    const opened = await inTransaction((tx) => openTopUpCursor(tx, account, 5n))
    expect(opened).toEqual({
      scannedTo: 4n,
      finalTo: 4n,
      settledTo: 4n,
      finalHash: undefined,
      haltedReason: undefined,
    })
    const finalHash = hex(0xf1, 32)
    await inTransaction((tx) => moveFinalCursor(tx, account, { finalTo: 9n, finalHash }))
    await inTransaction((tx) => moveLiveCursor(tx, account, 12n))
    expect(await inTransaction((tx) => openTopUpCursor(tx, account, 5n))).toMatchObject({
      scannedTo: 12n,
      finalTo: 9n,
    })
    await inTransaction((tx) => moveLiveCursor(tx, account, 3n))
    expect(await read()).toMatchObject({ scannedTo: 9n, finalHash })

    const id = await finalId(observed())
    await inTransaction((tx) => haltTopUps(tx, account, { reason: 'changed', eventIds: [id] }))
    expect(await read()).toMatchObject({ haltedReason: 'changed' })
    const frozen = await server.database.query('select from account where owner = $1 and frozen', [wallet])
    expect(frozen).toHaveLength(1)
    const resume = () =>
      inTransaction((tx) =>
        resumeTopUps(tx, account, { finalTo: 6n, finalHash, actor: 'op', reason: 'looked' }),
      )
    expect([await resume(), await resume()]).toEqual([true, false])
    expect(await read()).toEqual({
      scannedTo: 6n,
      finalTo: 6n,
      settledTo: 6n,
      finalHash,
      haltedReason: undefined,
    })
  })
})

test('after all of this, debits and credits are equal and nothing is pending but what is seen', async () => {
  const { debits, credits, held, awaited } = await sums()
  const [seen] = await server.database.query<{ value: bigint }>(
    `select coalesce(sum(value), 0) as value from chain_event where state = 'seen' and credited_owner is not null`,
  )
  expect(debits).toBe(credits)
  expect([held, awaited]).toEqual([seen?.value, seen?.value])
})
