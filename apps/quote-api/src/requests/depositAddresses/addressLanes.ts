/**
 * Priority classes in which deposit addresses wait for their next look, the most urgent first. Stored in the column
 * `lane`. A stranger cannot delay paid addresses by asking for many quotes, or by sending dust.
 */
export const lanes = {
  /** A block paid at least half of the quoted amount, or a sweep ended. */
  paid: 0,
  /** Quoted with a key, and used within the hour. */
  keyed: 1,
  /** Quoted without a key; a block names it, for example in a call, or pays it less than half. */
  named: 2,
  /** Quoted without a key, and used within the hour. */
  unpaid: 3,
  /** Unused for longer than an hour. */
  idle: 4,
} as const

export const lanesInOrder: readonly number[] = Object.values(lanes)
/** The lanes that are read on chains whose blocks show every payment. */
export const paidLanes: readonly number[] = [lanes.paid, lanes.named]

/** Addresses whose balances one pass reads; the rest are due in the next pass. */
export const addressesPerPass = 250

/** Addresses of each lane that a pass reads whatever the other lanes need; their sum is one pass. */
const guaranteedPlaces: readonly number[] = [120, 60, 30, 20, 20]

/**
 * Shares the places of a pass: each lane gets its guaranteed ones, and the rest go to the lanes by priority. Pure.
 * @param due number of due addresses, by lane
 * @returns number of addresses to read, by lane
 */
export function shareOut(due: readonly number[]): readonly number[] {
  const guaranteed = due.map((count, lane) => Math.min(count, guaranteedPlaces[lane] ?? 0))
  let remaining = addressesPerPass - guaranteed.reduce((sum, count) => sum + count, 0)
  return guaranteed.map((count, lane) => {
    const more = Math.min((due[lane] ?? 0) - count, remaining)
    remaining -= more
    return count + more
  })
}

/** Age of the last use from which an address belongs to the idle lane. */
const idleAfter = `interval '1 hour'`

/** SQL of the lane of an address without money. */
export const laneOfUnpaid = `case when active_at < clock_timestamp() - ${idleAfter} then ${lanes.idle}
  when is_keyed then ${lanes.keyed} else ${lanes.unpaid} end`
