import {
  type AccountStatement,
  balanceKinds,
  type Statement,
  type StatementLine,
  statementKinds,
} from '@causeway/ledger'
import { z } from 'zod'
import type { SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import type { StatementPeriod } from './statementRequest.ts'

const text = z.string()
const balance = z.object({ posted: text, held: text.describe('Of what is posted, held for open requests') })

/** A statement as JSON; amounts in smallest units, signed. */
export const statementSchema = z.object({
  wallet: text,
  from: text,
  to: text.describe('The last day'),
  isClosed: z.boolean().describe('The period is over: nothing of it changes any more'),
  accounts: z.array(
    z.object({
      kind: z.enum(balanceKinds),
      chainId: z.number(),
      currency: text,
      symbol: text,
      decimals: z.number(),
      opening: balance,
      lines: z.array(
        z.object({
          kind: z.enum(statementKinds),
          day: text.optional(),
          user: text.optional(),
          originChainId: z.number().optional(),
          destinationChainId: z.number().optional(),
          key: text.optional().describe('Public id'),
          requestId: text.optional(),
          count: z.number(),
          amount: text,
        }),
      ),
      closing: balance,
    }),
  ),
})
export type StatementAnswer = z.infer<typeof statementSchema>

/** Unit of sponsor money in the ledger. */
const sponsorUnit = { symbol: 'USDC', decimals: 6 }

/** Answer of a statement; sponsor money is shown in `sponsorCurrency`. */
export function statementAnswer(
  wallet: string,
  { from, to }: StatementPeriod,
  { isClosed, accounts }: Statement,
  sponsorCurrency: SponsorCurrency,
): StatementAnswer {
  const dayOf = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10)
  return {
    wallet,
    from: dayOf(from.getTime()),
    // `to` is the end of the last day.
    to: dayOf(to.getTime() - 1),
    isClosed,
    accounts: accounts.map((account) => accountAnswer(account, sponsorCurrency)),
  }
}

function accountAnswer(
  { asset, opening, lines, closing }: AccountStatement,
  sponsorCurrency: SponsorCurrency,
): StatementAnswer['accounts'][number] {
  const { chainId, currency, symbol, decimals } =
    asset === undefined ? { ...sponsorCurrency, ...sponsorUnit } : { ...asset, currency: asset.address }
  const balanceText = ({ posted, held }: AccountStatement['opening']) => ({
    posted: posted.toString(),
    held: held.toString(),
  })
  const kind = asset === undefined ? ('sponsorship' as const) : ('app_fees' as const)
  return {
    kind,
    chainId,
    currency,
    symbol,
    decimals,
    opening: balanceText(opening),
    closing: balanceText(closing),
    lines: lines.map(({ amount, ...line }: StatementLine) => ({ ...line, amount: amount.toString() })),
  }
}

const columns = [
  ...(['row', 'day', 'user', 'originChainId', 'destinationChainId', 'key', 'requestId', 'count'] as const),
  ...(['kind', 'chainId', 'currency', 'symbol', 'decimals', 'amount'] as const),
]

/**
 * Statement as lines of CSV (RFC 4180), the first with column names. For one kind and currency, the row `closing` is
 * the sum of all rows before it, and `held` is its held part. No cell begins like a formula, which spreadsheets would
 * run.
 */
export function statementCsv({ accounts, from, to }: StatementAnswer): readonly string[] {
  const rows = accounts.flatMap(({ opening, closing, lines, ...asset }) => [
    { row: 'opening', day: from, amount: opening.posted, ...asset },
    ...lines.map(({ kind, ...line }) => ({ row: kind, ...line, ...asset })),
    { row: 'closing', day: to, amount: closing.posted, ...asset },
    { row: 'held', day: to, amount: closing.held, ...asset },
  ])
  return [columns.join(','), ...rows.map((row) => cellsOf(row).join(','))]
}

function cellsOf(row: Readonly<Record<string, string | number | undefined>>): readonly string[] {
  return columns.map((column) => cellOf(String(row[column] ?? '')))
}

function cellOf(value: string): string {
  // A negative amount begins like a formula and is none.
  const isNumber = /^-?[0-9]+$/.test(value)
  const safe = !isNumber && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
