import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { operatorReason } from '../../access/operatorReason.ts'
import type { LedgerAdministration } from '../../operate/admin/ledgerAdministration.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'
import { adminOperation, integerText } from './adminOperation.ts'

/** Transfers of a page; the next page begins after the `seq` of its last line. */
const exportedMax = 1_000

const findingSchema = z.object({
  invariant: z.string(),
  problem: z.string(),
  figures: z.record(z.string(), z.string()),
})

const verify = {
  ...adminOperation(
    'ledger verify',
    'Check counters and open holds; what is not explained stops reservations. The command line replays the history too',
  ),
  response: { 200: z.object({ findings: z.array(findingSchema) }), ...errorResponses },
}

const resume = {
  ...adminOperation(
    'ledger resume',
    'Check everything; when the books add up, let halted reservations go on',
  ),
  body: z.object({ reason: operatorReason }),
  response: {
    200: z.object({
      findings: z.array(findingSchema).describe('Where there are any, reservations stay halted'),
      wasHalted: z.boolean(),
    }),
    ...errorResponses,
  },
}

const exportPage = {
  ...adminOperation('ledger export', 'Every transfer as one line of JSON, oldest first'),
  querystring: z.object({
    after: integerText.default(0n),
    limit: z.coerce.number().int().min(1).max(exportedMax).default(exportedMax),
  }),
  response: { 200: z.string().describe('A transfer per line of JSON, oldest first'), ...errorResponses },
}

const balance = {
  ...adminOperation('balance show', 'Show what a sponsorship wallet has, holds and is about to get'),
  params: z.object({ wallet: walletText }),
  response: {
    200: z.object({
      wallet: z.string(),
      availableMicroUsd: z.string(),
      heldMicroUsd: z.string(),
      pendingMicroUsd: z.string(),
    }),
    ...errorResponses,
  },
}

/** `/admin/ledger` and `/admin/balances`: whether the books add up, every transfer, and what a wallet has. */
export function registerLedgerRoutes(app: HttpApp, ledger: LedgerAdministration): void {
  // The replay of the whole history takes longer than a request may; the command line does it.
  app.get('/admin/ledger/verify', { schema: verify }, async () => ({
    findings: [...(await ledger.verify('cheap', adminActor))],
  }))
  app.post('/admin/ledger/resume', { schema: resume }, async ({ body: { reason } }) => {
    const { findings, wasHalted } = await ledger.resume({ actor: adminActor, reason })
    return { findings: [...findings], wasHalted }
  })
  app.get('/admin/ledger/export', { schema: exportPage }, async ({ query: { after, limit } }, reply) => {
    const lines: string[] = []
    for await (const line of ledger.export(after)) {
      lines.push(line)
      if (lines.length === limit) break
    }
    // Each line ends with a line feed of its own.
    return reply.type('application/x-ndjson').send(lines.join(''))
  })
  registerFreezes(app, ledger)
  app.get('/admin/balances/:wallet', { schema: balance }, async ({ params }) => {
    const wallet = parseWallet(params.wallet)
    const { availableMicroUsd, heldMicroUsd, pendingMicroUsd } = await ledger.balance(wallet)
    return {
      wallet,
      availableMicroUsd: availableMicroUsd.toString(),
      heldMicroUsd: heldMicroUsd.toString(),
      pendingMicroUsd: pendingMicroUsd.toString(),
    }
  })
}

/** `/admin/sponsors`: freeze and unfreeze, which differ only in their verb and summary. */
function registerFreezes(app: HttpApp, ledger: LedgerAdministration): void {
  for (const isFrozen of [true, false]) {
    const verb = isFrozen ? 'freeze' : 'unfreeze'
    const schema = {
      ...adminOperation(
        `sponsor ${verb}`,
        isFrozen
          ? "Stop a wallet's money: no new holds, no payments; posts of holds go on"
          : "Let a wallet's money move again",
      ),
      params: z.object({ wallet: walletText }),
      body: z.object({ reason: operatorReason }),
      response: {
        200: z.object({
          wallet: z.string(),
          frozen: z.boolean(),
          done: z.boolean().describe('False: the wallet has no balance, or stood so already'),
        }),
        ...errorResponses,
      },
    }
    app.post(`/admin/sponsors/:wallet/${verb}`, { schema }, async ({ params, body: { reason } }) => {
      const wallet = parseWallet(params.wallet)
      const done = await ledger.setFrozen(wallet, isFrozen, { actor: adminActor, reason })
      return { wallet, frozen: isFrozen, done }
    })
  }
}
