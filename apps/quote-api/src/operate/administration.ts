import { randomBytes } from 'node:crypto'
import type { SqlDatabase } from '@causeway/core'
import { createKeyAdministration, type KeyAdministration } from '../access/keys/keyAdministration.ts'
import { loadLocalPeppers, type Peppers } from '../access/keys/peppers.ts'
import { assertPeppersFit } from '../access/keys/storedPeppers.ts'
import {
  createWalletAdministration,
  type WalletAdministration,
} from '../access/wallets/walletAdministration.ts'
import type { QuoteApiConfig } from '../config/config.ts'
import type { ChainStop } from '../requests/stops/stopStore.ts'
import { createTimelines, type Timelines } from '../requests/timeline/readTimeline.ts'
import { createWebhookAdministration, type WebhookAdministration } from '../webhooks/webhookAdministration.ts'
import { type AuditAdministration, createAuditAdministration } from './admin/auditAdministration.ts'
import { type ClaimAdministration, createClaimAdministration } from './admin/claimAdministration.ts'
import { createLedgerAdministration, type LedgerAdministration } from './admin/ledgerAdministration.ts'
import { createPolicyAdministration, type PolicyAdministration } from './admin/policyAdministration.ts'
import { createRequestAdministration, type RequestAdministration } from './admin/requestAdministration.ts'
import {
  type ConfigPlaces,
  createStopAdministration,
  type StopAdministration,
} from './admin/stopAdministration.ts'

/** Operations for the command line and the admin listener. */
export type Administration = {
  readonly keys: KeyAdministration
  readonly wallets: WalletAdministration
  readonly policies: PolicyAdministration
  readonly webhooks: WebhookAdministration
  readonly ledger: LedgerAdministration
  readonly requests: RequestAdministration
  readonly timelines: Timelines
  readonly appFeeClaims: ClaimAdministration
  readonly audit: AuditAdministration
  readonly stops: StopAdministration
}

/** In this environment API keys have `live` in their text, in others `test`. */
const liveEnvironment = 'mainnets.prod'

export function createAdministration(options: {
  config: ConfigPlaces & { readonly webhooks: { readonly allowPrivate: boolean } }
  database: SqlDatabase
  peppers: Peppers
  /** Stops that a process knows and its database does not. */
  ownStops?: () => readonly ChainStop[]
}): Administration {
  const { config, database, peppers, ownStops = () => [] } = options
  return {
    keys: createKeyAdministration({
      database,
      peppers,
      environment: config.environment === liveEnvironment ? 'live' : 'test',
      randomBytes,
    }),
    wallets: createWalletAdministration(database),
    policies: createPolicyAdministration(database),
    webhooks: createWebhookAdministration({
      database,
      peppers,
      allowPrivate: config.webhooks.allowPrivate,
    }),
    ledger: createLedgerAdministration(database),
    requests: createRequestAdministration(database),
    // Timelines show currencies by address, because a command may run without any chain configured.
    timelines: createTimelines({ database, nameOf: () => undefined }),
    appFeeClaims: createClaimAdministration(database),
    audit: createAuditAdministration(database),
    stops: createStopAdministration(database, config, ownStops),
  }
}

/**
 * The configured peppers, or in `local` without any the generated one.
 * @throws ConfigurationError, also where keys of the database are stored under another one
 */
export async function loadPeppers(
  config: Pick<QuoteApiConfig, 'apiKeyPeppers' | 'localDirectory'>,
  database: Pick<SqlDatabase, 'query'>,
): Promise<Peppers> {
  const peppers = config.apiKeyPeppers ?? (await loadLocalPeppers(config.localDirectory))
  await assertPeppersFit(database, peppers)
  return peppers
}
