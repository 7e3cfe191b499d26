import { bpsDenominator, divideUp } from '@causeway/core'

export function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b
}

/** |a − b| in bps of `base`, rounded up. @throws RangeError unless `base` is above zero */
export function distanceBps(a: bigint, b: bigint, base: bigint): bigint {
  return divideUp(distance(a, b) * bpsDenominator, base)
}
