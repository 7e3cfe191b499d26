// Goal: whatever of a request, a claim or a transaction makes no progress is on one list after the limit and not before,
// in each of its states, and the status of the request says so. Attackers: tries that make a state look young, a sweep
// that is asked for again and again. Method: rows as jobs leave them, made older; no clock is waited for.
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { moveDepositCursor } from '../src/requests/settlement/deposits/depositCursor.ts'
import { createStandstillJob } from '../src/requests/settlement/parked/standstillJob.ts'
import { listStanding, readStandingOf } from '../src/requests/status/readStanding.ts'
import { createRequestStatuses } from '../src/requests/status/requestStatus.ts'
import { lockWork, updateWork } from '../src/requests/work/workStore.ts'
import { hexOf, orderMigrations, orderNamed } from './orderSupport/orders.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'

let server: TestDatabase
beforeAll(async () => {
  const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
  server = await startTestDatabase({ directories })
})
afterAll(async () => {
  await server?.stop()
})

const ago = (minutes: number) => `clock_timestamp() - interval '${minutes} minutes'`

/** As jobs and solvers leave it `minutes` later. $1: the request. */
const deposit = (name: string, more: string, minutes: number) => `
  insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id, request_id,
    depositor, currency, amount, state, seen_at, deep_since)
  select 8453, '${hexOf(name)}', '0', 1, '0xab', now(), order_id, request_id, '0xd', '0xc', 1, ${more},
    ${ago(minutes)}, ${ago(minutes)} from orders where request_id = $1`
const work = (kind: string, more: string, minutes: number) => `
  insert into work_item (kind, request_id, chain_id, payload, waits_since, state, tx_hash, reason, attempts)
  select '${kind}', request_id, 10, '{"recipient": "0xr", "deadline": 2000000000}', ${ago(minutes)}, ${more}
  from orders where request_id = $1`
const stage = (name: string, more: string, minutes: number) => `
  insert into settlement (request_id, deposit_id, is_bound, updated_at, stage, parked_reason, unproven_as, unproven_since)
  select request_id, id, true, ${ago(minutes)}, ${more}
  from deposit_seen where request_id = $1 and tx_hash = '${hexOf(name)}'`
const address = (name: string, minutes: number) => `
  insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id, currency, is_strict,
    held_since, deep_since)
  select '${hexOf(name, 20)}', 8453, '0x1', '0x2', '0x3', decode('${hexOf(name).slice(2)}', 'hex'), request_id, '0xc', false,
    ${ago(minutes)}, ${ago(minutes)} from orders where request_id = $1`

const named = `update orders set deposit_address = '0xa' where request_id = $1`

type Case = readonly [
  what: string,
  reason: string,
  rows: (name: string, minutes: number) => readonly string[],
]
const cases: readonly Case[] = [
  ['a solver that is down', 'SOLVER_SILENT', (_, m) => [work('fill', `'open', null, null, 0`, m)]],
  [
    'Q-75: a solver that waits for inventory',
    'SOLVER_BALANCE_TOO_LOW',
    (_, m) => [work('fill', `'open', null, 'the inventory does not reach', 0`, m)],
  ],
  [
    'Q-75: a solver that waits for its budget',
    'SOLVER_WAITS',
    (_, m) => [work('fill', `'open', null, 'the budget of this hour is spent', 0`, m)],
  ],
  [
    'a solver without inventory',
    'SOLVER_BALANCE_TOO_LOW',
    (_, m) => [work('fill', `'open', null, 'no inventory', 2`, m)],
  ],
  [
    'a refund that is blocked by its token',
    'TRANSACTION_REVERTED',
    (_, m) => [work('refund', `'open', null, 'reverted', 7`, m)],
  ],
  [
    'a refund to a frozen account',
    'TRANSACTION_SUBMISSION_FAILED',
    (_, m) => [work('refund', `'open', null, 'the account is frozen', 7`, m)],
  ],
  [
    'a refund whose revert is not final',
    'TRANSACTION_REVERTED',
    (n, m) => [work('refund', `'reported', '${hexOf(`${n} sent`)}', 'reverted', 0`, m)],
  ],
  [
    'a permit whose relay reverts',
    'TRANSACTION_REVERTED',
    (_, m) => [work('permit', `'open', null, 'reverted', 1`, m)],
  ],
  [
    'a fill that no block takes',
    'TRANSACTION_NOT_INCLUDED',
    (n, m) => [work('fill', `'reported', '${hexOf(`${n} sent`)}', null, 0`, m)],
  ],
  ['a deposit that nothing is decided about', 'UNDECIDED', (n, m) => [deposit(n, `'seen'`, m)]],
  [
    'an attestation that never comes',
    'ATTESTATION_MISSING',
    (n, m) => [deposit(n, `'taken'`, m), stage(n, `'filled', null, 'ATTESTATION_MISSING', ${ago(m)}`, m)],
  ],
  [
    'a stage whose work has ended',
    'UNDECIDED',
    (n, m) => [deposit(n, `'taken'`, m), stage(n, `'filling', null, null, null`, m)],
  ],
  ['a deposit address that nobody sweeps', 'PAYMENT_NOT_SWEPT', (n, m) => [address(n, m), named]],
  [
    'a sweep that reverts',
    'TRANSACTION_REVERTED',
    (n, m) => [address(n, m), named, work('sweep', `'failed', null, 'reverted', 0`, 0)],
  ],
]

