/** One line of the table of `npm run bench`. `ratio` is the measured one, `limit` its goal in words. */
export type BenchRow = {
  readonly id: string
  readonly name: string
  readonly value: string
  readonly limit: string
  readonly ratio: number
  readonly goal: number
  /** True when a larger ratio is better. */
  readonly atLeast: boolean
}

/** Ten percent of noise are allowed: these machines are shared. */
export function isMet({ ratio, goal, atLeast }: BenchRow): boolean {
  return atLeast ? ratio >= goal * 0.9 : ratio <= goal * 1.1
}
