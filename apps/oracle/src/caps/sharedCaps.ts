import { createHash } from 'node:crypto'
import { type Hex, hexToBytes, type SqlDatabase, type SqlTx } from '@causeway/core'
import {
  type CapVerdict,
  type CountedValue,
  capWindowMinutes,
  judgeValue,
  type SigningCapsOptions,
} from '@causeway/signer'
import type { CountedCaps } from './signingGuard.ts'

/** Caps that all processes of one oracle count together, in PostgreSQL. See `SigningCaps`. */
export interface SharedCaps extends CountedCaps {
  /** Reads the sums that metrics show, and deletes those too old to count. */
  refresh(): Promise<void>
  /** Imports counts from a state folder that the database replaces, even above the cap. @param minute since 1970 */
  importCounts(tx: SqlTx, counted: ReadonlyMap<bigint, bigint>, minute: number): Promise<void>
  /** Imports a key from there, which may then be signed without being counted; see `SigningCaps.exempt`. */
  importKey(tx: SqlTx, value: CountedValue): Promise<void>
}

/** First of the two keys of a token's advisory lock: any fixed number except that of job locks. */
const tokenLockClass = 0x0ca5e3a8
const minuteNow = 'floor(extract(epoch from clock_timestamp()) / 60)::int'

type Amounts = ReadonlyMap<bigint, bigint>
type TokenRow = { readonly hub_token: bigint; readonly amount: bigint }

/**
 * Counts by the clock of the database. Judging and counting is one transaction under the locks of the tokens,
 * so that two processes cannot both fit into the same remainder of a cap. The count is stored before the
 * signature: if the process dies between them, the same key is `free` for the next one. Verdicts: `free` was
 * counted before under its key; `within` and `upper` fit, and `admit` counts them; `held` must not be signed.
 * `judge` takes no lock, so only `admit` decides that a cap has room.
 */
export function createSharedCaps(
  database: SqlDatabase,
  rules: Pick<SigningCapsOptions, 'table' | 'isUnlistedHeld'>,
): SharedCaps {
  const { table } = rules
  /** Sums within the window at the last `refresh`, for metrics alone. */
  let signed: Amounts = new Map()

  async function judgeIn(tx: SqlTx, value: CountedValue) {
    const countedForKey = await readCounted(tx, value)
    const sums = await readSums(tx, [...value.amounts.keys()])
    return judgeValue(value, { countedForKey, signedOf: (hubTokenId) => sums.get(hubTokenId) ?? 0n }, rules)
  }

  async function admitIn(tx: SqlTx, value: CountedValue): Promise<CapVerdict> {
    await lockTokens(tx, value.amounts)
    const { verdict, due } = await judgeIn(tx, value)
    if (verdict.kind === 'free' || verdict.kind === 'held') return verdict
    await addMinute(tx, due)
    await remember(tx, value)
    return verdict
  }

  return {
    judge: async (value) => (await judgeIn(database, value)).verdict,
    admit: (value) => database.transaction((tx) => admitIn(tx, value)),
    exempt: (value) => remember(database, value),
    usage: () => [...table].map(([hubTokenId, cap]) => ({ ...cap, signed: signed.get(hubTokenId) ?? 0n })),
    async refresh() {
      await forgetOld(database)
      signed = await readSums(database, [...table.keys()])
    },
    importCounts: addMinute,
    importKey: remember,
  }
}

/** Locks tokens until the transaction ends, in ascending order, so that transactions cannot deadlock. */
async function lockTokens(tx: SqlTx, amounts: Amounts): Promise<void> {
  // A lock's number has 32 bits, so token ids are hashed. Two tokens with one number just share a lock.
  const locks = [...amounts.keys()].map((hubTokenId) =>
    createHash('sha256').update(String(hubTokenId)).digest().readInt32BE(0),
  )
  for (const lock of [...new Set(locks)].sort((a, b) => a - b)) {
    await tx.query('select pg_advisory_xact_lock($1, $2)', [tokenLockClass, lock])
  }
}

/** Amounts that were counted under a key; `undefined` for a key that was never signed. */
async function readCounted(tx: SqlTx, { key }: CountedValue): Promise<Amounts | undefined> {
  const rows = await tx.query<TokenRow>('select hub_token, amount from signed_value where key = $1', [
    bytesOf(key),
  ])
  return rows.length === 0 ? undefined : mapOf(rows)
}

/** Sums of tokens within the window. */
async function readSums(tx: SqlTx, hubTokenIds: readonly bigint[]): Promise<Amounts> {
  const rows = await tx.query<TokenRow>(
    `select hub_token, sum(amount) as amount from signed_minute
     where hub_token = any($1::numeric[]) and minute >= ${minuteNow} - $2::int group by hub_token`,
    [hubTokenIds.map(String), capWindowMinutes],
  )
  return mapOf(rows)
}

/** Adds to the sums of a minute. @param minute default: the current one (`least` ignores null), which is also the latest */
async function addMinute(tx: SqlTx, counted: Amounts, minute?: number): Promise<void> {
  await tx.query(
    `insert into signed_minute as counted (hub_token, minute, amount)
     select token, least($3::int, ${minuteNow}), amount from unnest($1::numeric[], $2::numeric[]) as due (token, amount)
     on conflict (hub_token, minute) do update set amount = counted.amount + excluded.amount`,
    [...columnsOf(counted), minute],
  )
}

/** Remembers a key with its largest amounts. A value without amounts gets a row of token 0, so that its key is known. */
async function remember(tx: SqlTx, { key, amounts }: CountedValue): Promise<void> {
  const rows = amounts.size === 0 ? new Map([[0n, 0n]]) : amounts
  await tx.query(
    `insert into signed_value as known (key, hub_token, amount)
     select $3, token, amount from unnest($1::numeric[], $2::numeric[]) as due (token, amount)
     on conflict (key, hub_token) do update
     set amount = greatest(known.amount, excluded.amount), signed_at = clock_timestamp()`,
    [...columnsOf(rows), bytesOf(key)],
  )
}

/** Deletes sums that have left the window for long, and keys that may then be counted once more. */
async function forgetOld(database: SqlDatabase): Promise<void> {
  await database.query(`delete from signed_minute where minute < ${minuteNow} - 120`)
  await database.query(`delete from signed_value where signed_at < clock_timestamp() - interval '30 days'`)
}

const mapOf = (rows: readonly TokenRow[]): Amounts =>
  new Map(rows.map(({ hub_token, amount }) => [hub_token, amount]))
const columnsOf = (amounts: Amounts) => [[...amounts.keys()].map(String), [...amounts.values()].map(String)]
const bytesOf = (hex: Hex) => Buffer.from(hexToBytes(hex))
