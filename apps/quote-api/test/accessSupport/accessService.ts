// The public routes over stored keys and links: a real database, and a chain for contract wallets where
// a test needs one. Several of them on one database are several processes of one service.
import { randomBytes } from 'node:crypto'
import type { SqlDatabase } from '@causeway/core'
import { Secret } from '@causeway/core'
import type { HttpApp } from '@causeway/http'
import { createJsonRpcClient } from '@causeway/rpc'
import { createLogger } from '@causeway/service'
import { type Peppers, parsePeppers } from '../../src/access/keys/peppers.ts'
import { type Access, createAccess } from '../../src/compose/access.ts'
import { createUsage, type Usage } from '../../src/compose/usage.ts'
import { loadConsolePage } from '../../src/http/console/consoleFiles.ts'
import { type Administration, createAdministration } from '../../src/operate/administration.ts'
import { createSponsorRecords } from '../../src/requests/history/sponsorRecords.ts'
import { readWebhookStandings } from '../../src/webhooks/webhookStandings.ts'
import { testApp } from '../fixtures/app.ts'

export const pepperText = `v1:${'5a'.repeat(32)}`
export const publicUrl = 'https://api.causeway.example'
export const sponsorshipChainId = 8_453

export type AccessService = Access & {
  /** Not started: a test flushes when it needs it. */
  readonly usage: Usage
  readonly app: HttpApp
  readonly administration: Administration
  close(): Promise<void>
}

export async function startAccessService(options: {
  database: SqlDatabase
  peppers?: Peppers
  /** Endpoints of the chain on which contract wallets are asked. */
  rpcUrls?: readonly string[]
  publicUrl?: string
}): Promise<AccessService> {
  const { database, rpcUrls, peppers = parsePeppers(new Secret(pepperText)) } = options
  const client =
    rpcUrls === undefined
      ? undefined
      : createJsonRpcClient({ chainId: 'base', endpoints: rpcUrls.map((url) => ({ url })) })
  const logger = createLogger({ service: 'quote-api', level: 'silent' })
  const access = createAccess({
    database,
    peppers,
    chain: { chainId: sponsorshipChainId, client },
    publicUrl: options.publicUrl ?? publicUrl,
    randomBytes,
    logger,
  })
  const usage = createUsage({ database, logger })
  const administration = createAdministration({
    config: { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate: false } },
    database,
    peppers,
  })
  const app = await testApp({
    sponsorConsole: {
      sessions: access.sessions,
      policies: administration.policies,
      records: createSponsorRecords(database),
      webhooks: (wallet) => readWebhookStandings(database, wallet),
      files: await loadConsolePage('sponsor'),
    },
    apiKeys: access.apiKeys,
    linking: access.linking,
    onKeyedAnswer: (answer) => usage.recorder.count(answer),
    readUsage: usage.readUsage,
  })
  return {
    ...access,
    usage,
    app,
    administration,
    async close() {
      await app.close()
      await client?.close()
    },
  }
}
