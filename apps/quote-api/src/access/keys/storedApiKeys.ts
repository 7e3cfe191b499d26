import type { SqlDatabase } from '@causeway/core'
import { type ApiKeys, createApiKeys, hashApiKey, parseApiKey, type StoredApiKey } from '@causeway/http'
import { type BoundedStalenessCache, createBoundedStalenessCache } from './boundedStalenessCache.ts'
import { type Peppers, pepperCheck } from './peppers.ts'

/** A key of the database; `isChecked` if its row has the check of its pepper (see `pepperCheck`). */
type KeptApiKey = StoredApiKey & { readonly isChecked: boolean }

/** Keys of the database have no scopes: only the configured key of a solver has one. */
const noScopes: ReadonlySet<string> = new Set()

/**
 * Finds the API key of a request in the database by its public part, and compares its keyed hash. A revoked
 * or retired secret stops working everywhere within the bound of `createBoundedStalenessCache`. Use of a key
 * replaces a hash that is under an older pepper or has no check. `Sponsors` tells a key's wallet.
 * @source rule L-87
 */
export function createStoredApiKeys(options: {
  database: SqlDatabase
  peppers: Peppers
  now: () => number
  onRehashFailure: (error: unknown) => void
}): ApiKeys {
  const { database, peppers, now, onRehashFailure } = options
  const secrets: BoundedStalenessCache<KeptApiKey> = createBoundedStalenessCache({
    read: (handle) => readSecret(database, handle),
    now,
  })
  const keys = createApiKeys({
    lookup: { findByKeyId: (handle) => secrets.get(handle) },
    peppers: peppers.byId,
  })

  async function rehash(keyText: string, handle: string): Promise<void> {
    const stored = await secrets.get(handle)
    const pepper = peppers.byId.get(peppers.currentId)
    if (stored === undefined || pepper === undefined) return
    if (stored.pepperId === peppers.currentId && stored.isChecked) return
    await database.query(
      'update api_key_secret set hash = $2, pepper_id = $3, pepper_check = $4 where handle = $1',
      [handle, hashApiKey(keyText, pepper), peppers.currentId, pepperCheck(pepper)],
    )
    secrets.forget(handle)
  }

  return {
    async find(keyText) {
      const record = await keys.find(keyText)
      const handle = parseApiKey(keyText)?.keyId
      // The caller does not wait for the new hash; if it fails, the next use tries again.
      if (record !== undefined && handle !== undefined) rehash(keyText, handle).catch(onRehashFailure)
      return record
    },
  }
}

type SecretRow = {
  readonly id: string
  readonly label: string
  readonly hash: Buffer
  readonly pepper_id: string
  readonly is_checked: boolean
}

async function readSecret(database: SqlDatabase, handle: string): Promise<KeptApiKey | undefined> {
  const [row] = await database.query<SecretRow>(
    `select k.id, k.label, s.hash, s.pepper_id, s.pepper_check is not null as is_checked
     from api_key_secret s join api_key k on k.id = s.api_key_id
     where s.handle = $1 and k.revoked_at is null
       and (s.retire_at is null or s.retire_at > clock_timestamp())`,
    [handle],
  )
  if (row === undefined) return undefined
  const { id, label, hash, pepper_id: pepperId, is_checked: isChecked } = row
  return { record: { keyId: id, label, scopes: noScopes }, hash, pepperId, isChecked }
}
