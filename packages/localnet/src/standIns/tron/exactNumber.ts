/** An amount as the JSON of a Tron node writes it: a plain number. @throws RangeError where that would round it */
export function exactNumber(amount: bigint): number {
  if (amount > BigInt(Number.MAX_SAFE_INTEGER))
    throw new RangeError('a number cannot hold the amount exactly')
  return Number(amount)
}
