import { randomUUID } from 'node:crypto'
import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { z } from 'zod'
import { createRefreshLoop } from '../../jobs/refreshLoop.ts'
import type { BoundMove, BoundRewards, OpenRewards } from '../../pricing/openQuotes/openRewards.ts'
import type { RewardedMove } from '../../pricing/openQuotes/rewardedMoves.ts'
import { lateInclusionSeconds } from '../timings.ts'
import { lockClaims, readBudget, selectBooked, selectClaimed, storeClaim } from './skewBookings.ts'
import { storedInteger } from './storedFees.ts'

/** An asset on a chain. */
const inventoryPlace = z.object({ assetId: z.string(), chainId: z.number() })

/** Shape of member `reward` of `orders.quoted`, which `rewardToRow` writes: the move of inventory that is rewarded. */
export const rewardRow = z.object({
  received: inventoryPlace,
  paid: inventoryPlace,
  /** Worth of the moved inventory, in US dollars times 10^18. */
  usdX18: storedInteger,
  /** The reward, in micro-USD. */
  microUsd: storedInteger,
})

export function rewardToRow({ received, paid, usdX18, microUsd }: RewardedMove) {
  return { received, paid, usdX18: usdX18.toString(), microUsd: microUsd.toString() }
}

const refreshMs = 1_000
/** A claim on the reward budget outlives the quotes that it covers by this, since it is stored before it takes effect. */
const claimGraceSeconds = 60
/** A claim that stays as it is is stored again so often: long before its grace has passed. */
const storeAgainMs = 10_000

/**
 * Keeps this process's view of rewards up to date, every second. It reads the rewarded moves of inventory
 * that are paid and not yet settled: a seen or bound deposit, or a permit or sweep that the solver has not
 * finished. In the same transaction it stores what this process claims of the common reward budget, so that
 * all processes together never exceed it. A claim that stays the same is not stored each time: it was read by the
 * others when they computed theirs. While the database fails, nothing is rewarded.
 */
export function followBoundRewards(options: {
  readonly database: Pick<SqlDatabase, 'transaction' | 'query'>
  readonly openRewards: Pick<OpenRewards, 'putBound' | 'confirmClaim' | 'forgetBound'>
  readonly quoteLifetimeSeconds: number
  readonly now: () => number
  readonly onFailure: (error: unknown) => void
}): { refresh(): Promise<void>; start(): void; close(): Promise<void> } {
  const { database, openRewards, now, onFailure } = options
  const claimSeconds = options.quoteLifetimeSeconds + lateInclusionSeconds + claimGraceSeconds
  const processId = randomUUID()
  /** The claim that the database has of this process. */
  let stored: { readonly microUsd: bigint; readonly atMs: number } | undefined
  const claimOf = (read: BoundRewards) => openRewards.putBound(read, Math.floor(now() / 1_000))
  const isStoredClaim = async () => {
    if (stored === undefined || Math.abs(now() - stored.atMs) >= storeAgainMs) return false
    return claimOf(await readRewards(database, processId)) === stored.microUsd
  }
  const claimAnew = async () => {
    stored = undefined
    const microUsd = await database.transaction(async (tx) => {
      await lockClaims(tx)
      // Moves are read before bookings: one booked in between then counts twice, which is safe.
      const moves = await readBound(tx)
      const claimMicroUsd = claimOf({ moves, ...(await readBudget(tx, processId)) })
      await storeClaim(tx, { process: processId, microUsd: claimMicroUsd, seconds: claimSeconds })
      return claimMicroUsd
    })
    stored = { microUsd, atMs: now() }
  }
  const refresh = async () => {
    try {
      if (!(await isStoredClaim())) await claimAnew()
      openRewards.confirmClaim()
    } catch (error) {
      openRewards.forgetBound()
      onFailure(error)
    }
  }
  return { refresh, ...createRefreshLoop(refresh, refreshMs) }
}

/** Reads moves and budget in one statement, without the lock of those who change their claims. */
async function readRewards(database: Pick<SqlDatabase, 'query'>, process: string): Promise<BoundRewards> {
  const [row] = await database.query<{
    readonly moves: readonly BoundRow[]
    readonly claimed: bigint
    readonly booked: bigint
  }>(
    `select (select coalesce(json_agg(m), '[]') from (${selectBound}) m) as moves,
       (${selectClaimed}) as claimed, (${selectBooked}) as booked`,
    [process],
  )
  if (row === undefined) throw new Error('a statement without a table has one row')
  return { moves: movesOf(row.moves), bookedMicroUsd: row.booked, claimedMicroUsd: row.claimed }
}

/** Reads the rewarded moves by request id; `isBooked` if the ledger of skew has the reward already. */
async function readBound(tx: SqlTx): Promise<BoundRewards['moves']> {
  return movesOf(await tx.query<BoundRow>(selectBound))
}

type BoundRow = { readonly request_id: Hex; readonly reward: unknown; readonly is_booked: boolean }

const selectBound = `select '0x' || encode(o.request_id, 'hex') as request_id, o.quoted -> 'reward' as reward,
       exists (select from skew_booking b where b.request_id = o.request_id) as is_booked from orders o
     where o.quoted -> 'reward' is not null and o.request_id in (
       select s.request_id from settlement s where s.stage in ('filling', 'filled')
       union select d.request_id from deposit_seen d where d.state = 'seen'
       union select w.request_id from work_item w where w.kind in ('permit', 'sweep') and w.state in ('open', 'reported'))`

function movesOf(rows: readonly BoundRow[]): ReadonlyMap<Hex, BoundMove> {
  return new Map(
    rows.map(({ request_id: requestId, reward, is_booked: isBooked }) => [
      requestId,
      { ...rewardRow.parse(reward), isBooked },
    ]),
  )
}
