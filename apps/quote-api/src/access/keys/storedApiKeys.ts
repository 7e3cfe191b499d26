import type { SqlDatabase } from '@causeway/core'
import { type ApiKeys, createApiKeys, hashApiKey, parseApiKey, type StoredApiKey } from '@causeway/http'
import { type BoundedStalenessCache, createBoundedStalenessCache } from './boundedStalenessCache.ts'
import type { Peppers } from './peppers.ts'

const noScopes: ReadonlySet<string> = new Set()

/**
 * The keys of the database: found by their public part, compared by keyed hash. Revocation and
 * retirement reach every process within the bound of `createBoundedStalenessCache`. A hash under an older
 * pepper is replaced when its key is used. `sponsor` is left to `Sponsors`.
 * @source ledger-and-safety.md 2.1
 */
export function createStoredApiKeys(options: {
  database: SqlDatabase
  peppers: Peppers
  now: () => number
  onRehashFailure: (error: unknown) => void
}): ApiKeys {
  const { database, peppers, now, onRehashFailure } = options
  const secrets: BoundedStalenessCache<StoredApiKey> = createBoundedStalenessCache({
    read: (handle) => readSecret(database, handle),
    now,
  })
  const keys = createApiKeys({
    lookup: { findByKeyId: (handle) => secrets.get(handle) },
    peppers: peppers.byId,
  })

  async function rehash(presented: string, handle: string): Promise<void> {
    const stored = await secrets.get(handle)
    const pepper = peppers.byId.get(peppers.currentId)
    if (stored === undefined || stored.pepperId === peppers.currentId || pepper === undefined) return
    await database.query('update api_key_secret set hash = $2, pepper_id = $3 where handle = $1', [
      handle,
      hashApiKey(presented, pepper),
      peppers.currentId,
    ])
    secrets.forget(handle)
  }

  return {
    async find(presented) {
      const record = await keys.find(presented)
      const handle = parseApiKey(presented)?.keyId
      // The caller need not wait for it, and the next use tries again.
      if (record !== undefined && handle !== undefined) rehash(presented, handle).catch(onRehashFailure)
      return record
    },
  }
}

type SecretRow = {
  readonly id: string
  readonly label: string
  readonly hash: Buffer
  readonly pepper_id: string
}

async function readSecret(database: SqlDatabase, handle: string): Promise<StoredApiKey | undefined> {
  const [row] = await database.query<SecretRow>(
    `select k.id, k.label, s.hash, s.pepper_id
     from api_key_secret s join api_key k on k.id = s.api_key_id
     where s.handle = $1 and k.revoked_at is null
       and (s.retire_at is null or s.retire_at > clock_timestamp())`,
    [handle],
  )
  if (row === undefined) return undefined
  const { id, label, hash, pepper_id: pepperId } = row
  return { record: { keyId: id, label, scopes: noScopes }, hash, pepperId }
}
