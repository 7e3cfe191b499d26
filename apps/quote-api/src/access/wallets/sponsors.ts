import type { Hex, SqlDatabase } from '@causeway/core'
import { createBoundedStalenessCache } from '../keys/boundedStalenessCache.ts'

/** Tells the wallet that pays for the requests of a key. */
export interface Sponsors {
  /**
   * The lower-case wallet linked to the key with this public id; `undefined` when none is, or when
   * the key does not exist or is revoked. May be as old as the key cache (5 s at most).
   * @throws UpstreamUnavailableError when the database does not answer
   */
  walletOf(apiKeyId: string): Promise<Hex | undefined>
}

/** Links as the database has them; `forget` makes a change by this process visible to it at once. */
export function createSponsors(options: {
  database: SqlDatabase
  /** Milliseconds of a clock that never goes back. */
  now: () => number
}): Sponsors & { forget(apiKeyId: string): void } {
  const { database, now } = options
  const wallets = createBoundedStalenessCache({ read: (apiKeyId) => readWallet(database, apiKeyId), now })
  return { walletOf: (apiKeyId) => wallets.get(apiKeyId), forget: (apiKeyId) => wallets.forget(apiKeyId) }
}

async function readWallet(database: SqlDatabase, apiKeyId: string): Promise<Hex | undefined> {
  const [row] = await database.query<{ wallet: Hex | null }>(
    'select wallet from api_key where id = $1 and revoked_at is null',
    [apiKeyId],
  )
  return row?.wallet ?? undefined
}
