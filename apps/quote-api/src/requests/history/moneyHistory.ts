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

/** Most lines of one statement. */
const statementLinesMax = 10_000

/** The ledger's records of one wallet, as routes and console pages list them. Wallets are lower case. */
export interface MoneyHistory {
  /** Changes of the wallet's balances; `cursor` is undefined on the last page. */
  events(
    query: BalanceEventQuery,
  ): Promise<{ readonly events: readonly BalanceEvent[]; readonly cursor: bigint | undefined }>
  /** Sponsor balance that no hold reserves, in micro-USDC. */
  spendable(wallet: string): Promise<bigint>
  /** Accrued app fees per currency; those of zero are left out. */
  claimable(wallet: string): Promise<readonly ClaimableBalance[]>
  /** Movements summed for accounting. @throws QuoteError INVALID_REQUEST for more lines than an answer holds */
  statement(query: Omit<StatementQuery, 'linesMax'>): Promise<Statement>
  /** The wallet's claims of app fees; `cursor` is undefined on the last page. */
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
