import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import type { ContractSignatures } from './contractSignature.ts'
import { personalMessageDigest, writeSignInMessage } from './linkMessage.ts'
import {
  InvalidNonceError,
  InvalidSignatureError,
  SessionOverError,
  TooManySessionsError,
  WalletSponsorsNothingError,
} from './walletErrors.ts'
import type { LinkingSite } from './walletLinking.ts'
import { hasSigned, withUsualRecoveryByte } from './walletOwner.ts'

/** Sign-in to the sponsor console: a linked wallet signs a text and gets a token that reads its own records. */
export interface SponsorSessions {
  /** The text to sign, good once and for five minutes. It is not stored, so a flood of calls fills no table. */
  challenge(wallet: Hex): { readonly message: string; readonly nonce: string; readonly expiresAt: Date }
  /**
   * @returns a token that reads and does nothing else
   * @throws InvalidNonceError, InvalidSignatureError, WalletSponsorsNothingError, TooManySessionsError, and what
   * reading a contract wallet throws
   */
  open(args: { wallet: Hex; nonce: string; signature: Hex }): Promise<{
    readonly token: string
    readonly expiresAt: Date
  }>
  /** The wallet of a token whose session is open. @throws SessionOverError */
  walletOf(token: string | undefined): Promise<Hex>
  /** Ends the session: the token becomes invalid. */
  end(token: string): Promise<void>
}

const challengeLifetimeMs = 300_000
/** Longer than a nonce is valid: the row of a session also shows that its nonce was used. */
const sessionLifetimeSeconds = 3_600
/** Sign-ins of one wallet within the lifetime of a session, ended ones included. */
const sessionsPerWalletMax = 20
/** 32 random bytes in base64url. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/
/** In hex, as EIP-4361 asks: time in Unix ms, 16 random bytes, and 16 of our HMAC of both with the wallet. */
const noncePattern = /^([0-9a-f]{12})([0-9a-f]{32})([0-9a-f]{32})$/

