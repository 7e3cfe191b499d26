import { ConfigurationError, DomainError, type SqlDatabase } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { operatorReason } from '../../access/operatorReason.ts'
import {
  creditSuspense,
  findTransactionTopUps,
  haltedTopUps,
  listSuspense,
  resumeHalted,
  reverseFinal,
} from '../../money/topUps/operator.ts'
import type { CommandChain } from '../../operate/cli/commandChain.ts'
import { CommandError } from '../../operate/cli/commandError.ts'
import { QuoteError } from '../../pricing/errors.ts'
import { id32 } from '../wire/id32.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'
import { adminOperation, integerText } from './adminOperation.ts'

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
  readonly chain: (signal: AbortSignal) => Promise<CommandChain>
}

const pageMax = 1_000
/** At most 15 digits, which a number holds exactly. */
const chainIdText = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'must be the number of a chain')
  .transform(Number)

const suspendedSchema = z.object({
  id: z.string(),
  chainId: z.int(),
  transactionHash: z.string(),
  logIndex: z.int(),
  from: z.string(),
  amountMicroUsd: z.string(),
  why: z.string(),
})

const list = {
  ...adminOperation('suspense list', 'List money that arrived and names no balance, oldest first'),
  querystring: z.object({
    after: integerText.default(0n),
    limit: z.coerce.number().int().min(1).max(pageMax).default(pageMax),
  }),
  response: { 200: z.object({ entries: z.array(suspendedSchema) }), ...errorResponses },
}

const credit = {
  ...adminOperation('suspense credit', 'Give money in suspense to the balance of a wallet', {
    400: ['CLAIM_NOT_FINAL'],
    404: ['CLAIM_NOT_FOUND'],
    409: ['CLAIM_ALREADY_SETTLED'],
  }),
  params: z.object({ id: integerText }),
  body: z.object({ wallet: walletText, reason: operatorReason }),
  response: { 200: z.object({ id: z.string(), wallet: z.string() }), ...errorResponses },
}

const reconcile = {
  ...adminOperation('ledger reconcile', 'Compare settled top-ups and payments of the fill wallet', {
    409: ['TOP_UPS_NOT_CONFIGURED', 'TOP_UPS_NOT_SETTLED'],
    503: ['RPC_HTTP_ERROR', 'UPSTREAM_DISAGREEMENT', 'UPSTREAM_UNAVAILABLE'],
  }),
  querystring: z.object({
    from: integerText.optional(),
    to: integerText.optional(),
    hours: z.coerce.number().int().min(1).max(9_999).default(24),
  }),
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
      unknownPayments: z
        .array(
          z.object({ chain: z.string(), transactionId: z.string(), id: z.string(), orderId: z.string() }),
        )
        .describe('Of the fill wallet, which no request explains'),
      notCompared: z.array(z.string()).describe('Chains that list no payments'),
    }),
    ...errorResponses,
  },
}

/** `/admin/suspense` and `/admin/ledger/reconcile`: money that names no balance, and chain against books. */
export function registerTopUpRoutes(app: HttpApp, { database, chain }: TopUpRouteParts): void {
  app.get('/admin/suspense', { schema: list }, async ({ query }) => ({
    entries: (await listSuspense(database, query)).map((event) => ({
      id: event.id.toString(),
      chainId: event.chainId,
      transactionHash: event.transactionHash,
      logIndex: event.logIndex,
      from: event.from,
      amountMicroUsd: event.value.toString(),
      // Reading the credited wallet from suspended money failed; `parse` says why.
      why: event.parse,
    })),
  }))
  app.post('/admin/suspense/:id/credit', { schema: credit }, async ({ params: { id }, body }) => {
    const wallet = parseWallet(body.wallet)
    await creditSuspense(database, { eventId: id, wallet, actor: adminActor, reason: body.reason })
    return { id: id.toString(), wallet }
  })
  // `from` and `to` limit the comparison of top-ups, `hours` that of the fill wallet's payments.
  app.get('/admin/ledger/reconcile', { schema: reconcile }, async ({ query, signal }) => {
    const opened = await chain(signal).catch(asConflict)
    const reconciliation = await opened.reconcile({ from: query.from, to: query.to }).catch(asConflict)
    const unknown = await opened.unknownPayments({ hours: query.hours })
    return {
      unknownPayments: [...unknown.payments],
      notCompared: [...unknown.notCompared],
      from: reconciliation.from.toString(),
      to: reconciliation.to.toString(),
      explainedMicroUsd: reconciliation.explainedMicroUsd.toString(),
      totalMicroUsd: reconciliation.totalMicroUsd.toString(),
      differences: reconciliation.differences.map(({ valueMicroUsd, ...difference }) => ({
        ...difference,
        amountMicroUsd: valueMicroUsd.toString(),
      })),
    }
  })
}

const foundSchema = z.object({
  id: z.string(),
  state: z.enum(['seen', 'final', 'orphaned', 'reversed']),
  blockNumber: z.string(),
  amountMicroUsd: z.string(),
  owner: z.string().optional().describe('Whose balance it is on; absent: nobody’s, it is in suspense'),
})

