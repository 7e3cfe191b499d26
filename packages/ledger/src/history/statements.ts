import type { SqlDatabase, SqlTx } from '@causeway/core'
import type { LedgerAsset } from '../transfers/accounts.ts'

/** Keys to group statement lines by, beside their kind. */
export const statementGroups = ['day', 'user', 'route', 'key', 'request'] as const
export type StatementGroup = (typeof statementGroups)[number]

/** Kinds of a wallet's money: it sponsors with `sponsorship`, and can claim `app_fees`. */
export const balanceKinds = ['sponsorship', 'app_fees'] as const

/**
 * `top-up`: came from custody. `top-up-reversed`: taken back with its block. `fees`: paid for requests.
 * `app-fee`: accrued. `claim`: moved to a payout. `claim-returned`: came back from a payout that failed. `correction`:
 * any other movement, made by an operator.
 */
export const statementKinds = [
  'top-up',
  'top-up-reversed',
  'fees',
  'app-fee',
  'claim',
  'claim-returned',
  'correction',
] as const
export type StatementKind = (typeof statementKinds)[number]

/**
 * Sum of movements of one kind that have equal group members. A member is absent if the query does not group by it, or
 * if the movements have none.
 */
export type StatementLine = {
  readonly kind: StatementKind
  /** `YYYY-MM-DD`, UTC. */
  readonly day?: string
  readonly user?: string
  readonly originChainId?: number
  readonly destinationChainId?: number
  /** Public id of an API key. */
  readonly key?: string
  readonly requestId?: string
  /** Number of movements in the sum. */
  readonly count: number
  /** Smallest units, signed. */
  readonly amount: bigint
}

/** Smallest units. `held` is a part of `posted`. */
export type StatementBalance = { readonly posted: bigint; readonly held: bigint }

/** Statement of one account: `opening.posted` and the amounts of all lines add up to `closing.posted`. */
export type AccountStatement = {
  /** Absent for sponsor money, whose currency is the service's. */
  readonly asset: LedgerAsset | undefined
  readonly opening: StatementBalance
  readonly lines: readonly StatementLine[]
  readonly closing: StatementBalance
}

export type Statement = {
  /** The period has ended, and the statement does not change any more. */
  readonly isClosed: boolean
  /** Sponsor money first, then app fees by currency; accounts that never existed are left out. */
  readonly accounts: readonly AccountStatement[]
}

export type StatementQuery = {
  /** Lower-case where addresses have no case, as the ledger stores owners. */
  readonly wallet: string
  /** Midnights, UTC; `from` is past, `to` is not included. */
  readonly from: Date
  readonly to: Date
  readonly groups: readonly StatementGroup[]
  /** With more lines in all accounts together the statement is refused. */
  readonly linesMax?: number
}

/** A statement of more lines than were allowed. */
export class StatementTooLongError extends Error {
  override readonly name = 'StatementTooLongError'
}

type AccountRow = {
  readonly id: bigint
  readonly chain_id: bigint | null
  readonly address: string | null
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}
/** Stored balance of an account at a midnight, with its last transfer before it. */
type CloseRow = { readonly upto_seq: bigint; readonly posted: bigint; readonly held: bigint }

/**
 * Changes of a wallet's balances between two midnights (UTC). The first request for a period that has ended closes it:
 * every later answer is equal. A period that has not ended is reported up to now.
 * @throws StatementTooLongError
 */
export async function readStatement(database: SqlDatabase, query: StatementQuery): Promise<Statement> {
  const { wallet, from, to } = query
  return database.transaction(async (tx) => {
    const [clock] = await tx.query<{ ended: boolean }>('select $1 <= clock_timestamp() as ended', [to])
    const isClosed = clock?.ended === true
    const rows = await tx.query<AccountRow>(selectAccounts, [wallet])
    const accounts: AccountStatement[] = []
    let linesLeft = query.linesMax
    for (const row of rows) {
      const opening = await closeAt(tx, row.id, from)
      const closing = isClosed ? await closeAt(tx, row.id, to) : undefined
      // One line more than is allowed shows the excess; the line without a kind, which is not shown, comes on
      // top. So the limit cuts no sum of a statement that is returned.
      const limit = linesLeft === undefined ? null : linesLeft + 2
      const lineRows = await tx.query<LineRow>(selectLines, [
        ...[row.id, opening.upto_seq, closing?.upto_seq ?? seqMax],
        ...[from, to, query.groups, limit],
      ])
      const lines = lineRows.flatMap(lineOf)
      if (linesLeft !== undefined && lines.length > linesLeft) throw new StatementTooLongError()
      if (linesLeft !== undefined) linesLeft -= lines.length
      const sumOf = (column: 'posted' | 'held') => lineRows.reduce((total, line) => total + line[column], 0n)
      const presentBalance = {
        posted: opening.posted + sumOf('posted'),
        held: opening.held + sumOf('held'),
      }
      accounts.push({
        asset: assetOf(row),
        opening: balanceOf(opening),
        lines,
        closing: balanceOf(closing ?? presentBalance),
      })
    }
    return { isClosed, accounts }
  })
}

