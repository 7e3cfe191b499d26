import { createHash } from 'node:crypto'
import type { Hex, SqlDatabase } from '@causeway/core'
import { lockUsableKey } from '../keys/keyAdministration.ts'

/** A text that a wallet signs to become the sponsor of a key; good for one try until it expires. */
export type Challenge = { readonly wallet: Hex; readonly issuedAt: Date; readonly expiresAt: Date }

/** Open challenges of all keys, kept in the database so that another replica can check the answer. */
export interface Challenges {
  /** @throws ApiKeyNotFoundError, ApiKeyRevokedError */
  open(args: { apiKeyId: string; wallet: Hex; nonce: string }): Promise<Challenge>
  /** Returns the challenge and removes it, so that only one caller gets it; undefined if it is unknown or over. */
  take(args: { apiKeyId: string; nonce: string }): Promise<Challenge | undefined>
}

const lifetimeSeconds = 600
/** Challenges that a key may have open. A further one ends the oldest, so that a key cannot fill the table. */
const openPerKeyMax = 5

type ChallengeRow = { readonly wallet: Hex; readonly issued_at: Date; readonly expires_at: Date }

/** Times are the database's, cut to whole milliseconds because the signed message writes them so. */
export function createChallenges(database: SqlDatabase): Challenges {
  return {
    open: ({ apiKeyId, wallet, nonce }) =>
      database.transaction(async (tx) => {
        await lockUsableKey(tx, apiKeyId)
        // Keeps one less than `openPerKeyMax`, because the new one follows.
        await tx.query(
          `delete from wallet_challenge where api_key_id = $1 and (expires_at <= clock_timestamp()
             or nonce_hash not in (select nonce_hash from wallet_challenge where api_key_id = $1
               order by issued_at desc, nonce_hash limit $2))`,
          [apiKeyId, openPerKeyMax - 1],
        )
        const [row] = await tx.query<ChallengeRow>(
          `with at as (select date_trunc('milliseconds', clock_timestamp()) as issued_at)
           insert into wallet_challenge (nonce_hash, api_key_id, wallet, issued_at, expires_at)
           select $1, $2, $3, issued_at, issued_at + make_interval(secs => $4::int) from at
           returning wallet, issued_at, expires_at`,
          [hashOf(nonce), apiKeyId, wallet, lifetimeSeconds],
        )
        if (row === undefined) throw new Error('an insert of one row answered none')
        return fromRow(row)
      }),

    async take({ apiKeyId, nonce }) {
      const [row] = await database.query<ChallengeRow>(
        `delete from wallet_challenge
         where nonce_hash = $1 and api_key_id = $2 and expires_at > clock_timestamp()
         returning wallet, issued_at, expires_at`,
        [hashOf(nonce), apiKeyId],
      )
      return row === undefined ? undefined : fromRow(row)
    },
  }
}

function hashOf(nonce: string): Buffer {
  return createHash('sha256').update(nonce).digest()
}

function fromRow(row: ChallengeRow): Challenge {
  return { wallet: row.wallet, issuedAt: row.issued_at, expiresAt: row.expires_at }
}