const haltedSchema = z.object({
  chainId: z.int(),
  custody: z.string(),
  token: z.string(),
  finalTo: z.string().describe('The last block whose top-ups are settled'),
  reason: z.string(),
})

const calldata = {
  ...adminOperation('topup calldata', 'The transaction that tops a balance up; any wallet can send it', {
    409: ['TOP_UPS_NOT_CONFIGURED'],
  }),
  querystring: z.object({
    amountMicroUsd: z
      .string()
      .regex(/^[1-9][0-9]{0,17}$/, 'must be 1 to 18 digits, above zero')
      .transform(BigInt),
    wallet: walletText.optional().describe('Whose balance; default: the sender of the transaction'),
  }),
  response: {
    200: z.object({ chainId: z.int(), to: z.string(), data: z.string(), value: z.string() }),
    ...errorResponses,
  },
}

const find = {
  ...adminOperation('topup find', 'Show what became of a transaction: its top-ups with their ids'),
  params: z.object({ chainId: chainIdText, transactionHash: id32 }),
  response: { 200: z.object({ topUps: z.array(foundSchema) }), ...errorResponses },
}

const halted = {
  ...adminOperation('topup halted', 'List accounts whose top-ups stopped because a final block changed'),
  response: { 200: z.object({ halted: z.array(haltedSchema) }), ...errorResponses },
}

const reverse = {
  ...adminOperation(
    'topup reverse',
    'Take a final top-up back that its chain dropped; what is spent is booked as a loss',
    { 400: ['CLAIM_NOT_FINAL'] },
  ),
  params: z.object({ id: integerText }),
  body: z.object({ reason: operatorReason }),
  response: { 200: z.object({ id: z.string() }), ...errorResponses },
}

const resume = {
  ...adminOperation('topup resume', 'Let a halted chain go on behind a block that everybody agrees on'),
  params: z.object({ chainId: chainIdText }),
  body: z.object({
    block: integerText.describe('Everything up to it counts as settled'),
    hash: id32.describe('Its hash, from sources outside this service'),
    reason: operatorReason,
  }),
  response: {
    200: z.object({ chainId: z.int(), resumed: z.int().describe('0: nothing was halted') }),
    ...errorResponses,
  },
}

/** `/admin/top-ups`: the transaction that makes one, what became of it, and what an operator does about it. */
export function registerTopUpCorrections(app: HttpApp, { database, chain }: TopUpRouteParts): void {
  app.get('/admin/top-ups/calldata', { schema: calldata }, async ({ query, signal }) => {
    const owner = query.wallet === undefined ? undefined : parseWallet(query.wallet)
    const opened = await chain(signal).catch(asConflict)
    const { chainId, to, data } = transactionOf(opened, { amountMicroUsd: query.amountMicroUsd, owner })
    return { chainId, to, data, value: '0' }
  })
  app.get('/admin/top-ups/:chainId/:transactionHash', { schema: find }, async ({ params }) => ({
    topUps: (await findTransactionTopUps(database, params)).map((event) => ({
      id: event.id.toString(),
      state: event.state,
      blockNumber: event.blockNumber.toString(),
      amountMicroUsd: event.value.toString(),
      owner: event.creditedOwner ?? event.claimedOwner,
    })),
  }))
  app.get('/admin/top-ups/halted', { schema: halted }, async () => ({
    halted: (await haltedTopUps(database)).map(({ account, cursor }) => ({
      ...account,
      finalTo: cursor.finalTo.toString(),
      reason: cursor.haltedReason ?? '',
    })),
  }))
  app.post(
    '/admin/top-ups/:id/reverse',
    { schema: reverse },
    async ({ params: { id }, body: { reason } }) => {
      await reverseFinal(database, { eventId: id, actor: adminActor, reason })
      return { id: id.toString() }
    },
  )
  app.post('/admin/top-ups/chains/:chainId/resume', { schema: resume }, async ({ params, body }) => {
    const { chainId } = params
    const { block: finalTo, hash: finalHash, reason } = body
    const auditNote = { actor: adminActor, reason }
    return { chainId, resumed: await resumeHalted(database, { chainId, finalTo, finalHash, ...auditNote }) }
  })
}

/** @throws TopUpsNotConfiguredError, QuoteError for a wallet that can own no balance */
function transactionOf(chain: CommandChain, args: Parameters<CommandChain['topUp']>[0]) {
  try {
    return chain.topUp(args).transaction
  } catch (error) {
    if (error instanceof CommandError) throw new QuoteError('INVALID_REQUEST', error.message)
    return asConflict(error)
  }
}

/** Turns missing configuration into a 409. @throws TopUpsNotConfiguredError, or the error as it is */
export function asConflict(error: unknown): never {
  throw error instanceof ConfigurationError ? new TopUpsNotConfiguredError(error) : error
}
