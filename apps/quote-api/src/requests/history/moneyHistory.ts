import type { Ledger, SqlDatabase } from '@causeway/core'
import {
  type AppFeeClaim,
  type BalanceEvent,
  type BalanceEventQuery,
  balanceEvents,
  type ClaimableBalance,
  listAppFeeClaims,
  readClaimableAppFees,
} from '@causeway/ledger'

/** What moved on a wallet's balances, and what it can claim. Wallets are lower case. */
export interface MoneyHistory {
  events(
    query: BalanceEventQuery,
  ): Promise<{ readonly events: readonly BalanceEvent[]; readonly cursor: bigint | undefined }>
  /** Sponsor money that can be spent, in micro-USDC. */
  spendable(wallet: string): Promise<bigint>
  /** Accrued app fees per currency; those of zero are left out. */
  claimable(wallet: string): Promise<readonly ClaimableBalance[]>
  claims(query: {
    wallet: string
    limit: number
    cursor?: bigint
  }): Promise<{ readonly claims: readonly AppFeeClaim[]; readonly cursor: bigint | undefined }>
}

export function createMoneyHistory(options: { database: SqlDatabase; ledger: Ledger }): MoneyHistory {
  const { database, ledger } = options
  return {
    events: (query) => balanceEvents(database, query),
    spendable: async (wallet) => (await ledger.balance(database, wallet)).availableMicroUsd,
    claimable: (wallet) => readClaimableAppFees(database, wallet),
    claims: (query) => listAppFeeClaims(database, query),
  }
}