type SponsorSessionsOptions = {
  readonly database: SqlDatabase
  readonly site: LinkingSite
  readonly contracts: ContractSignatures | undefined
  /** Shared by all replicas: a challenge of one is answered at another. */
  readonly secret: Uint8Array
  readonly randomBytes: (length: number) => Uint8Array
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function createSponsorSessions(options: SponsorSessionsOptions): SponsorSessions {
  const { database, contracts, randomBytes } = options
  const challenges = createSignInChallenges(options)
  return {
    challenge: challenges.create,

    async open({ wallet, nonce, signature }) {
      const message = challenges.messageOf(wallet, nonce)
      const digest = personalMessageDigest(message)
      const isSignedByKey = recoverSigner(digest, withUsualRecoveryByte(signature)) === wallet
      const isLinked = await sponsorsSomething(database, wallet)
      // Only a linked contract wallet is called. Without a valid signature the refusal is the same for linked
      // and unlinked wallets, so that a stranger does not learn what is linked.
      const isSigned =
        isSignedByKey || (isLinked && (await hasSigned({ message, wallet, signature }, contracts)))
      if (!isSigned) throw new InvalidSignatureError()
      if (!isLinked) throw new WalletSponsorsNothingError()
      const token = Buffer.from(randomBytes(32)).toString('base64url')
      const session = { wallet, nonce, token }
      return { token, expiresAt: await database.transaction((tx) => insertSession(tx, session)) }
    },

    async walletOf(token) {
      if (token === undefined || !tokenPattern.test(token)) throw new SessionOverError()
      // The link must be older than the session: a wallet that was unlinked and linked again has to sign in again.
      const [row] = await database.query<{ wallet: Hex }>(
        `select s.wallet from sponsor_session s
         where token_hash = $1 and ended_at is null and expires_at > clock_timestamp() and exists (
           select from api_key k where k.wallet = s.wallet and revoked_at is null and wallet_linked_at <= s.issued_at)`,
        [hashOf(token)],
      )
      if (row === undefined) throw new SessionOverError()
      return row.wallet
    },

    async end(token) {
      await database.query(
        'update sponsor_session set ended_at = clock_timestamp() where token_hash = $1 and ended_at is null',
        [hashOf(token)],
      )
    },
  }
}

/** Texts to sign. The nonce carries all that a text needs, and a proof, so that the text can be written anew. */
function createSignInChallenges({ site, secret, randomBytes, now }: SponsorSessionsOptions) {
  // A key of its own, so that nothing else that `secret` signs passes for a proof.
  const key = createHmac('sha256', secret).update('sponsor sign-in').digest()
  const proofOf = (wallet: Hex, timeAndRandom: string) =>
    createHmac('sha256', key).update(`${wallet} ${timeAndRandom}`).digest('hex').slice(0, 32)
  const textOf = (wallet: Hex, nonce: string, issuedAtMs: number) => {
    const expiresAt = new Date(issuedAtMs + challengeLifetimeMs)
    return {
      message: writeSignInMessage({ ...site, wallet, nonce, issuedAt: new Date(issuedAtMs), expiresAt }),
      expiresAt,
    }
  }
  return {
    create(wallet: Hex) {
      const issuedAtMs = now()
      const time = issuedAtMs.toString(16).padStart(12, '0')
      const timeAndRandom = `${time}${Buffer.from(randomBytes(16)).toString('hex')}`
      const nonce = `${timeAndRandom}${proofOf(wallet, timeAndRandom)}`
      return { nonce, ...textOf(wallet, nonce, issuedAtMs) }
    },
    /** The text that we gave this wallet with this nonce. @throws InvalidNonceError */
    messageOf(wallet: Hex, nonce: string): string {
      const [, time = '', random = '', proof = ''] = noncePattern.exec(nonce) ?? []
      if (
        time === '' ||
        !timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(wallet, `${time}${random}`)))
      ) {
        throw new InvalidNonceError()
      }
      const issuedAtMs = Number.parseInt(time, 16)
      // The age is negative if the clock of the replica that issued the text is ahead.
      const ageMs = now() - issuedAtMs
      if (ageMs > challengeLifetimeMs || ageMs < -challengeLifetimeMs) throw new InvalidNonceError()
      return textOf(wallet, nonce, issuedAtMs).message
    },
  }
}

async function sponsorsSomething(database: SqlDatabase, wallet: Hex): Promise<boolean> {
  const rows = await database.query(
    'select 1 as linked from api_key where wallet = $1 and revoked_at is null limit 1',
    [wallet],
  )
  return rows.length > 0
}

/** @returns when the session ends @throws TooManySessionsError, InvalidNonceError if the nonce was used before */
async function insertSession(
  tx: SqlTx,
  session: { wallet: Hex; nonce: string; token: string },
): Promise<Date> {
  const { wallet, nonce, token } = session
  // Sign-ins of one wallet follow each other, so that the count is exact. 65 sets this lock apart from others.
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 65))', [wallet])
  await tx.query('delete from sponsor_session where expires_at <= clock_timestamp()')
  const [count] = await tx.query<{ sessions: number }>(
    'select count(*)::int as sessions from sponsor_session where wallet = $1',
    [wallet],
  )
  if ((count?.sessions ?? 0) >= sessionsPerWalletMax) throw new TooManySessionsError()
  const [row] = await tx.query<{ expires_at: Date }>(
    `insert into sponsor_session (token_hash, challenge_hash, wallet, expires_at)
     values ($1, $2, $3, clock_timestamp() + make_interval(secs => $4::int))
     on conflict (challenge_hash) do nothing returning expires_at`,
    [hashOf(token), hashOf(nonce), wallet, sessionLifetimeSeconds],
  )
  if (row === undefined) throw new InvalidNonceError()
  return row.expires_at
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
