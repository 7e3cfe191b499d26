import { type PricedUnit, usdValueDown } from '@causeway/core'
import type { QuotableChain } from '../../pricing/registry.ts'
import { pinWaitMs } from '../../pricing/timeEstimate.ts'

/** Duration and cost of a filled request, beside the quoted ones. Amounts in smallest units. */
export type FillMeasurement = {
  readonly elapsedSeconds: number
  readonly quotedSeconds: number
  /** The part of the elapsed time that neither depth nor the block of the fill explain. */
  readonly reactionMs: number
  /** `undefined` where it cannot be known. */
  readonly gasUsdX18: bigint | undefined
  readonly quotedGasUsdX18: bigint
  readonly outputAmount: bigint
  readonly quotedOutputAmount: bigint
  readonly depositAmount: bigint
  readonly quotedDepositAmount: bigint
}

/** Wei that the solver spent on one chain, and what they are worth. */
export type SolverCost = { readonly wei: bigint; readonly native: PricedUnit }

/** A year: what chains say of their time must not overflow a column. */
const elapsedSecondsMax = 366 * 86_400

/**
 * Compares a fill with its quote. Pure. Blocks of two chains may contradict each other by seconds: nothing
 * takes less than no time.
 * @param fill.costs of every transaction that the solver sent for the request, with the gas that it handed out
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
  const explainedMs = pinWaitMs(origin, fill.valueMicroUsd) + destination.config.blockTimeMs
  return {
    elapsedSeconds,
    quotedSeconds: quoted.seconds,
    reactionMs: clamp(elapsedSeconds * 1_000 - explainedMs, 2 ** 31 - 1),
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
