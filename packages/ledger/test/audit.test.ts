// Goal: whatever does not add up is found and named with its figures, and nothing is found in sound books.
// Method: a ledger with every kind of movement; then a superuser falsifies one thing at a time.
import type { SqlTx } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accrueAppFees,
  createLedger,
  endAppFeeClaim,
  exportTransfers,
  openAppFeeClaim,
  setPolicy,
  verifyLedger,
  writeCheckpoints,
} from '../src/index.ts'
import { fund, holdNamed, noCaps, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed()
  const { database } = bed
  await setPolicy(database, { apiKeyId: 'key', rules: { maxTotal: '1000' }, actor: 'test' })
  await fund(database, 'sponsor', 100n)
  for (const name of ['posted', 'voided', 'open', 'pinned']) {
    await database.transaction((tx) => ledger.reserve(tx, holdNamed(name)))
  }
  const until = new Date(Date.now() + 3_600_000)
  const evidence = { proof: 'é"\n' }
  await ledger.post(database, { requestId: requestIdOf('posted'), amountMicroUsd: 7n, evidence })
  await ledger.void(database, { requestId: requestIdOf('voided'), reason: 'test' })
  await ledger.pin(database, { requestId: requestIdOf('pinned'), until })
  const asset = { chainId: 10, address: '0xaa', symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }
  await accrueAppFees(database, {
    requestId: requestIdOf('posted'),
    asset,
    fees: [{ recipient: 'app', amount: 5n }],
  })
  for (const name of ['paid', 'failed', 'pending']) {
    const claim = { claimId: requestIdOf(name), wallet: 'app', recipient: 'app', asset, amount: 1n }
    await database.transaction((tx) => openAppFeeClaim(tx, claim))
  }
  const ending = { actor: 'test', evidence: {} }
  await database.transaction(async (tx) => {
    const transactionHash = requestIdOf('payout')
    const end = { status: 'paid', transactionHash } as const
    await endAppFeeClaim(tx, { claimId: requestIdOf('paid'), end, ...ending })
    const reason = { status: 'failed', reason: 'TTL_EXPIRED' } as const
    await endAppFeeClaim(tx, { claimId: requestIdOf('failed'), end: reason, ...ending })
  })
  const [event] = await database.query<{ id: bigint }>(`
    insert into chain_event (chain_id, tx_hash, log_index, tx_log_ordinal, block_number, block_hash, sighting,
      token, from_addr, to_addr, value, parse, credited_owner)
    select 8453, h, 0, 0, 1, h, 0, a, a, a, 50, 'ok', 'sponsor'
    from (select sha256('tx') as h, substr(sha256('a'), 1, 20) as a) bytes returning id`)
  await database.query(
    `select ledger_transfer(top_up_transfer_id(e, 'deposit'), 'pending', top_up_account(e, 'custody'),
      ledger_account('sponsor', 'sponsor', 1), 50, 'deposit', 'test', null, e.id) from chain_event e where id = $1`,
    [event?.id],
  )
  await database.query('select finalize_event($1, null)', [event?.id])
  await writeCheckpoints(database)
})
afterAll(() => bed?.stop())

/** Falsifies as only a superuser can, looks, and takes it back. */
async function findingsAfter(statement: string, depth: 'cheap' | 'all' = 'all') {
  let findings: Awaited<ReturnType<typeof verifyLedger>> = []
  const falsified = bed.database.transaction(async (tx: SqlTx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(statement)
    findings = await verifyLedger(tx, { depth })
    throw new Error('taken back')
  })
  await expect(falsified).rejects.toThrow('taken back')
  return findings
}

describe('sound books', () => {
  test('have no findings', async () => {
    expect(await verifyLedger(bed.database)).toEqual([])
    expect(await verifyLedger(bed.database, { depth: 'cheap' })).toEqual([])
  })
})