async function made(name: string, minutes: number, rows: Case[2]) {
  const order = orderNamed(`${name} ${minutes}`, { originChainId: 8453, destinationChainId: 10 })
  await createOrderStore({ database: server.database }).save(order)
  const id = bytesOf(order.requestId)
  await server.database.query(`update orders set created_at = ${ago(minutes)} where request_id = $1`, [id])
  for (const row of rows(`${name} ${minutes}`, minutes)) await server.database.query(row, [id])
  return order.requestId
}

describe('O-45: after five minutes without progress', () => {
  test.each(cases)('%s is on the list', async (name, reason, rows) => {
    const young = await made(name, 4, rows)
    const old = await made(name, 6, rows)
    const listed = await listStanding(server.database)
    const mine = listed.filter(({ requestId }) => requestId === old || requestId === young)
    expect(mine).toMatchObject([{ requestId: old, reason, needsOperator: false }])
    const status = await createRequestStatuses({ database: server.database }).read(old)
    expect([status.failReason, status.refundFailReason]).toContain(reason)
  })

  test.each(['fill', 'refund'])(
    'O-85: a %s that the solver refuses is on it at once, in its words',
    async (kind) => {
      const report = 'ORDER_REFUSED: the order is signed by somebody else'
      const refused = await made(`a refused ${kind}`, 0, (_, m) => [
        work(kind, `'open', null, '${report}', 1`, m),
      ])
      const standing = (await readStandingOf(server.database, [refused])).get(refused)
      expect(standing).toMatchObject({
        reason: 'ORDER_REFUSED',
        report,
        tries: 1,
        isRefund: kind === 'refund',
      })
      const status = await createRequestStatuses({ database: server.database }).read(refused)
      expect([status.failReason, status.refundFailReason]).toContain('ORDER_REFUSED')
    },
  )

  test('a claim, and a transaction that cannot be read, are on it by their own ids', async () => {
    const claim = hexOf('claim')
    await server.database.query(
      `insert into work_item (kind, subject, chain_id, payload, waits_since, state, tx_hash, reason)
       values ('claim', $1, 10, '{"recipient": "0xr"}', ${ago(6)}, 'reported', '0xpaid', 'does not pay')`,
      [claim],
    )
    await server.database.query(
      `insert into put_aside (chain_id, transaction_id, purpose, reason, first_seen_at)
       values (8453, '0xaside', 'deposits', 'unreadable', ${ago(6)})`,
    )
    const listed = await listStanding(server.database)
    expect(listed.find(({ subject }) => subject === claim)).toMatchObject({
      reason: 'DOES_NOT_PAY',
      account: '0xr',
      transaction: '0xpaid',
    })
    expect(listed.find(({ subject }) => subject === '0xaside')).toMatchObject({
      reason: 'TRANSACTION_UNREADABLE',
    })
  })
})

test('O-46: another try is no progress, and a block is', async () => {
  const requestId = await made('tries', 6, (_, m) => [work('refund', `'open', null, null, 0`, m)])
  const { database } = server
  const [row] = await database.query<{ id: string }>('select id from work_item where request_id = $1', [
    bytesOf(requestId),
  ])
  const id = row?.id ?? ''
  const move = (change: Parameters<typeof updateWork>[2]) =>
    database.transaction(async (tx) => {
      await lockWork(tx, id)
      await updateWork(tx, id, change)
    })
  const reason = async () => (await readStandingOf(database, [requestId])).get(requestId)?.reason
  await move({ state: 'open', attempts: 1, reason: 'no gas' })
  expect(await reason()).toBe('TRANSACTION_SUBMISSION_FAILED')
  await move({ state: 'reported', txHash: '0xtry' })
  expect(await reason()).toBe('TRANSACTION_NOT_INCLUDED')
  await move({ state: 'open', txHash: null, reason: 'reverted', attempts: 2 })
  expect(await reason()).toBe('TRANSACTION_REVERTED')
  await move({ state: 'reported', txHash: '0xagain', isIncluded: true })
  expect(await reason()).toBeUndefined()
})

