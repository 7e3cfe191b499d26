import type { HttpApp } from '@causeway/http'
import type { Status } from '../../operate/admin/status.ts'
import type { Administration } from '../../operate/administration.ts'
import { auditRefusals, registerAuditRoutes } from './auditRoutes.ts'
import { registerClaimRoutes } from './claimRoutes.ts'
import { registerKeyRoutes, registerWalletRoutes } from './keyRoutes.ts'
import { registerLedgerRoutes } from './ledgerRoutes.ts'
import { registerPolicyRoutes } from './policyRoutes.ts'
import { registerRequestRoutes } from './requestRoutes.ts'
import { registerStatementRoutes, type StatementRouteParts } from './statementRoutes.ts'
import { registerStatusRoutes } from './statusRoutes.ts'
import { registerStopRoutes } from './stopRoutes.ts'
import { registerTopUpCorrections, registerTopUpRoutes } from './topUpRoutes.ts'
import { registerWebhookRoutes } from './webhookRoutes.ts'

/**
 * The routes of the admin listener: what the command line does, by the same functions. Every route that changes
 * something needs a JSON body, which a foreign web page cannot send without a CORS preflight.
 * @source rule O-188
 */
export function registerAdmin(
  app: HttpApp,
  administration: Administration,
  parts: StatementRouteParts & { readonly readStatus: () => Promise<Status> },
): void {
  auditRefusals(app, administration.audit)
  registerStatusRoutes(app, parts.readStatus)
  registerAuditRoutes(app, administration.audit)
  registerKeyRoutes(app, administration.keys)
  registerWalletRoutes(app, administration.wallets)
  registerPolicyRoutes(app, administration.policies)
  registerWebhookRoutes(app, administration.webhooks)
  registerLedgerRoutes(app, administration.ledger)
  registerRequestRoutes(app, administration.requests, administration.timelines)
  registerClaimRoutes(app, administration.appFeeClaims)
  registerStopRoutes(app, administration.stops)
  registerTopUpRoutes(app, parts)
  registerTopUpCorrections(app, parts)
  registerStatementRoutes(app, parts)
}
