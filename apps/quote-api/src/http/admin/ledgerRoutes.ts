import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import type { LedgerAdministration } from '../../operate/admin/ledgerAdministration.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

/** A page: the next one begins behind the `seq` of its last line. */
const exportedMax = 1_000

const findingSchema = z.object({
  invariant: z.string(),
  problem: z.string(),
  figures: z.record(z.string(), z.string()),
})

/** `/admin/ledger` and `/admin/balances`: whether the books add up, every transfer, and what a wallet has. */
export function registerLedgerRoutes(app: HttpApp, ledger: LedgerAdministration): void {
  const verify = { response: { 200: z.object({ findings: z.array(findingSchema) }), ...errorResponses } }
  // The replay of the whole history takes longer than a request may; the command line does it.
  app.get('/admin/ledger/verify', { schema: verify }, async () => ({
    findings: [...(await ledger.verify('cheap', adminActor))],
  }))

  const exported = {
    querystring: z.object({
      after: z
        .string()
        .regex(/^[0-9]{1,18}$/)
        .transform(BigInt)
        .default(0n),
      limit: z.coerce.number().int().min(1).max(exportedMax).default(exportedMax),
    }),
    response: { 200: z.string().describe('A transfer per line of JSON, oldest first'), ...errorResponses },
  }
  app.get('/admin/ledger/export', { schema: exported }, async ({ query: { after, limit } }, reply) => {
    const lines: string[] = []
    for await (const line of ledger.export(after)) if (lines.push(line) === limit) break
    return reply.type('application/x-ndjson').send(lines.join(''))
  })

  const balance = {
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
