import { type BalanceRecord, formatAmount, formatFixed } from '@causeway/core'
import { balanceKinds } from '@causeway/ledger'
import { z } from 'zod'
import { appFeeAmountSchema } from './appFeeAmount.ts'
import { type CurrencyWire, currencyAmountSchema } from './currencyAmount.ts'

const usd = z.number().describe('USD')

/** Answer of GET /app-fees/{wallet}/balances. @source rule Q-5 */
export const balancesResponseSchema = currencyAmountSchema
  .extend({
    balances: z
      .array(appFeeAmountSchema.extend({ kind: z.enum(balanceKinds) }))
      .describe('As the public client reads it: the record, then the app fees that can be claimed'),
    pending: currencyAmountSchema.describe('Top-ups seen on chain that are not final: not spendable yet'),
    held: currencyAmountSchema.describe('Held for sponsored quotes that are still open'),
    totalBalanceUsd: usd.describe('Available and held'),
    outstandingFastFillBalanceUsd: usd,
    availableBalanceUsd: usd,
  })
  .describe('Balance of a sponsorship wallet; amount is what a new quote may use')

const microDecimals = 6

/** A sponsor's balance and his claimable app fees; USDC counts as one dollar. @source rule Q-5 */
export function balancesToWire(
  balance: BalanceRecord,
  currency: CurrencyWire,
  claimable: readonly z.infer<typeof appFeeAmountSchema>[],
): z.infer<typeof balancesResponseSchema> {
  const amountOf = (microUsd: bigint) => ({
    currency,
    amount: microUsd.toString(),
    amountFormatted: formatAmount(microUsd, microDecimals),
    amountUsd: usdOf(microUsd),
    // Quoted amounts have a minimum below them; this one is exact.
    minimumAmount: microUsd.toString(),
  })
  const available = amountOf(balance.availableMicroUsd)
  return {
    ...available,
    balances: [
      { ...available, kind: 'sponsorship' },
      ...claimable.map((fee) => ({ ...fee, kind: 'app_fees' as const })),
    ],
    pending: amountOf(balance.pendingMicroUsd),
    held: amountOf(balance.heldMicroUsd),
    totalBalanceUsd: Number(usdOf(balance.availableMicroUsd + balance.heldMicroUsd)),
    // Public clients read it. Nothing is filled before its deposit is deep enough, so nothing is outstanding.
    outstandingFastFillBalanceUsd: 0,
    availableBalanceUsd: Number(available.amountUsd),
  }
}

function usdOf(microUsd: bigint): string {
  return formatFixed(microUsd, microDecimals)
}
