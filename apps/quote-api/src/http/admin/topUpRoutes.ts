import { ConfigurationError, DomainError, type SqlDatabase } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { operatorReason } from '../../access/operatorReason.ts'
import { creditSuspense, listSuspense } from '../../money/topUps/operator.ts'
import type { Reconciliation } from '../../money/topUps/reconcile.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

/** Top-ups are not configured here. */
class TopUpsNotConfiguredError extends DomainError {
  readonly code = 'TOP_UPS_NOT_CONFIGURED'
  readonly kind = 'conflict'

  constructor(cause: ConfigurationError) {
    super(cause.message, { cause })
  }
}

export type TopUpRouteParts = {
  readonly database: SqlDatabase
  /** The chain of top-ups as the command line opens it. @throws ConfigurationError */
  readonly chain: (signal: AbortSignal) => Promise<{
    reconcile(range: { from: bigint | undefined; to: bigint | undefined }): Promise<Reconciliation>
  }>
}

const pageMax = 1_000
const integer = z
  .string()
  .regex(/^[0-9]{1,18}$/)
  .transform(BigInt)

const suspendedSchema = z.object({
  id: z.string(),
  chainId: z.int(),
  transactionHash: z.string(),
  logIndex: z.int(),
  from: z.string(),
  amountMicroUsd: z.string(),
  why: z.string(),
})

/** `/admin/suspense` and `/admin/ledger/reconcile`: money that names no balance, and chain against books. */
export function registerTopUpRoutes(app: HttpApp, { database, chain }: TopUpRouteParts): void {
  const list = {
    querystring: z.object({
      after: integer.default(0n),
      limit: z.coerce.number().int().min(1).max(pageMax).default(pageMax),
    }),
    response: { 200: z.object({ entries: z.array(suspendedSchema) }), ...errorResponses },
  }
  app.get('/admin/suspense', { schema: list }, async ({ query }) => ({
    entries: (await listSuspense(database, query)).map((event) => ({
      id: event.id.toString(),
      chainId: event.chainId,
      transactionHash: event.transactionHash,
      logIndex: event.logIndex,
      from: event.from,
      amountMicroUsd: event.value.toString(),
      why: event.parse,
    })),
  }))

  const credit = {
    params: z.object({ id: integer }),
    body: z.object({ wallet: walletText, reason: operatorReason }),
    response: { 200: z.object({ id: z.string(), wallet: z.string() }), ...errorResponses },
  }
  app.post('/admin/suspense/:id/credit', { schema: credit }, async ({ params: { id }, body }) => {
    const wallet = parseWallet(body.wallet)
    await creditSuspense(database, { eventId: id, wallet, actor: adminActor, reason: body.reason })
    return { id: id.toString(), wallet }
  })

  const reconcile = {
    querystring: z.object({ from: integer.optional(), to: integer.optional() }),
    response: {
      200: z.object({
        from: z.string(),
        to: z.string(),
        explainedMicroUsd: z.string(),
        totalMicroUsd: z.string(),
        differences: z.array(
          z.object({
            kind: z.string(),
            transactionHash: z.string(),
            logIndex: z.int(),
            amountMicroUsd: z.string(),
          }),
        ),
      }),
      ...errorResponses,
    },
  }
  app.get('/admin/ledger/reconcile', { schema: reconcile }, async ({ query, signal }) => {
    const opened = await chain(signal).catch(asConflict)
    const found = await opened.reconcile({ from: query.from, to: query.to }).catch(asConflict)
    return {
      from: found.from.toString(),
      to: found.to.toString(),
      explainedMicroUsd: found.explainedMicroUsd.toString(),
      totalMicroUsd: found.totalMicroUsd.toString(),
      differences: found.differences.map(({ valueMicroUsd, ...difference }) => ({
        ...difference,
        amountMicroUsd: valueMicroUsd.toString(),
      })),
    }
  })
}

/** @throws TopUpsNotConfiguredError, or the error as it is */
function asConflict(error: unknown): never {
  throw error instanceof ConfigurationError ? new TopUpsNotConfiguredError(error) : error
}
