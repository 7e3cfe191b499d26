import { divideDown, divideHalfEven, pow10 } from './mulDiv.ts'

/**
 * Exact decimal text of an integer amount: no exponent, no grouping, trailing zeros trimmed but one
 * kept (`"0.0"`, `"100.0"`, `"12.345678"`). @source rule Q-143
 */
export function formatAmount(amount: bigint, decimals: number): string {
  return trimOneKept(formatFixed(amount, decimals))
}

/** `amount` with exactly `fractionDigits` fraction digits, e.g. `formatFixed(5n, 3)` is `"0.005"`. */
export function formatFixed(amount: bigint, fractionDigits: number): string {
  const negative = amount < 0n
  const digits = (negative ? -amount : amount).toString()
  const sign = negative ? '-' : ''
  if (fractionDigits === 0) return sign + digits
  const padded = digits.length > fractionDigits ? digits : digits.padStart(fractionDigits + 1, '0')
  const point = padded.length - fractionDigits
  return `${sign}${padded.slice(0, point)}.${padded.slice(point)}`
}

function trimOneKept(text: string): string {
  const point = text.indexOf('.')
  if (point < 0) return `${text}.0`
  let end = text.length
  while (end > point + 2 && text[end - 1] === '0') end -= 1
  return text.slice(0, end)
}

const usdX18PerMicroUsd = 10n ** 12n

/** USD with six fraction digits from USD with 18, ties to even: `"99.370000"`. */
export function formatUsd(usdX18: bigint): string {
  if (usdX18 === 0n) return '0.000000'
  return formatFixed(divideHalfEven(usdX18, usdX18PerMicroUsd), 6)
}

/** Signed percentage with two digits of `part` in `whole`; a whole of zero gives `"0.00"`. */
export function formatPercent(part: bigint, whole: bigint): string {
  if (whole === 0n) return '0.00'
  const sign = whole < 0n ? -1n : 1n
  const hundredths = divideHalfEven(part * sign * 10_000n, whole * sign)
  return formatFixed(hundredths, 2)
}

const rateDigits = 18

/**
 * Whole units of output per whole unit of input, with at most 18 significant digits, rounded down, without trailing
 * zeros. An input of zero gives `"0"`.
 */
export function formatRate(args: {
  amountIn: bigint
  decimalsIn: number
  amountOut: bigint
  decimalsOut: number
}): string {
  const numerator = args.amountOut * pow10(args.decimalsIn)
  const denominator = args.amountIn * pow10(args.decimalsOut)
  if (denominator === 0n || numerator === 0n) return '0'
  const whole = numerator / denominator
  if (whole > 0n) {
    const fractionDigits = Math.max(rateDigits - whole.toString().length, 0)
    return trimAll(formatFixed(divideDown(numerator * pow10(fractionDigits), denominator), fractionDigits))
  }
  // Zeros behind the point of a rate below one are not significant digits.
  const leadingZeros = Math.max((denominator / numerator).toString().length - 1, 0)
  const fractionDigits = rateDigits + leadingZeros
  return trimAll(formatFixed(divideDown(numerator * pow10(fractionDigits), denominator), fractionDigits))
}

function trimAll(text: string): string {
  if (!text.includes('.')) return text
  let end = text.length
  while (text[end - 1] === '0') end -= 1
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}

/** An amount as a number, which the JSON of some families takes. @throws RangeError where that would round it */
export function exactNumber(amount: bigint): number {
  if (amount > BigInt(Number.MAX_SAFE_INTEGER))
    throw new RangeError('a number cannot hold the amount exactly')
  return Number(amount)
}
