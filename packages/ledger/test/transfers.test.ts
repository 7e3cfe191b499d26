// Goal: transfers are double entry, written once, and no limited account is ever overdrawn. Method: the
// migrated schema in a PostgreSQL of the test's own.
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  openAccount,
  registerAsset,
  resolveTransfer,
  setSponsorFrozen,
  transferId,
  writeTransfer,
} from '../src/index.ts'
import { byTest, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase

beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

async function twoAccounts(name: string) {
  const { database } = bed
  const custody = await openAccount(database, { kind: 'custody', owner: `8453:${name}` })
  const sponsor = await openAccount(database, { kind: 'sponsor', owner: name })
  return { custody, sponsor }
}

async function counters(id: bigint) {
  const [row] = await bed.database.query(
    `select debits_posted, credits_posted, debits_pending, credits_pending from account where id = $1`,
    [id],
  )
  return row && Object.values(row)
}

const topUp = (name: string, debitAccount: bigint, creditAccount: bigint, amount = 100n) =>
  ({
    id: transferId('deposit', name),
    kind: 'pending',
    debitAccount,
    creditAccount,
    amount,
    code: 'deposit',
    actor: 'watcher',
  }) as const

test('L-41: transfer ids of SQL and TypeScript agree', async () => {
  for (const fact of ['1', 'ä|2', '0xabc']) {
    const [row] = await bed.database.query('select ledger_transfer_id($1, $2)::text as id', ['hold', fact])
    expect(row).toEqual({ id: transferId('hold', fact) })
  }
  expect(transferId('hold', '1')).not.toBe(transferId('resolve', '1'))
})

describe('a pending transfer', () => {
  test('counts on both accounts, then exactly one post or void ends it', async () => {
    const { custody, sponsor } = await twoAccounts('pending')
    const pending = topUp('pending', custody, sponsor)
    expect(await writeTransfer(bed.database, pending)).toBe('done')
    expect(await counters(sponsor)).toEqual([0n, 0n, 0n, 100n])
    const end = { pendingId: pending.id, kind: 'post', amount: 100n, actor: 'watcher' } as const
    expect(await resolveTransfer(bed.database, { ...end, amount: 101n })).toBe('exceeds_pending')
    expect(await resolveTransfer(bed.database, end)).toBe('done')
    expect(await resolveTransfer(bed.database, end)).toBe('already_posted')
    expect(await resolveTransfer(bed.database, { ...end, kind: 'void' })).toBe('already_posted')
    expect(await counters(sponsor)).toEqual([0n, 100n, 0n, 0n])
    expect(await counters(custody)).toEqual([100n, 0n, 0n, 0n])
  })

  test('voided leaves nothing behind', async () => {
    const { custody, sponsor } = await twoAccounts('voided')
    const pending = topUp('voided', custody, sponsor)
    await writeTransfer(bed.database, pending)
    const end = { pendingId: pending.id, kind: 'void', actor: 'watcher' } as const
    expect(await resolveTransfer(bed.database, end)).toBe('done')
    expect(await resolveTransfer(bed.database, end)).toBe('already_voided')
    for (const account of [sponsor, custody]) expect(await counters(account)).toEqual([0n, 0n, 0n, 0n])
  })

  test('that nobody wrote is unknown', async () => {
    const end = { pendingId: transferId('deposit', 'none'), kind: 'void', actor: 'watcher' } as const
    expect(await resolveTransfer(bed.database, end)).toBe('unknown')
  })
})

describe('a repeated id', () => {
  test('L-41: with an equal body changes nothing, with another body is a conflict', async () => {
    const { custody, sponsor } = await twoAccounts('repeated')
    const pending = topUp('repeated', custody, sponsor)
    await writeTransfer(bed.database, pending)
    expect(await writeTransfer(bed.database, pending)).toBe('exists')
    expect(await writeTransfer(bed.database, { ...pending, amount: 99n })).toBe('conflict')
    expect(await counters(sponsor)).toEqual([0n, 0n, 0n, 100n])
  })
})

describe('a sponsor', () => {
  const payout = (name: string, debitAccount: bigint, creditAccount: bigint, amount: bigint) =>
    ({
      id: transferId('withdrawal', `${name}${amount}`),
      kind: 'posted',
      debitAccount,
      creditAccount,
      amount,
      code: 'withdrawal',
      actor: 'operator',
    }) as const

  async function funded(name: string) {
    const { custody, sponsor } = await twoAccounts(name)
    await writeTransfer(bed.database, { ...topUp(name, custody, sponsor), kind: 'posted' })
    const clearing = await openAccount(bed.database, { kind: 'payout_clearing', owner: `8453:${name}` })
    return { sponsor, clearing }
  }

  test('pays no unit more than it has', async () => {
    const { sponsor, clearing } = await funded('payer')
    expect(await writeTransfer(bed.database, payout('payer', sponsor, clearing, 101n))).toBe('insufficient')
    expect(await writeTransfer(bed.database, payout('payer', sponsor, clearing, 100n))).toBe('done')
    expect(await writeTransfer(bed.database, payout('payer', sponsor, clearing, 1n))).toBe('insufficient')
  })

  test('that is frozen pays nothing but reversals', async () => {
    const { sponsor, clearing } = await funded('frozen')
    await setSponsorFrozen(bed.database, { sponsor: 'frozen', frozen: true, ...byTest })
    const payment = payout('frozen', sponsor, clearing, 1n)
    expect(await writeTransfer(bed.database, payment)).toBe('frozen')
    expect(await writeTransfer(bed.database, { ...payment, code: 'reversal' })).toBe('done')
  })

  test('cannot be overdrawn even by a statement of its own', async () => {
    const { sponsor } = await twoAccounts('bypassed')
    const overdraw = bed.database.query('update account set debits_pending = 1 where id = $1', [sponsor])
    await expect(overdraw).rejects.toMatchObject({ constraint: 'no_overdraft' })
  })
})

describe('transfers are append-only', () => {
  test.each([
    ['an update', 'update transfer set amount = 1'],
    ['a deletion', 'delete from transfer'],
    ['a truncation', 'truncate transfer cascade'],
  ])('%s is refused', async (_name, statement) => {
    const { custody, sponsor } = await twoAccounts('kept')
    await writeTransfer(bed.database, topUp('kept', custody, sponsor))
    await expect(bed.database.query(statement)).rejects.toMatchObject({ code: '23000' })
  })

  test('a transfer between two assets is refused', async () => {
    const { custody } = await twoAccounts('assets')
    const usdc = { chainId: 10, address: '0xa', symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }
    const assetId = await registerAsset(bed.database, usdc)
    expect(await registerAsset(bed.database, usdc)).toBe(assetId)
    const other = await openAccount(bed.database, { kind: 'sponsor', owner: 'assets', assetId })
    await expect(writeTransfer(bed.database, topUp('assets', custody, other))).rejects.toMatchObject({
      code: '23503',
    })
  })
})
