import { pow10 } from '@causeway/core'
import type { QuotePrice } from '@causeway/core/config'
import type { SourceFault, SourceValue } from '../source.ts'

export type HttpAdapterName = QuotePrice['http'][number]['adapter']

/** Adapter's result for one id: a price, or the reason why its answer must not count. */
export type HttpQuote = SourceValue | { readonly fault: SourceFault }

/** One HTTP price service. All of them are optional and off unless configured. */
export interface HttpPriceAdapter {
  readonly name: HttpAdapterName
  /** Kind of its prices: `signed` ones carry a signature that is checked, `http` ones depend on trust in the host. */
  readonly kind: 'http' | 'signed'
  /** Milliseconds between two requests. */
  readonly intervalMs: number
  /**
   * One request for all ids; an id that the service does not know is absent from the answer.
   * @param nowMs the moment of asking, Unix milliseconds
   * @throws UpstreamUnavailableError when there is no valid answer in time
   */
  read(
    ids: readonly string[],
    options: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<ReadonlyMap<string, HttpQuote>>
}

/** A service's time may be this far ahead of ours: clocks of two honest machines differ by less. */
const clockToleranceMs = 60_000

/** Checks a price and the time that its service gives for it. */
export function timedQuote(args: {
  readonly usdX18: bigint | undefined
  readonly updatedAtSeconds: number
  readonly maxAgeMs: number
  readonly nowMs: number
}): HttpQuote {
  const { usdX18, maxAgeMs, nowMs } = args
  const updatedAtMs = args.updatedAtSeconds * 1_000
  if (usdX18 === undefined || usdX18 <= 0n) return { fault: 'not_positive' }
  if (updatedAtMs > nowMs + clockToleranceMs) return { fault: 'from_the_future' }
  return { usdX18, updatedAtMs, freshUntilMs: updatedAtMs + maxAgeMs }
}

const decimalPattern = /^(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/
const fractionDigits = 18

/**
 * USD with 18 fraction digits from decimal text, such as `1.5e-7`; further digits are cut off. It uses no floating
 * point. Undefined for any other text, also for one with a sign or an empty one.
 */
export function usdX18FromText(text: string): bigint | undefined {
  const match = decimalPattern.exec(text)
  if (match === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  return scaled(BigInt(whole + fraction), fractionDigits + Number(exponent) - fraction.length)
}

/** mantissa · 10^exponent USD, as Pyth writes prices. Undefined outside a plausible exponent. */
export function usdX18FromMantissa(mantissa: bigint, exponent: number): bigint | undefined {
  if (!Number.isInteger(exponent) || Math.abs(exponent) > 40) return undefined
  return scaled(mantissa, fractionDigits + exponent)
}

/** value · 10^shift, rounded down for the non-negative values that prices are. */
function scaled(value: bigint, shift: number): bigint {
  return shift >= 0 ? value * pow10(shift) : value / pow10(-shift)
}
