import { type PricedUnit, usdValueDown } from '@causeway/core'
import type { QuotableChain } from '../../pricing/registry.ts'
import { pinWaitMs } from '../../pricing/timeEstimate.ts'

/** Duration, cost and amounts of a filled request, each beside its quoted value. Amounts in smallest units. */
export type FillMeasurement = {
  readonly elapsedSeconds: number
  readonly quotedSeconds: number
  /** Elapsed time without the wait for the deposit's pin depth and without one block of the destination. */
  readonly reactionMs: number
  /** US dollars times 10^18; `undefined` where the cost of a transaction is unknown. */
  readonly gasUsdX18: bigint | undefined
  readonly quotedGasUsdX18: bigint
  readonly outputAmount: bigint
  readonly quotedOutputAmount: bigint
  readonly depositAmount: bigint
  readonly quotedDepositAmount: bigint
}

/** Native coin that the solver spent on one chain, in its smallest unit, with the unit's price. */
export type SolverCost = { readonly wei: bigint; readonly native: PricedUnit }

/** A year. Timestamps of blocks are not trusted, and must not overflow a column of the database. */
const elapsedSecondsMax = 366 * 86_400
/** Largest value of a PostgreSQL `integer`. */
const reactionMsMax = 2 ** 31 - 1

/**
 * Compares a fill with its quote. Pure. The clocks of two chains may differ by seconds, so negative times count as zero.
 * @param fill.valueMicroUsd worth of the order, which decides how long its deposit waits for pin depth
 * @param fill.depositSeconds Unix time of the deposit's block; `fillSeconds` that of the fill's
 * @param fill.costs of every transaction that the solver sent for the request, and its gas top-up
 * @param fill.quoted.gas charge for gas, in smallest units of the currency that `gasUnit` prices
 */
export function measureFill(fill: {
  readonly origin: QuotableChain
  readonly destination: QuotableChain
  readonly valueMicroUsd: bigint
  readonly depositSeconds: bigint
  readonly fillSeconds: bigint
  readonly costs: readonly SolverCost[] | undefined
  readonly outputAmount: bigint
  readonly depositAmount: bigint
  readonly quoted: {
    readonly seconds: number
    readonly gas: bigint
    readonly gasUnit: PricedUnit
    readonly outputAmount: bigint
    readonly depositAmount: bigint
  }
}): FillMeasurement {
  const { origin, destination, quoted } = fill
  const elapsedSeconds = clamp(Number(fill.fillSeconds - fill.depositSeconds), elapsedSecondsMax)
  const expectedMs = pinWaitMs(origin, fill.valueMicroUsd) + destination.config.blockTimeMs
  return {
    elapsedSeconds,
    quotedSeconds: quoted.seconds,
    reactionMs: clamp(elapsedSeconds * 1_000 - expectedMs, reactionMsMax),
    gasUsdX18: fill.costs?.reduce((sum, { wei, native }) => sum + usdValueDown(wei, native), 0n),
    quotedGasUsdX18: usdValueDown(quoted.gas, quoted.gasUnit),
    outputAmount: fill.outputAmount,
    quotedOutputAmount: quoted.outputAmount,
    depositAmount: fill.depositAmount,
    quotedDepositAmount: quoted.depositAmount,
  }
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(value, 0), max)
}
