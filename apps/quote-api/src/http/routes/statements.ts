import { errorResponses, type HttpApp } from '@causeway/http'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Sponsors } from '../../access/wallets/sponsors.ts'
import {
  type StatementAnswer,
  statementAnswer,
  statementCsv,
  statementSchema,
} from '../../money/statements/statementAnswer.ts'
import { statementGroupsOf, statementPeriod } from '../../money/statements/statementRequest.ts'
import type { SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import { requireKeyOfWallet } from '../../requests/history/historyAccess.ts'
import type { MoneyHistory } from '../../requests/history/moneyHistory.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { statementQueryFields } from '../wire/historyQuery.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

/** GET /sponsorship/statements/{wallet}: what its balances did in a month, or between two days. */
export function registerStatements(
  app: HttpApp,
  dependencies: {
    readonly sponsors: Sponsors
    readonly moneyHistory: MoneyHistory
    readonly sponsorCurrency: SponsorCurrency
  },
): void {
  const { sponsors, moneyHistory, sponsorCurrency } = dependencies
  const schema = {
    operationId: 'getStatement',
    tags: ['history'],
    security: [{ apiKey: [] }],
    errors: mergeErrors(databaseErrors, { 403: ['FORBIDDEN'] }),
    summary: 'Opening, movements and closing of balances, which add up',
    params: z.object({ wallet: walletText }),
    querystring: z.object({
      ...statementQueryFields,
      format: z.enum(['json', 'csv']).default('json'),
    }),
    response: { 200: statementSchema.or(z.string()), ...errorResponses },
  }
  const config = { rateLimitClass: 'read' }
  app.get('/sponsorship/statements/:wallet', { schema, config }, async ({ params, query, apiKey }, reply) => {
    const wallet = parseWallet(params.wallet)
    await requireKeyOfWallet(sponsors, apiKey, wallet)
    const period = statementPeriod(query, Date.now())
    const groups = statementGroupsOf(query.groupBy)
    const statement = await moneyHistory.statement({ wallet, ...period, groups })
    const answer = statementAnswer(wallet, period, statement, sponsorCurrency)
    return query.format === 'json' ? answer : sendStatementCsv(reply, answer)
  })
}

/** A statement as a file that a spreadsheet opens. */
export function sendStatementCsv(reply: FastifyReply, answer: StatementAnswer) {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${answer.from}-${answer.to}.csv"`)
    .send(`${statementCsv(answer).join('\r\n')}\r\n`)
}
