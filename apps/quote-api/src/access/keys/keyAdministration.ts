import { DomainError, type Hex, type SqlDatabase, type SqlTx } from '@causeway/core'
import { formatApiKey, hashApiKey, parseApiKey } from '@causeway/http'
import { recordAction } from '../adminAction.ts'
import { type Peppers, pepperCheck } from './peppers.ts'

/** A new secret. It is shown once: only its hash is stored. */
export type IssuedKey = {
  /** Names the key in policies, holds, history and logs; stays when its secret changes. */
  readonly id: string
  readonly label: string
  /** Key text that requests carry in `x-api-key`. */
  readonly apiKey: string
}

export type RotatedKey = IssuedKey & {
  /** End of the time in which the previous secrets still work. */
  readonly previousWorkUntil: Date
}

export type ListedKey = {
  readonly id: string
  readonly label: string
  readonly status: 'active' | 'revoked'
  /** Lower-case sponsorship wallet. */
  readonly wallet: string | undefined
  /** Public parts of the secrets that work now, newest first; `worksUntil` is absent without an end. */
  readonly secrets: readonly { readonly handle: string; readonly worksUntil: Date | undefined }[]
  readonly createdAt: Date
  readonly revokedAt: Date | undefined
}

/** Actor for the audit log: see `AdminAction`. */
type Attribution = { readonly actor: string }

/** Operations on API keys: one implementation behind the command line and the admin listener. */
export interface KeyAdministration {
  create(args: Attribution & { label: string }): Promise<IssuedKey>
  /**
   * Issues a new secret. Earlier secrets end after `overlapSeconds`, or at their own end if that is sooner.
   * @throws ApiKeyNotFoundError, ApiKeyRevokedError
   */
  rotate(args: Attribution & { id: string; overlapSeconds: number }): Promise<RotatedKey>
  /** Ends the key and all its secrets for good; doing it again is no error. @throws ApiKeyNotFoundError */
  revoke(args: Attribution & { id: string }): Promise<void>
  /** Oldest first. */
  list(): Promise<readonly ListedKey[]>
}

/** Random bytes of which `formatApiKey` makes a key's handle and secret. */
const keyRandomBytes = 42

/** Keeps keys and their hashed secrets in the database. A key's id is the handle of its first secret. @source rule L-86 */
export function createKeyAdministration(options: {
  database: SqlDatabase
  peppers: Peppers
  /** Part of the key's text; `live` where money is real. */
  environment: 'live' | 'test'
  randomBytes: (length: number) => Uint8Array
}): KeyAdministration {
  const { database, environment, peppers, randomBytes } = options

  function newSecret(): { apiKey: string } & StoredSecret {
    const apiKey = formatApiKey({ environment, random: randomBytes(keyRandomBytes) })
    const handle = parseApiKey(apiKey)?.keyId
    const pepper = peppers.byId.get(peppers.currentId)
    if (handle === undefined || pepper === undefined) throw new Error('a key cannot be issued')
    const { currentId: pepperId } = peppers
    return { handle, apiKey, hash: hashApiKey(apiKey, pepper), pepperId, check: pepperCheck(pepper) }
  }

  return {
    create: ({ actor, label }) =>
      database.transaction(async (tx) => {
        const { apiKey, ...secret } = newSecret()
        const { handle } = secret
        await tx.query('insert into api_key (id, label) values ($1, $2)', [handle, label])
        await insertSecret(tx, handle, secret)
        await recordAction(tx, { actor, action: 'keys.create', subject: handle, details: { label } })
        return { id: handle, label, apiKey }
      }),

    rotate: ({ actor, id, overlapSeconds }) =>
      database.transaction(async (tx) => {
        const { label } = await lockUsableKey(tx, id)
        // Done before the new secret is stored, which it would end too.
        const previousWorkUntil = await retireSecrets(tx, id, overlapSeconds)
        const { apiKey, ...secret } = newSecret()
        await insertSecret(tx, id, secret)
        const details = { handle: secret.handle, overlapSeconds }
        await recordAction(tx, { actor, action: 'keys.rotate', subject: id, details })
        return { id, label, apiKey, previousWorkUntil }
      }),

    revoke: ({ actor, id }) =>
      database.transaction(async (tx) => {
        const isRevoked = (await lockKey(tx, id)).revoked_at !== null
        if (!isRevoked)
          await tx.query('update api_key set revoked_at = clock_timestamp() where id = $1', [id])
        const outcome = isRevoked ? 'unchanged' : 'done'
        await recordAction(tx, { actor, action: 'keys.revoke', subject: id, outcome })
      }),

    async list() {
      const rows = await database.query<ListedRow>(listKeys)
      return rows.map(fromRow)
    },
  }
}

