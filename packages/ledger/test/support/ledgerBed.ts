import type { HoldRequest, SqlTx } from '@causeway/core'
import { type DatabaseOptions, startTestDatabase, type TestDatabase } from '@causeway/database'
import { type HoldCaps, ledgerMigrations, openAccount, transferId, writeTransfer } from '../../src/index.ts'
import { changeFunction, functionChangeVariable } from './mutatedFunction.ts'

/** Timings never fail a test. */
export const patience = { acquireTimeoutMs: 60_000, statementTimeoutMs: 60_000 }

/** A PostgreSQL of the test's own with the ledger's schema. */
export async function startLedgerBed(
  options: { durable?: boolean; pool?: Partial<DatabaseOptions> } = {},
): Promise<TestDatabase> {
  const pool = { ...patience, ...options.pool }
  const directories = [{ name: 'ledger', path: ledgerMigrations }]
  const bed = await startTestDatabase({ ...options, pool, directories })
  const change = process.env[functionChangeVariable]
  if (change !== undefined) await changeFunction(bed.database, JSON.parse(change))
  return bed
}

/** Actor and reason for the audit. */
export const byTest = { actor: 'test', reason: 'test' }

/** For tests about something else than the caps. */
export const noCaps: HoldCaps = {
  holdsPerUser: 1_000_000,
  holdsPerKey: 1_000_000,
  unsettledShareBps: 10_000n,
}

/** Posts money to a sponsor; each `name` once. */
export async function fund(database: SqlTx, sponsor: string, amount: bigint, name = sponsor): Promise<void> {
  await writeTransfer(database, {
    id: transferId('adjustment', name),
    kind: 'posted',
    debitAccount: await openAccount(database, { kind: 'adjustment', owner: 'test' }),
    creditAccount: await openAccount(database, { kind: 'sponsor', owner: sponsor }),
    amount,
    code: 'adjustment',
    actor: 'test',
  })
}

/** `0x` and 64 digits that only depend on the name. */
export function requestIdOf(name: string): `0x${string}` {
  const [a, b] = [transferId('a', name), transferId('b', name)]
  return `0x${`${a}${b}`.replaceAll('-', '')}`
}

/** A request of its own user and re-quote key, unless changed. */
export function holdNamed(name: string, change: Partial<HoldRequest> = {}): HoldRequest {
  return {
    requestId: requestIdOf(name),
    sponsor: 'sponsor',
    apiKeyId: 'key',
    user: `user ${name}`,
    recipient: change.user ?? `user ${name}`,
    originChainId: 8453,
    destinationChainId: 10,
    components: ['execution', 'relay'],
    amountMicroUsd: 10n,
    lifetimeSeconds: 90,
    requoteKey: `requote ${name}`,
    ...change,
  }
}
