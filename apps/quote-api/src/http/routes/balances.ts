import type { BalanceRecord, Hex } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import type { MoneyHistory } from '../../requests/history/moneyHistory.ts'
import { databaseErrors } from '../routeErrors.ts'
import { appFeeAmountToWire } from '../wire/appFeeAmount.ts'
import { balancesResponseSchema, balancesToWire } from '../wire/balances.ts'
import type { CurrencyWire } from '../wire/currencyAmount.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

/** Dependencies of routes that read balances of sponsors; `compose/appBalance.ts` makes them. */
export type BalanceReading = {
  /** Currency in which balances are counted. */
  readonly sponsorCurrency: CurrencyWire
  readonly readBalance: (wallet: Hex) => Promise<BalanceRecord>
  /** Address to which a sponsor pays that currency; undefined where no account is watched for it. */
  readonly topUpAddress: Hex | undefined
}

type Dependencies = {
  readonly balances: BalanceReading
  readonly moneyHistory: Pick<MoneyHistory, 'claimable'>
  readonly registry: QuoteRegistry
  readonly snapshot: () => MarketSnapshot
}

/**
 * GET /app-fees/{wallet}/balances. Balances are public; a wallet nobody knows has a balance of zero.
 * @source rule Q-5
 */
export function registerBalances(
  app: HttpApp,
  { balances: reading, moneyHistory, registry, snapshot }: Dependencies,
): void {
  const schema = {
    operationId: 'getBalances',
    tags: ['sponsorship'],
    errors: databaseErrors,
    summary: 'Read the balance of a sponsorship wallet',
    params: z.object({ wallet: walletText }),
    response: { 200: balancesResponseSchema, ...errorResponses },
  }
  const config = { rateLimitClass: 'read' }
  app.get('/app-fees/:wallet/balances', { schema, config }, async ({ params }) => {
    const wallet = parseWallet(params.wallet)
    const [balance, owedFees] = await Promise.all([
      reading.readBalance(wallet),
      moneyHistory.claimable(wallet),
    ])
    const pricing = { registry, snapshot: snapshot() }
    const claimable = owedFees.map(({ asset, amount }) => appFeeAmountToWire(pricing, asset, amount))
    return balancesToWire(balance, reading.sponsorCurrency, claimable)
  })
}
