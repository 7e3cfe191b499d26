import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex, SqlDatabase } from '@causeway/core'
import { z } from 'zod'
import type { OpenRewards, RewardedMove } from '../../pricing/openRewards.ts'
import { storedInteger } from './storedFees.ts'

const place = z.object({ assetId: z.string(), chainId: z.number() })

/** Member `reward` of `orders.quoted`. Written by `rewardToRow`. */
export const rewardRow = z.object({ received: place, paid: place, usdX18: storedInteger })

export function rewardToRow({ received, paid, usdX18 }: RewardedMove) {
  return { received, paid, usdX18: usdX18.toString() }
}

const refreshMs = 1_000

/**
 * Reads again and again, for every process, which moves with a reward were deposited for and are not filled, or only
 * just: a deposit that was seen, a permit or an arrival at a deposit address that a solver brings, and what is bound.
 */
export function followBoundRewards(options: {
  readonly database: Pick<SqlDatabase, 'query'>
  readonly openRewards: Pick<OpenRewards, 'putBound'>
  readonly now: () => number
  readonly onFailure: (error: unknown) => void
}): { refresh(): Promise<void>; start(): void; close(): Promise<void> } {
  const { database, openRewards, now, onFailure } = options
  const closing = new AbortController()
  let ended: Promise<void> = Promise.resolve()

  const refresh = async () => {
    const put = (moves: Parameters<OpenRewards['putBound']>[0]) =>
      openRewards.putBound(moves, Math.floor(now() / 1_000))
    try {
      put(await readBound(database))
    } catch (error) {
      put(undefined)
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

async function readBound(database: Pick<SqlDatabase, 'query'>): Promise<ReadonlyMap<Hex, RewardedMove>> {
  const rows = await database.query<{ readonly request_id: Buffer; readonly reward: unknown }>(
    `select o.request_id, o.quoted -> 'reward' as reward from orders o
     where o.quoted -> 'reward' is not null and o.request_id in (
       select s.request_id from settlement s where s.stage in ('filling', 'filled')
       union select d.request_id from deposit_seen d where d.state = 'seen'
       union select w.request_id from work_item w where w.kind in ('permit', 'sweep') and w.state in ('open', 'reported'))`,
  )
  return new Map(
    rows.map(({ request_id, reward }) => [
      `0x${request_id.toString('hex')}` as const,
      rewardRow.parse(reward),
    ]),
  )
}
