import { errorResponses, type HttpApp } from '@causeway/http'
import { readStatement } from '@causeway/ledger'
import { z } from 'zod'
import { statementAnswer, statementSchema } from '../../money/statements/statementAnswer.ts'
import { statementGroupsOf, statementPeriod } from '../../money/statements/statementRequest.ts'
import { previewRetention, type RetentionSettings } from '../../requests/retention/removableRequests.ts'
import { statementQueryFields } from '../wire/historyQuery.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'
import { adminOperation } from './adminOperation.ts'
import { asConflict, type TopUpRouteParts } from './topUpRoutes.ts'

export type StatementRouteParts = TopUpRouteParts & { readonly retention: RetentionSettings }

/** Setting of an age in days, after which something is deleted. */
const days = z.int().optional().describe('Absent: never')

const show = {
  ...adminOperation('statements show', 'What the balances of a wallet did in a month or between two days', {
    409: ['TOP_UPS_NOT_CONFIGURED'],
  }),
  params: z.object({ wallet: walletText }),
  querystring: z.object(statementQueryFields),
  response: { 200: statementSchema, ...errorResponses },
}

const preview = {
  ...adminOperation(
    'retention show',
    'Show which stored quotes and requests would be deleted by their age; deletes nothing',
  ),
  response: {
    200: z.object({
      settings: z.object({ quotesDays: days, requestsDays: days }),
      preview: z.array(
        z.object({
          what: z.enum(['quote', 'request']),
          removable: z.int(),
          open: z.int().describe('Old enough, and kept because something of it is open'),
          oldest: z.iso.datetime().optional(),
        }),
      ),
    }),
    ...errorResponses,
  },
}

/** `/admin/statements` and `/admin/retention`: what balances did, and which stored requests would be deleted. */
export function registerStatementRoutes(app: HttpApp, parts: StatementRouteParts): void {
  const { database, chain, retention } = parts
  app.get('/admin/statements/:wallet', { schema: show }, async ({ params, query, signal }) => {
    const wallet = parseWallet(params.wallet)
    const period = statementPeriod(query, Date.now())
    const groups = statementGroupsOf(query.groupBy)
    const { sponsorCurrency } = await chain(signal).catch(asConflict)
    const statement = await readStatement(database, { wallet, ...period, groups })
    return statementAnswer(wallet, period, statement, sponsorCurrency)
  })

  app.get('/admin/retention', { schema: preview }, async () => ({
    settings: retention,
    preview: (await previewRetention(database, retention)).map(({ oldest, ...kind }) => ({
      ...kind,
      oldest: oldest?.toISOString(),
    })),
  }))
}
