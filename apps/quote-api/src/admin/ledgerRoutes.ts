import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { parseWallet, walletText } from '../wire/walletText.ts'
import type { LedgerAdministration } from './ledgerAdministration.ts'

const findingSchema = z.object({
  invariant: z.string(),
  problem: z.string(),
  figures: z.record(z.string(), z.string()),
})

/** `/admin/ledger` and `/admin/balances`: whether the books add up, and what a wallet has. */
export function registerLedgerRoutes(app: HttpApp, ledger: LedgerAdministration): void {
  const verify = { response: { 200: z.object({ findings: z.array(findingSchema) }), ...errorResponses } }
  // The replay of the whole history takes longer than a request may; the command line does it.
  app.get('/admin/ledger/verify', { schema: verify }, async () => ({
    findings: [...(await ledger.verify('cheap'))],
  }))

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
