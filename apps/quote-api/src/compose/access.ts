import type { SqlDatabase } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import { type ApiKeys, Counter, type HttpMetrics, type SharedLimits } from '@causeway/http'
import type { Logger } from 'pino'
import { createKeylessBudget, type KeylessBudget } from '../access/keylessBudget.ts'
import type { Peppers } from '../access/keys/peppers.ts'
import { createStoredApiKeys } from '../access/keys/storedApiKeys.ts'
import { claimInDatabase } from '../access/sharedLimits.ts'
import { createContractSignatures } from '../access/wallets/contractSignature.ts'
import { createSponsorSessions, type SponsorSessions } from '../access/wallets/sponsorSessions.ts'
import { createSponsors, type Sponsors } from '../access/wallets/sponsors.ts'
import { createWalletLinking, type WalletLinking } from '../access/wallets/walletLinking.ts'
import type { SponsorshipChain } from '../pricing/sponsorship/sponsorCurrency.ts'

/** Parts that identify callers and link wallets to their keys as sponsors. */
export type Access = {
  readonly apiKeys: ApiKeys
  readonly sponsors: Sponsors
  readonly linking: WalletLinking
  readonly sessions: SponsorSessions
}

/** Counts rate limits of all replicas in the database. While it does not answer, this process counts alone. */
export function createSharedLimits(options: {
  database: SqlDatabase
  metrics: Pick<HttpMetrics, 'registry'>
  logger: Pick<Logger, 'warn'>
}): SharedLimits {
  const { database, metrics, logger } = options
  const localCounter = new Counter({
    name: 'rate_limits_alone_total',
    help: 'Times that the database did not count in time, so that this process counted for itself for a while',
    registers: [metrics.registry],
  })
  return {
    claim: claimInDatabase(database),
    onAlone(error) {
      localCounter.inc()
      logger.warn({ err: error }, 'rate limits are counted by this process alone for a while')
    },
  }
}

/** Budgets for callers without an API key: order signatures and hub entries. Counted where rate limits are counted. */
export function createKeylessBudgets(options: {
  readonly database: SqlDatabase
  readonly config: { readonly rateLimits: { readonly isShared: boolean } }
  readonly limits: QuoteFile['keylessPerMinute']
}): Readonly<Record<'signatures' | 'hubEntries', KeylessBudget>> {
  const { database, config, limits } = options
  const claim = config.rateLimits.isShared ? claimInDatabase(database) : undefined
  const counting = { claim, now: () => performance.now() }
  return {
    signatures: createKeylessBudget({
      ...counting,
      bucket: 'order signatures',
      what: 'signed orders',
      limits: limits.signatures,
    }),
    hubEntries: createKeylessBudget({
      ...counting,
      bucket: 'hub entries',
      what: 'authorizations',
      limits: limits.authorizations,
    }),
  }
}

/** Opens API keys, their sponsors, and the linking and sign-in of wallets. */
export function createAccess(options: {
  database: SqlDatabase
  peppers: Peppers
  chain: SponsorshipChain
  /** Address of the service as its users know it. */
  publicUrl: string
  randomBytes: (length: number) => Uint8Array
  logger: Logger
}): Access {
  const { database, peppers, chain, publicUrl, randomBytes, logger } = options
  const { chainId, client } = chain
  // Monotonic: a wall clock that is set back would let a cached, revoked key live on.
  const now = () => performance.now()
  const sponsors = createSponsors({ database, now })
  const signing = {
    database,
    site: { domain: new URL(publicUrl).host, uri: publicUrl, chainId },
    contracts: client === undefined ? undefined : createContractSignatures(client),
    randomBytes,
  }
  return {
    apiKeys: createStoredApiKeys({
      database,
      peppers,
      now,
      onRehashFailure: (error) => logger.warn({ err: error }, 'key hash not renewed'),
    }),
    sponsors,
    linking: createWalletLinking({ ...signing, onLinked: (apiKeyId) => sponsors.forget(apiKeyId) }),
    sessions: createSponsorSessions({
      ...signing,
      // `byId` always has the current pepper.
      secret: peppers.byId.get(peppers.currentId) ?? randomBytes(32),
      now: () => Date.now(),
    }),
  }
}
