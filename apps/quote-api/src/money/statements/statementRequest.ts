import { type StatementGroup, statementGroups } from '@causeway/ledger'
import { QuoteError } from '../../pricing/errors.ts'

const dayMs = 86_400_000
/** A leap year. */
const daysMax = 366

/** Whole days of UTC: `from` begins the first day, `to` ends the last one and is not included. */
export type StatementPeriod = { readonly from: Date; readonly to: Date }

/**
 * The period of a month (`YYYY-MM`), or from one day (`YYYY-MM-DD`) to another, both included. Without `to`, up to
 * today.
 * @throws QuoteError INVALID_REQUEST with the field and what is right
 */
export function statementPeriod(
  { month, from, to }: { month?: string | undefined; from?: string | undefined; to?: string | undefined },
  nowMs: number,
): StatementPeriod {
  if (month !== undefined) {
    if (from !== undefined || to !== undefined)
      throw invalidParameter('month', 'Name a month, or days, not both.')
    return checkPeriod(monthOf(month), 'month', nowMs)
  }
  if (from === undefined) throw invalidParameter('from', 'Name a month, or the first day.')
  const first = dayOf(from, 'from')
  const last = to === undefined ? new Date(nowMs - (nowMs % dayMs)) : dayOf(to, 'to')
  if (last < first) throw invalidParameter('to', 'The last day is before the first.')
  return checkPeriod({ from: first, to: new Date(last.getTime() + dayMs) }, 'to', nowMs)
}

/** Groups of a statement, in the ledger's order. @param text comma-separated list @throws QuoteError INVALID_REQUEST */
export function statementGroupsOf(text: string | undefined): readonly StatementGroup[] {
  const groupNames = new Set((text ?? 'day').split(',').filter((name) => name !== ''))
  // `delete` is true for a group that was named; names that are left in the set are no groups.
  const groups = statementGroups.filter((group) => groupNames.delete(group))
  if (groupNames.size > 0)
    throw invalidParameter(
      'groupBy',
      `Lines are told apart by ${statementGroups.join(', ')}, joined by commas.`,
    )
  return groups
}

function monthOf(text: string): StatementPeriod {
  const from = dayOf(`${text}-01`, 'month')
  return { from, to: new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1)) }
}

function dayOf(text: string, field: string): Date {
  const day = new Date(`${text}T00:00:00Z`)
  // `Date` turns the 31st of a short month into the 1st of the next, so the text is compared.
  if (/^2[0-9]{3}-[0-9]{2}-[0-9]{2}$/.test(text) && !Number.isNaN(day.getTime()))
    if (day.toISOString().startsWith(text)) return day
  throw invalidParameter(
    field,
    field === 'month' ? 'month must be like 2026-10.' : `${field} must be a day like 2026-10-31.`,
  )
}

function checkPeriod(period: StatementPeriod, field: string, nowMs: number): StatementPeriod {
  const { from, to } = period
  if (from.getTime() > nowMs) throw invalidParameter(field, 'The period has not begun.')
  // The month that runs now may be asked for as a whole.
  if (to.getTime() > nowMs + 31 * dayMs) throw invalidParameter(field, 'The period ends in the future.')
  if (to.getTime() - from.getTime() > daysMax * dayMs)
    throw invalidParameter(field, `A statement has ${daysMax} days at most.`)
  return period
}

function invalidParameter(field: string, message: string): QuoteError {
  return new QuoteError('INVALID_REQUEST', message, { data: { field } })
}