test('O-47: confirmations that are due are no standstill until their chain stands', async () => {
  const { database } = server
  const requestId = await made('shallow', 6, (n, m) => [deposit(n, `'seen'`, m)])
  await database.query('update deposit_seen set deep_since = null, chain_id = 77 where request_id = $1', [
    bytesOf(requestId),
  ])
  const reason = async () => (await readStandingOf(database, [requestId])).get(requestId)?.reason
  const move = (minutes: number, paceMs: number) =>
    database.query(
      `insert into deposit_cursor (chain_id, scanned_to, scanned_hash, moved_at, pace_ms) values (77, 1, '0x', ${ago(minutes)}, $1)
       on conflict (chain_id) do update set moved_at = excluded.moved_at, pace_ms = $1`,
      [paceMs],
    )
  await move(1, 2_000)
  expect(await reason()).toBeUndefined()
  await move(6, 2_000)
  expect(await reason()).toBe('DEPOSIT_CONFIRMATION_TIMEOUT')
  // Ten blocks of ten minutes each are not missed yet.
  await move(6, 600_000)
  expect(await reason()).toBeUndefined()
})

test('O-48: work on a chain that an operator stopped is listed by the stop, with its reason', async () => {
  const { database } = server
  const requestId = await made('stopped', 6, (_, m) => [work('fill', `'open', null, null, 0`, m)])
  await database.query('update work_item set chain_id = 78 where request_id = $1', [bytesOf(requestId)])
  await database.query(
    `insert into chain_stop (chain_id, told_by, reason, actor) values (78, 'operator', 'an upgrade', 'cli:root')`,
  )
  const standing = (await readStandingOf(database, [requestId])).get(requestId)
  expect(standing).toMatchObject({ reason: 'CHAIN_STOPPED', endsBy: expect.stringContaining('an upgrade') })
})

test('O-45: the limit is a setting that every reader goes by', async () => {
  const { database } = server
  const requestId = await made('limit', 4, (_, m) => [work('fill', `'open', null, null, 0`, m)])
  const isListed = async () => (await readStandingOf(database, [requestId])).size === 1
  expect(await isListed()).toBe(false)
  await database.query('insert into standstill_limit (seconds) values (60)')
  expect(await isListed()).toBe(true)
  await database.query('delete from standstill_limit')
})

test('O-49: a refund of another deposit that was given up is on the list at once, whatever its request is', async () => {
  const requestId = await made('second', 0, (_, m) => [work('refund', `'failed', null, 'no gas', 21`, m)])
  await server.database.query(`update orders set status = 'success' where request_id = $1`, [
    bytesOf(requestId),
  ])
  const standing = (await readStandingOf(server.database, [requestId])).get(requestId)
  expect(standing).toMatchObject({
    reason: 'REFUND_FAILED',
    needsOperator: true,
    tries: 21,
    report: 'no gas',
  })
})

test('O-47: a chain moves with each newer block, and not with another look at the same one', async () => {
  const { database } = server
  const movedAt = async (scannedHash: string) => {
    await database.transaction((tx) =>
      moveDepositCursor(
        tx,
        { chainId: 79, paceMs: 2_000.5 },
        { finalTo: 0n, scannedTo: 1n, scannedHash, newestAtSeconds: undefined },
      ),
    )
    const [row] = await database.query<{ at: string }>(
      'select moved_at::text as at from deposit_cursor where chain_id = 79',
    )
    return row?.at
  }
  const first = await movedAt('0xa')
  expect(await movedAt('0xa')).toBe(first)
  expect(await movedAt('0xb')).not.toBe(first)
})

test('O-45: whoever follows a request hears once that it makes no progress, and the setting is kept', async () => {
  const { database } = server
  await database.query('insert into standstill_limit (seconds) values (90)')
  const announced: string[] = []
  const logged: object[] = []
  const job = createStandstillJob(
    {
      database,
      now: () => Date.now(),
      announce: async (_tx, requestId) => void announced.push(requestId),
      observe: (event) => logged.push(event),
    },
    300,
  )
  const run = { fence: async () => {}, signal: new AbortController().signal }
  await job.run(run)
  const requestId = await made('announced', 4, (_, m) => [work('fill', `'open', null, null, 0`, m)])
  await database.query(
    `update work_item set waits_since = clock_timestamp() - interval '300 seconds' where request_id = $1`,
    [bytesOf(requestId)],
  )
  await job.run(run)
  await job.run(run)
  expect(announced.filter((each) => each === requestId)).toHaveLength(1)
  expect(logged).toContainEqual({ event: 'stands_still', subject: requestId, reason: 'SOLVER_SILENT' })
  expect(await database.query('select seconds from standstill_limit')).toMatchObject([{ seconds: 300 }])
})
