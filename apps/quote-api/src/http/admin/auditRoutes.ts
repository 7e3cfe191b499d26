import { DomainError } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { operatorReason } from '../../access/operatorReason.ts'
import type { AuditAdministration } from '../../operate/admin/auditAdministration.ts'
import { adminOperation, integerText } from './adminOperation.ts'

const limitMax = 1_000
const word = z.string().min(1).max(200).optional()

const lineSchema = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  actor: z.string(),
  action: z.string(),
  subject: z.string(),
  outcome: z.string().describe('done, unchanged, or the code of the refusal'),
  details: z.record(z.string(), z.unknown()),
})

/** `/admin/audit`: who changed what. */
export function registerAuditRoutes(app: HttpApp, audit: AuditAdministration): void {
  const list = {
    ...adminOperation('audit list', 'List who changed what and why, newest first, refused attempts among it'),
    querystring: z.object({
      actor: word,
      action: word,
      subject: word,
      since: z.iso
        .datetime()
        .transform((text) => new Date(text))
        .optional(),
      before: integerText.optional(),
      limit: z.coerce.number().int().min(1).max(limitMax).default(100),
    }),
    response: { 200: z.object({ lines: z.array(lineSchema) }), ...errorResponses },
  }
  app.get('/admin/audit', { schema: list }, async ({ query }) => ({
    lines: (await audit.list(query)).map(({ id, at, ...line }) => ({
      id: id.toString(),
      at: at.toISOString(),
      ...line,
    })),
  }))
}

/** Audited change of each admin route, under the name of the equivalent command. Routes not listed only read. */
export const changesOfRoutes: Readonly<Record<string, string>> = {
  'POST /admin/keys': 'keys.create',
  'POST /admin/keys/:id/rotate': 'keys.rotate',
  'POST /admin/keys/:id/revoke': 'keys.revoke',
  'POST /admin/keys/:id/unlink-wallet': 'wallets.unlink',
  'PUT /admin/keys/:id/policy': 'policies.set',
  'POST /admin/keys/:id/policy/remove': 'policies.remove',
  'PUT /admin/keys/:id/webhook': 'webhooks.set',
  'POST /admin/keys/:id/webhook/rotate-secret': 'webhooks.rotate-secret',
  'POST /admin/keys/:id/webhook/remove': 'webhooks.remove',
  'POST /admin/keys/:id/webhook/replay': 'webhooks.replay',
  'POST /admin/requests/:id/retry': 'requests.retry',
  'POST /admin/requests/:id/resolve': 'requests.resolve',
  'POST /admin/app-fee-claims/:id/end': 'claims.end',
  'POST /admin/suspense/:id/credit': 'suspense.credit',
  'POST /admin/sponsors/:wallet/freeze': 'sponsor.freeze',
  'POST /admin/sponsors/:wallet/unfreeze': 'sponsor.unfreeze',
  'POST /admin/ledger/resume': 'ledger.resume',
  'POST /admin/top-ups/:id/reverse': 'topup.reverse',
  'POST /admin/top-ups/chains/:chainId/resume': 'topup.resume',
  'POST /admin/stops/:chain/stop': 'stop',
  'POST /admin/stops/:chain/go': 'go',
}

/** Changes that only the console makes, so that no command has their name (see `linkRoutes.ts`). */
const changesOfConsole: Readonly<Record<string, string>> = {
  'POST /admin/keys/:id/link-wallet': 'wallets.link',
}

/** Path parameters. A route that changes something has at most one: the subject of the change. */
const subjectParams = z.record(z.string(), z.union([z.string(), z.number(), z.bigint()]))
const reasoned = z.object({ reason: operatorReason })

/** Adds refused attempts to the audit log. A change that succeeds adds its own line, in its transaction. */
export function auditRefusals(app: HttpApp, audit: AuditAdministration): void {
  app.addHook('onError', async ({ method, routeOptions, params, body }, _reply, error) => {
    const route = `${method} ${routeOptions.url ?? ''}`
    const action = changesOfRoutes[route] ?? changesOfConsole[route]
    // A malformed request is no `DomainError`, and attempts no change.
    if (action === undefined || !(error instanceof DomainError)) return
    const [subject = '-'] = Object.values(subjectParams.safeParse(params).data ?? {}).map(String)
    const details = reasoned.safeParse(body).data ?? {}
    await audit.refused({ actor: adminActor, action, subject, details, outcome: error.code })
  })
}
