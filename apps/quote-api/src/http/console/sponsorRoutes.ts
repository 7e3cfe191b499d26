import type { Hex } from '@causeway/core'
import { encodeTopUp } from '@causeway/families/rules'
import { errorResponses, type HttpApp, type PageFile, registerPages } from '@causeway/http'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { keyIdText } from '../../access/keys/keyFields.ts'
import type { SponsorSessions } from '../../access/wallets/sponsorSessions.ts'
import { statementAnswer, statementSchema } from '../../money/statements/statementAnswer.ts'
import { statementGroupsOf, statementPeriod } from '../../money/statements/statementRequest.ts'
import type { PolicyAdministration } from '../../operate/admin/policyAdministration.ts'
import { QuoteError } from '../../pricing/errors.ts'
import type { SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import type { MoneyHistory } from '../../requests/history/moneyHistory.ts'
import type { SponsorRecords } from '../../requests/history/sponsorRecords.ts'
import type { WebhookStanding } from '../../webhooks/webhookStandings.ts'
import type { BalanceReading } from '../routes/balances.ts'
import { sendStatementCsv } from '../routes/statements.ts'
import {
  explanationToWire,
  explanationWire,
  hypotheticalBody,
  policyToWire,
  policyWire,
} from '../wire/policies.ts'
import { parseWallet, signatureText, walletText } from '../wire/walletText.ts'

/** Dependencies of the sponsor console beyond those of other routes. */
export type SponsorConsole = {
  readonly sessions: SponsorSessions
  readonly policies: Pick<PolicyAdministration, 'show' | 'explain'>
  readonly records: SponsorRecords
  /** One entry per key that the wallet sponsors now. */
  readonly webhooks: (wallet: Hex) => Promise<readonly WebhookStanding[]>
  readonly files: ReadonlyMap<string, PageFile>
}

type Dependencies = SponsorConsole & {
  readonly balances: BalanceReading
  readonly moneyHistory: Pick<MoneyHistory, 'statement'>
  readonly sponsorCurrency: SponsorCurrency
}

const prefix = '/sponsor/api'
const text = z.string()
const config = { rateLimitClass: 'read' }
const hide = true

/**
 * `/sponsor`: a page for sponsors, and under `/sponsor/api` the routes that it reads. The token of a sign-in is valid for
 * these routes only, and none of them changes money, keys or policies.
 */
export function registerSponsorConsole(app: HttpApp, dependencies: Dependencies): void {
  registerPages(app, '/sponsor', dependencies.files)
  registerSignIn(app, dependencies.sessions)
  registerOverview(app, dependencies)
  registerTopUp(app, dependencies)
  registerSpending(app, dependencies)
  registerPolicies(app, dependencies)
}

function registerSignIn(app: HttpApp, sessions: SponsorSessions): void {
  const challenge = {
    hide,
    body: z.object({ wallet: walletText }),
    response: { 200: z.object({ message: text, nonce: text, expiresAt: text }), ...errorResponses },
  }
  app.post(`${prefix}/challenge`, { schema: challenge, config }, async (request) => {
    requireOwnPage(request)
    const { expiresAt, ...signInText } = sessions.challenge(parseWallet(request.body.wallet))
    return { ...signInText, expiresAt: expiresAt.toISOString() }
  })

  const open = {
    hide,
    body: z.object({ wallet: walletText, nonce: z.string().min(1).max(128), signature: signatureText }),
    response: { 200: z.object({ token: text, expiresAt: text }), ...errorResponses },
  }
  app.post(`${prefix}/session`, { schema: open, config }, async (request) => {
    requireOwnPage(request)
    const { nonce, signature } = request.body
    const wallet = parseWallet(request.body.wallet)
    const { token, expiresAt } = await sessions.open({ wallet, nonce, signature })
    return { token, expiresAt: expiresAt.toISOString() }
  })

  const end = {
    hide,
    body: z.object({}),
    response: { 200: z.object({ ended: z.boolean() }), ...errorResponses },
  }
  app.post(`${prefix}/session/end`, { schema: end, config }, async (request) => {
    const token = tokenOf(request)
    // Refuses a missing token, and one without an open session, so that `''` below is never used.
    await sessions.walletOf(token)
    await sessions.end(token ?? '')
    return { ended: true }
  })
}

const overviewSchema = z.object({
  wallet: text,
  availableMicroUsd: text,
  heldMicroUsd: text,
  pendingMicroUsd: text,
  keys: z.array(z.object({ id: text, label: text, linkedAt: text })),
  holds: z.array(
    z.object({
      requestId: text,
      keyId: text,
      amountMicroUsd: text,
      isPinned: z.boolean(),
      createdAt: text,
      expiresAt: text,
    }),
  ),
  requests: z.array(
    z.object({
      requestId: text,
      keyId: text,
      status: text,
      reason: text.optional(),
      originChainId: z.int(),
      destinationChainId: z.int(),
      debitMicroUsd: text,
      createdAt: text,
    }),
  ),
  topUps: z.array(
    z.object({
      chainId: z.int(),
      transactionHash: text,
      amountMicroUsd: text,
      state: z.enum(['seen', 'final', 'reversed', 'orphaned']),
      blockNumber: text,
      seenAt: text,
    }),
  ),
  webhooks: z.array(
    z.object({
      keyId: text,
      host: text,
      waiting: z.int(),
      failed: z.int(),
      problem: text.optional(),
    }),
  ),
})

function registerOverview(app: HttpApp, { sessions, records, balances, webhooks }: Dependencies): void {
  const schema = { hide, response: { 200: overviewSchema, ...errorResponses } }
  app.get(`${prefix}/overview`, { schema, config }, async (request) => {
    const wallet = await sessions.walletOf(tokenOf(request))
    const [balance, keys, holds, requests, topUps, standings] = await Promise.all([
      balances.readBalance(wallet),
      records.keys(wallet),
      records.holds(wallet),
      records.requests(wallet),
      records.topUps(wallet),
      webhooks(wallet),
    ])
    return {
      wallet,
      availableMicroUsd: balance.availableMicroUsd.toString(),
      heldMicroUsd: balance.heldMicroUsd.toString(),
      pendingMicroUsd: balance.pendingMicroUsd.toString(),
      keys: keys.map((key) => ({ ...key, linkedAt: key.linkedAt.toISOString() })),
      holds: holds.map(({ apiKeyId, amountMicroUsd, createdAt, expiresAt, ...hold }) => ({
        ...hold,
        keyId: apiKeyId,
        amountMicroUsd: amountMicroUsd.toString(),
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      })),
      requests: requests.map(({ apiKeyId, failReason, debitMicroUsd, createdAt, ...request }) => ({
        ...request,
        keyId: apiKeyId,
        ...(failReason !== undefined && { reason: failReason }),
        debitMicroUsd: debitMicroUsd.toString(),
        createdAt: createdAt.toISOString(),
      })),
      topUps: topUps.map(({ chainId, transactionHash, value, state, blockNumber, seenAt }) => ({
        chainId,
        transactionHash,
        state,
        amountMicroUsd: value.toString(),
        blockNumber: blockNumber.toString(),
        seenAt: seenAt.toISOString(),
      })),
      webhooks: standings.map(({ apiKeyId, label: _label, ...webhook }) => ({ ...webhook, keyId: apiKeyId })),
    }
  })
}

function registerTopUp(app: HttpApp, { sessions, balances }: Dependencies): void {
  const schema = {
    hide,
    querystring: z.object({
      amountMicroUsd: z.string().regex(/^[1-9][0-9]{0,17}$/, 'must be 1 to 18 digits, above zero'),
    }),
    response: {
      200: z.object({ chainId: z.int(), to: text, data: text, custody: text, wallet: text }),
      ...errorResponses,
    },
  }
  app.get(`${prefix}/top-up`, { schema, config }, async (request) => {
    const wallet = await sessions.walletOf(tokenOf(request))
    const { topUpAddress, sponsorCurrency } = balances
    if (topUpAddress === undefined) {
      throw new QuoteError('INVALID_REQUEST', 'Nobody watches an account for top-ups here.')
    }
    const amountMicroUsd = BigInt(request.query.amountMicroUsd)
    const token = sponsorCurrency.address
    const call = encodeTopUp({ token, custody: topUpAddress, amountMicroUsd, owner: wallet })
    return { chainId: sponsorCurrency.chainId, ...call, custody: topUpAddress, wallet }
  })
}

const dayMs = 86_400_000
const daysMax = 90

function registerSpending(app: HttpApp, { sessions, moneyHistory, sponsorCurrency }: Dependencies): void {
  const schema = {
    hide,
    querystring: z.object({ days: z.coerce.number().int().min(1).max(daysMax).default(30) }),
    response: { 200: statementSchema, ...errorResponses },
  }
  app.get(`${prefix}/spending`, { schema, config }, async (request) => {
    const wallet = await sessions.walletOf(tokenOf(request))
    const nowMs = Date.now()
    // Today is one of the days.
    const from = new Date(nowMs - (request.query.days - 1) * dayMs).toISOString().slice(0, 10)
    const period = statementPeriod({ from }, nowMs)
    const statement = await moneyHistory.statement({ wallet, ...period, groups: ['day'] })
    return statementAnswer(wallet, period, statement, sponsorCurrency)
  })

  const file = {
    hide,
    querystring: z.object({ month: text }),
    response: { 200: z.string(), ...errorResponses },
  }
  app.get(`${prefix}/statement`, { schema: file, config }, async (request, reply) => {
    const wallet = await sessions.walletOf(tokenOf(request))
    const period = statementPeriod(request.query, Date.now())
    const groups = statementGroupsOf('day,key')
    const statement = await moneyHistory.statement({ wallet, ...period, groups })
    return sendStatementCsv(reply, statementAnswer(wallet, period, statement, sponsorCurrency))
  })
}

function registerPolicies(app: HttpApp, { sessions, records, policies }: Dependencies): void {
  const params = z.object({ id: keyIdText })
  /** @throws SessionOverError, QuoteError FORBIDDEN for any other key, whether it exists or not */
  const requireOwnKey = async (request: FastifyRequest, id: string): Promise<void> => {
    const wallet = await sessions.walletOf(tokenOf(request))
    const keys = await records.keys(wallet)
    if (!keys.some((key) => key.id === id))
      throw new QuoteError('FORBIDDEN', 'This wallet sponsors no such key.')
  }

  const show = { hide, params, response: { 200: policyWire, ...errorResponses } }
  app.get(`${prefix}/keys/:id/policy`, { schema: show, config }, async (request) => {
    const { id } = request.params
    await requireOwnKey(request, id)
    const { policy, ...fields } = policyToWire(await policies.show(id))
    // The sponsor does not learn which person wrote the policy.
    return { ...fields, ...(policy !== undefined && { policy: { ...policy, actor: 'operator' } }) }
  })

  const explain = {
    hide,
    params,
    body: hypotheticalBody,
    response: { 200: explanationWire, ...errorResponses },
  }
  app.post(`${prefix}/keys/:id/policy/explain`, { schema: explain, config }, async (request) => {
    const { id } = request.params
    await requireOwnKey(request, id)
    return explanationToWire(await policies.explain({ apiKeyId: id, ...request.body }))
  })
}

/** The session token has its own header: browsers do not send it by themselves, as a cookie, and no other route reads it. */
function tokenOf({ headers }: FastifyRequest): string | undefined {
  const token = headers['x-sponsor-session']
  return typeof token === 'string' ? token : undefined
}

/**
 * Refuses a sign-in from a page of another site. Browsers set `sec-fetch-site`, and a script cannot change it.
 * Other clients do not send it; `none` is a request that the user began himself, as in the address bar.
 * @throws QuoteError FORBIDDEN
 */
function requireOwnPage({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return
  throw new QuoteError('FORBIDDEN', 'Sign in on the page of this service.')
}
