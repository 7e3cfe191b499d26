import type { Ledger, SqlDatabase } from '@causeway/core'
import {
  type AppFeeClaim,
  type BalanceEvent,
  type BalanceEventQuery,
  balanceEvents,
  type ClaimableBalance,
  listAppFeeClaims,
  readClaimableAppFees,
  readStatement,
  type Statement,
  type StatementQuery,
  StatementTooLongError,
} from '@causeway/ledger'
import { QuoteError } from '../../pricing/errors.ts'

/** Lines of one answer. */
const statementLinesMax = 10_000

/** Movements on a wallet's balances, and its claimable amounts. Wallets are lower case. */
export interface MoneyHistory {
  events(
    query: BalanceEventQuery,
  ): Promise<{ readonly events: readonly BalanceEvent[]; readonly cursor: bigint | undefined }>
  /** Sponsor money that can be spent, in micro-USDC. */
  spendable(wallet: string): Promise<bigint>
  /** Accrued app fees per currency; those of zero are left out. */
  claimable(wallet: string): Promise<readonly ClaimableBalance[]>
  /** @throws QuoteError INVALID_REQUEST for more lines than an answer holds */
  statement(query: Omit<StatementQuery, 'linesMax'>): Promise<Statement>
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
    async statement(query) {
      try {
        return await readStatement(database, { ...query, linesMax: statementLinesMax })
      } catch (error) {
        if (!(error instanceof StatementTooLongError)) throw error
        const message = `A statement has ${statementLinesMax} lines at most: ask for fewer days, or tell fewer apart.`
        throw new QuoteError('INVALID_REQUEST', message, { data: { field: 'groupBy' } })
      }
    },
    claims: (query) => listAppFeeClaims(database, query),
  }
}