type KeyRow = { readonly label: string; readonly wallet: Hex | null; readonly revoked_at: Date | null }

/** Locks the key's row until the transaction ends, so that changes of one key follow each other. @throws ApiKeyNotFoundError */
export async function lockKey(tx: SqlTx, id: string): Promise<KeyRow> {
  const [row] = await tx.query<KeyRow>(
    'select label, wallet, revoked_at from api_key where id = $1 for update',
    [id],
  )
  if (row === undefined) throw new ApiKeyNotFoundError()
  return row
}

/** Like `lockKey`, for a key that is not revoked. @throws ApiKeyNotFoundError, ApiKeyRevokedError */
export async function lockUsableKey(tx: SqlTx, id: string): Promise<KeyRow> {
  const row = await lockKey(tx, id)
  if (row.revoked_at !== null) throw new ApiKeyRevokedError()
  return row
}

/** @returns when the secrets end at the latest */
async function retireSecrets(tx: SqlTx, id: string, overlapSeconds: number): Promise<Date> {
  const [row] = await tx.query<{ until: Date }>(
    'select clock_timestamp() + make_interval(secs => $1::int) as until',
    [overlapSeconds],
  )
  if (row === undefined) throw new Error('a select of one row answered none')
  // `least` ignores null, the end of a secret that works for good.
  await tx.query('update api_key_secret set retire_at = least(retire_at, $2) where api_key_id = $1', [
    id,
    row.until,
  ])
  return row.until
}

type StoredSecret = {
  /** Public part of the secret, by which it is found. */
  readonly handle: string
  readonly hash: Buffer
  readonly pepperId: string
  /** See `pepperCheck`. */
  readonly check: Buffer
}

async function insertSecret(tx: SqlTx, id: string, secret: StoredSecret): Promise<void> {
  const { handle, hash, pepperId, check } = secret
  await tx.query(
    'insert into api_key_secret (handle, api_key_id, hash, pepper_id, pepper_check) values ($1, $2, $3, $4, $5)',
    [handle, id, hash, pepperId, check],
  )
}

/** All keys with their secrets that work now, `handles` and `ends` in one order; a revoked key has none. */
const listKeys = `
  select k.id, k.label, k.wallet, k.created_at, k.revoked_at,
    coalesce(array_agg(s.handle order by s.created_at desc) filter (where s.handle is not null), '{}') as handles,
    coalesce(array_agg(s.retire_at order by s.created_at desc) filter (where s.handle is not null), '{}') as ends
  from api_key k
  left join api_key_secret s on s.api_key_id = k.id and k.revoked_at is null
    and (s.retire_at is null or s.retire_at > clock_timestamp())
  group by k.id order by k.created_at, k.id`

type ListedRow = {
  readonly id: string
  readonly label: string
  readonly wallet: string | null
  readonly created_at: Date
  readonly revoked_at: Date | null
  readonly handles: readonly string[]
  readonly ends: readonly (Date | null)[]
}

function fromRow(row: ListedRow): ListedKey {
  return {
    id: row.id,
    label: row.label,
    status: row.revoked_at === null ? 'active' : 'revoked',
    wallet: row.wallet ?? undefined,
    secrets: row.handles.map((handle, index) => ({ handle, worksUntil: row.ends[index] ?? undefined })),
    createdAt: row.created_at,
    revokedAt: row.revoked_at ?? undefined,
  }
}

class ApiKeyNotFoundError extends DomainError {
  readonly code = 'API_KEY_NOT_FOUND'
  readonly kind = 'not_found'

  constructor() {
    super('No API key has this id; list the keys to see theirs.')
  }
}

/** A revoked key never works again, so nothing about it can be changed. */
class ApiKeyRevokedError extends DomainError {
  readonly code = 'API_KEY_REVOKED'
  readonly kind = 'conflict'

  constructor() {
    super('This API key is revoked; create a new one.')
  }
}
