import type { BalanceRecord, Hex } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { balancesResponseSchema, balancesToWire } from '../wire/balances.ts'
import type { CurrencyWire } from '../wire/currencyAmount.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

export type BalanceReading = {
  /** What balances are counted in. */
  readonly sponsorCurrency: CurrencyWire
  readonly readBalance: (wallet: Hex) => Promise<BalanceRecord>
}

/**
 * GET /app-fees/{wallet}/balances. Balances are public; a wallet nobody knows has a balance of zero.
 * @source quote-and-sponsorship.md; quote-api.md 3.8; ledger-and-safety.md 1.2
 */
export function registerBalances(app: HttpApp, reading: BalanceReading): void {
  const schema = {
    tags: ['sponsorship'],
    summary: 'Read the balance of a sponsorship wallet',
    params: z.object({ wallet: walletText }),
    response: { 200: balancesResponseSchema, ...errorResponses },
  }
  app.get('/app-fees/:wallet/balances', { schema, config: { rateLimitClass: 'read' } }, async ({ params }) =>
    balancesToWire(await reading.readBalance(parseWallet(params.wallet)), reading.sponsorCurrency),
  )
}