describe('falsified books', () => {
  const byRequest = (name: string) => `request_id = decode('${requestIdOf(name).slice(2)}', 'hex')`

  test.each([
    [
      'a credit from nowhere',
      'I1',
      `update account set credits_posted = credits_posted + 1 where kind = 'sponsor'`,
    ],
    ['a larger hold', 'I1', `update hold set amount = 11 where ${byRequest('open')}`],
    [
      'an overdrawn account',
      'I3',
      `alter table account drop constraint no_overdraft;
       update account set debits_posted = 9999 where kind = 'sponsor'`,
    ],
    [
      'a hold that is not held',
      'I4',
      `update account set debits_pending = debits_pending - 1 where kind = 'sponsor'`,
    ],
    ['a load without holds', 'I4', 'update key_load set holds = holds + 1'],
    ['a claim of another amount', 'I7', `update app_fee_claim set amount = 2 where status = 'pending'`],
    ['a claim that is gone', 'I7', `delete from app_fee_claim where status = 'pending'`],
    [
      'a claim that waits for days',
      'I7',
      `update app_fee_claim set created_at = created_at - interval '2 days' where status = 'pending'`,
    ],
    ['a pin that nobody counted', 'I4', `update hold set pinned = false where ${byRequest('pinned')}`],
  ])('%s shows in the cheap check as %s', async (_name, invariant, statement) => {
    const findings = await findingsAfter(statement, 'cheap')
    expect(findings.map((finding) => finding.invariant)).toContain(invariant)
  })

  test.each([
    ['another amount', 'I2', `update transfer set amount = amount + 1 where code = 'sponsor_post'`],
    ['another recorded balance', 'I2', `update transfer set debit_after = 1 where code = 'sponsor_void'`],
    ['a hold that came back to life', 'I5', `update hold set state = 'expired' where ${byRequest('voided')}`],
    ['a resolver that is gone', 'I5', `delete from transfer where code = 'sponsor_void'`],
    ['a hold that is gone', 'I5', `delete from hold where ${byRequest('open')}`],
    ['a top-up of another value', 'I6', 'update chain_event set value = 51'],
    ['a top-up that never was', 'I6', 'delete from chain_event'],
    ['a top-up that was not final', 'I7', `update chain_event set state = 'seen', final_at = null`],
    ['a post above its hold', 'I8', `update transfer set amount = 11 where code = 'sponsor_post'`],
    [
      'a paid claim that says it failed',
      'I7',
      `update transfer set code = 'claim_failed' where code = 'claim_paid'`,
    ],
    ['an end of a claim that is gone', 'I7', `delete from transfer where code = 'claim_failed'`],
    ['a claim of another wallet', 'I7', `update app_fee_claim set wallet = 'thief' where status = 'paid'`],
    ['usage that nobody used', 'I9', `update policy_usage set used = used + 1 where subject = ''`],
  ])('%s shows as %s', async (_name, invariant, statement) => {
    const findings = await findingsAfter(statement)
    expect(findings.map((finding) => finding.invariant)).toContain(invariant)
  })

  test('findings carry the exact figures', async () => {
    const [finding] = await findingsAfter(
      `update account set debits_pending = debits_pending + 3 where kind = 'sponsor'`,
      'cheap',
    )
    expect(finding).toEqual({
      invariant: 'I1',
      problem: 'Debits and credits of an asset differ.',
      figures: {
        asset_id: '1',
        debits_posted: '157',
        credits_posted: '157',
        debits_pending: '23',
        credits_pending: '0',
        held: '20',
      },
    })
  })
})

describe('the hash chain', () => {
  test.each([
    ['one changed letter of an old transfer', `update transfer set actor = 'tesu' where seq = 1`],
    ['a removed transfer', 'delete from transfer where seq = 1'],
    ['a changed proof', `update transfer set evidence = '{}' where code = 'sponsor_post'`],
  ])('names the range of %s', async (_name, statement) => {
    const chain = (await findingsAfter(statement)).filter(({ invariant }) => invariant === 'chain')
    expect(chain).toMatchObject([{ figures: { fromSeq: '1' } }])
  })

  test('notices a link that was made to fit', async () => {
    await fund(bed.database, 'later', 1n)
    await writeCheckpoints(bed.database)
    const refitted = `update transfer set actor = 'tesu' where seq = 1;
      update checkpoint c set rows_hash = r.rows_hash, link = sha256(r.rows_hash)
      from ledger_rows_hash(1, (select upto_seq from checkpoint where n = 1)) r where c.n = 1`
    const chain = (await findingsAfter(refitted)).filter(({ invariant }) => invariant === 'chain')
    expect(chain).toHaveLength(1)
    expect(await verifyLedger(bed.database)).toEqual([])
  })

  test('has nothing to link when nothing was written', async () => {
    await writeCheckpoints(bed.database)
    expect(await writeCheckpoints(bed.database)).toBeUndefined()
  })
})

describe('the export', () => {
  test('is one JSON line per transfer in order, and goes on where it ended', async () => {
    const lines: string[] = []
    for await (const line of exportTransfers(bed.database)) lines.push(line)
    expect(lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true)
    const transfers: unknown[] = lines.map((line) => JSON.parse(line))
    const [count] = await bed.database.query('select count(*) from transfer')
    expect(BigInt(transfers.length)).toBe(count?.['count'])
    expect(transfers[0]).toMatchObject({
      seq: '1',
      amount: '100',
      debit: { kind: 'adjustment' },
      credit: { kind: 'sponsor', owner: 'sponsor', availableAfter: '100' },
    })
    expect(transfers).toContainEqual(
      expect.objectContaining({ code: 'sponsor_post', amount: '7', evidence: { proof: 'é"\n' } }),
    )
    const rest: string[] = []
    for await (const line of exportTransfers(bed.database, { afterSeq: 3n })) rest.push(line)
    expect(rest).toEqual(lines.filter((line) => BigInt(JSON.parse(line).seq) > 3n))
  })
})
