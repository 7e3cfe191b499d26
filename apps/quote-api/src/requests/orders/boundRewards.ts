import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { z } from 'zod'
import type { BoundMove, OpenRewards, RewardedMove } from '../../pricing/openQuotes/openRewards.ts'
import { lateInclusionSeconds } from '../timings.ts'
import { lockClaims, readBudget, storeClaim } from './skewBookings.ts'
import { storedInteger } from './storedFees.ts'

const place = z.object({ assetId: z.string(), chainId: z.number() })

/** Member `reward` of `orders.quoted`. Written by `rewardToRow`. */
export const rewardRow = z.object({
  ...{ received: place, paid: place },
  ...{ usdX18: storedInteger, microUsd: storedInteger },
})

export function rewardToRow({ received, paid, usdX18, microUsd }: RewardedMove) {
  return { received, paid, usdX18: usdX18.toString(), microUsd: microUsd.toString() }
}

const refreshMs = 1_000
/** A claim outlives the quotes under it by this: it is stored before it holds. */
const claimGraceSeconds = 60

/**
 * Reads again and again, for every process, which moves with a reward were deposited for and are not filled, or only
 * just: a deposit that was seen, a permit or an arrival at a deposit address that a solver brings, and what is bound.
 * With it goes what this process claims of the budget of rewards.
 */
export function followBoundRewards(options: {
  readonly database: Pick<SqlDatabase, 'transaction'>
  readonly openRewards: Pick<OpenRewards, 'putBound' | 'confirmClaim' | 'forgetBound'>
  readonly quoteLifetimeSeconds: number
  readonly now: () => number
  readonly onFailure: (error: unknown) => void
}): { refresh(): Promise<void>; start(): void; close(): Promise<void> } {
  const { database, openRewards, now, onFailure } = options
  const seconds = options.quoteLifetimeSeconds + lateInclusionSeconds + claimGraceSeconds
  const process = randomUUID()
  const closing = new AbortController()
  let ended: Promise<void> = Promise.resolve()

  const refresh = async () => {
    try {
      await database.transaction(async (tx) => {
        await lockClaims(tx)
        // First of the two: what is booked in between counts twice, and never not at all.
        const moves = await readBound(tx)
        const budget = await readBudget(tx, process)
        const microUsd = openRewards.putBound({ moves, ...budget }, Math.floor(now() / 1_000))
        await storeClaim(tx, { process, microUsd, seconds })
      })
      openRewards.confirmClaim()
    } catch (error) {
      openRewards.forgetBound()
      onFailure(error)
    }
  }
  const repeat = async () => {
    while (!closing.signal.aborted) {
      await refresh()
      await sleep(refreshMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  return {
    refresh,
    start() {
      ended = repeat()
    },
    async close() {
      closing.abort()
      await ended
    },
  }
}

async function readBound(tx: SqlTx): Promise<ReadonlyMap<Hex, BoundMove>> {
  const rows = await tx.query<{
    readonly request_id: Buffer
    readonly reward: unknown
    readonly is_booked: boolean
  }>(
    `select o.request_id, o.quoted -> 'reward' as reward,
       exists (select from skew_booking b where b.request_id = o.request_id) as is_booked from orders o
     where o.quoted -> 'reward' is not null and o.request_id in (
       select s.request_id from settlement s where s.stage in ('filling', 'filled')
       union select d.request_id from deposit_seen d where d.state = 'seen'
       union select w.request_id from work_item w where w.kind in ('permit', 'sweep') and w.state in ('open', 'reported'))`,
  )
  return new Map(
    rows.map(({ request_id, reward, is_booked: isBooked }) => [
      `0x${request_id.toString('hex')}` as const,
      { ...rewardRow.parse(reward), isBooked },
    ]),
  )
}
