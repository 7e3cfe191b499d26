import { currencyKey } from '@causeway/core'
import { gasBudgetsOf } from '@causeway/core/config'
import type { Market } from '@causeway/market'
import { type BudgetName, gasBudgets } from '../wallet/budgets.ts'
import { gasPerHourOf } from '../wallet/chainDesk.ts'
import type { LoadedFiles } from './files.ts'
import type { PaidChain } from './paidChain.ts'

/** Balances of the fill wallet as the market read them last; empty while it knows nothing of the chain. */
export function holdingsOn(
  { key, chainId, codec, policy }: PaidChain,
  { quote }: LoadedFiles,
  market: Market,
) {
  const state = market.snapshot().chain(chainId)
  if ('reason' in state) return []
  return (quote.chains[key]?.currencies ?? []).flatMap(({ address: spelled, symbol }) => {
    const address = codec.canonicalAddress(spelled)
    const balance = state.inventory.get(currencyKey(chainId, address))
    const floor = policy.floors.find(({ currency }) => currency === address)?.amount ?? 0n
    return balance === undefined ? [] : [{ chain: key, currency: symbol, balance, floor }]
  })
}

/** Hourly limits of each budget, for metrics. */
export function budgetsOf(
  { solver }: LoadedFiles,
  paying: readonly PaidChain[],
): readonly { readonly budget: BudgetName; readonly perHour: bigint }[] {
  const perChain = paying.flatMap(({ chainId, policy }) =>
    gasBudgets.map((budget) => ({
      budget: `${budget}:${chainId}` as const,
      perHour: gasPerHourOf(budget, gasBudgetsOf(policy)),
    })),
  )
  return [
    { budget: 'loss', perHour: solver.lossPerHourMicroUsd },
    { budget: 'claims', perHour: solver.claimsPerHourMicroUsd },
    ...perChain,
  ]
}
