/**
 * Neighbouring ticks are prices that differ by the factor 1.0001: tick i is the price 1.0001ⁱ of token1 per token0.
 * Prices are kept as square roots, √price·2⁹⁶. @source Uniswap V3 Core whitepaper, 6.1 to 6.2.1
 */
export const minTick = -887_272
export const maxTick = 887_272
/** Price of `minTick`; a pool's price is never below. */
export const minSqrtPriceX96 = 4_295_128_739n
/** Price of `maxTick`; a pool's price is always below. */
export const maxSqrtPriceX96 = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n

/** Element i is 1.0001^(−2ⁱ⁄2)·2¹²⁸, as in the pool contract: a tick's price is the product over its set bits. */
const bitFactorsX128: readonly bigint[] = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
]

const lowBits = 10
const lowMask = (1 << lowBits) - 1
/** Product of the low bits' factors, for every combination: the pool multiplies those first. */
const lowProductsX128: readonly bigint[] = Array.from({ length: 1 << lowBits }, (_, bits) =>
  timesFactors(1n << 128n, bits, 0),
)
const largestUint256 = (1n << 256n) - 1n
/** ln √1.0001 */
const logOfOneTick = Math.log(1.0001) / 2

/**
 * √price·2⁹⁶ of a tick, rounded up, to the last bit as the pool contract computes it.
 * @throws RangeError outside `minTick` … `maxTick`
 */
export function sqrtPriceX96AtTick(tick: number): bigint {
  const distance = tick < 0 ? -tick : tick
  // Negated, so that NaN is refused, too.
  if (!(distance <= maxTick)) throw new RangeError('the tick is out of range')
  const belowOneX128 = timesFactors(lowProductsX128[distance & lowMask] ?? 0n, distance, lowBits)
  const ratioX128 = tick > 0 ? largestUint256 / belowOneX128 : belowOneX128
  return (ratioX128 + 0xffffffffn) >> 32n
}

/**
 * The greatest tick whose price is not above `sqrtPriceX96`.
 * Floating point only guesses where to look; exact tick prices decide.
 * @throws RangeError outside `minSqrtPriceX96` … `maxSqrtPriceX96 − 1`
 */
export function tickAtSqrtPriceX96(sqrtPriceX96: bigint): number {
  if (sqrtPriceX96 < minSqrtPriceX96 || sqrtPriceX96 >= maxSqrtPriceX96) {
    throw new RangeError('the price is out of range')
  }
  const guess = Math.floor(Math.log(Number(sqrtPriceX96) / 2 ** 96) / logOfOneTick)
  let tick = Math.min(maxTick - 1, Math.max(minTick, guess))
  while (sqrtPriceX96AtTick(tick) > sqrtPriceX96) tick--
  while (sqrtPriceX96AtTick(tick + 1) <= sqrtPriceX96) tick++
  return tick
}

/** Multiplies by the factor of each set bit, lowest first and truncating each time: the order is part of the result. */
function timesFactors(startX128: bigint, bits: number, firstBit: number): bigint {
  let productX128 = startX128
  for (let bit = firstBit, bitsLeft = bits >> firstBit; bitsLeft !== 0; bit++, bitsLeft >>= 1) {
    if (bitsLeft & 1) productX128 = (productX128 * (bitFactorsX128[bit] ?? 0n)) >> 128n
  }
  return productX128
}