const seqMax = 9_223_372_036_854_775_807n

/** `sponsor` sorts behind `app_fee`, so that in descending order sponsor money comes first. */
const selectAccounts = `
  select a.id, s.chain_id, s.address, s.symbol, s.name, s.decimals
  from account a join asset s on s.id = a.asset_id
  where a.owner = $1 and a.kind in ('sponsor', 'app_fee')
  order by a.kind desc, s.id`

const balanceOf = ({ posted, held }: StatementBalance): StatementBalance => ({ posted, held })

/** The stored balance of an account at a midnight that has passed; computed and stored the first time. */
async function closeAt(tx: SqlTx, account: bigint, midnight: Date): Promise<CloseRow> {
  const [row] = await tx.query<CloseRow>(
    'select upto_seq, posted, held from ledger_close_statement($1, $2)',
    [account, midnight],
  )
  if (row === undefined) throw new Error('a period was not closed')
  return row
}

type LineRow = {
  readonly kind: StatementKind | null
  readonly day: string | null
  readonly user: string | null
  readonly origin: bigint | null
  readonly destination: bigint | null
  readonly key: string | null
  readonly request: string | null
  readonly count: bigint
  readonly posted: bigint
  readonly held: bigint
}

/**
 * Movements that do not change `posted` (holds and their ends) are one line without a kind, which only adds to `held`.
 * A period is a range of `seq`; a transfer whose time lies outside counts on the period's first or last day.
 */
const selectLines = `
  select case when m.posted = 0 then null else case m.code
      when 'deposit_post' then 'top-up' when 'suspense_claim' then 'top-up' when 'reversal' then 'top-up-reversed'
      when 'sponsor_post' then 'fees' when 'found_fill' then 'fees' when 'app_fee' then 'app-fee' when 'claim' then 'claim'
      when 'claim_failed' then 'claim-returned' else 'correction' end end as kind,
    case when 'day' = any($6) and m.posted <> 0
      then to_char(least(greatest(m.at, $4::timestamptz), $5::timestamptz - interval '1 microsecond') at time zone 'UTC', 'YYYY-MM-DD') end as day,
    case when 'user' = any($6) and m.posted <> 0 then h.user_key end as user,
    case when 'route' = any($6) and m.posted <> 0 then h.origin_chain_id end as origin,
    case when 'route' = any($6) and m.posted <> 0 then h.destination_chain_id end as destination,
    case when 'key' = any($6) and m.posted <> 0 then h.api_key_id end as key,
    case when 'request' = any($6) and m.posted <> 0 then '0x' || encode(h.request_id, 'hex') end as request,
    count(*) as count, sum(m.posted)::numeric as posted, sum(m.held)::numeric as held
  from ledger_movements($1, $2, $3) m left join hold h on h.id = m.hold
  group by 1, 2, 3, 4, 5, 6, 7
  order by day, kind, "user", origin, destination, key, request
  limit $7`

function lineOf(row: LineRow): readonly StatementLine[] {
  const { kind, day, user, origin, destination, key, request, count, posted } = row
  if (kind === null) return []
  return [
    {
      kind,
      ...(day !== null && { day }),
      ...(user !== null && { user }),
      ...(origin !== null && { originChainId: Number(origin) }),
      ...(destination !== null && { destinationChainId: Number(destination) }),
      ...(key !== null && { key }),
      ...(request !== null && { requestId: request }),
      count: Number(count),
      amount: posted,
    },
  ]
}

function assetOf({ chain_id, address, symbol, name, decimals }: AccountRow): LedgerAsset | undefined {
  if (chain_id === null || address === null) return undefined
  return { chainId: Number(chain_id), address, symbol, name, decimals }
}
