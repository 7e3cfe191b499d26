/** In which order deposit addresses are looked at: what nobody paid for never goes before what somebody did. */
export const lanes = {
  /** A block paid about what was asked, or a sweep ended. Costs whoever wants to be here that payment. */
  paid: 0,
  /** Quoted with a key, and used within the hour. */
  keyed: 1,
  /** A block names the address: a token moved there, a contract was told to pay it, or somebody sent dust. */
  named: 2,
  /** Quoted within the hour, and nothing more. */
  unpaid: 3,
  /** Longer ago. */
  idle: 4,
} as const

export const lanesInOrder = Object.values(lanes)

/** Places in a pass that no other lane can take, by lane; together no more than a pass. */
const guaranteed: readonly number[] = [120, 60, 30, 20, 20]

/** Addresses of one request to the chain; what is left over is due in the next pass. */
export const addressesPerPass = 250

/**
 * Shares the places of a pass: each lane has some of its own, the rest goes in the order of the lanes.
 * @param due how many are due, by lane @returns how many are looked at, by lane. Pure.
 */
export function shareOut(due: readonly number[]): readonly number[] {
  const own = due.map((count, lane) => Math.min(count, guaranteed[lane] ?? 0))
  let left = addressesPerPass - own.reduce((sum, count) => sum + count, 0)
  return own.map((count, lane) => {
    const more = Math.min((due[lane] ?? 0) - count, left)
    left -= more
    return count + more
  })
}
