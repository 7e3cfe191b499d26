// The steps of a run in the field, and what each may spend. Pure.
import { divideUp } from '@causeway/core'
import { formatUnits } from 'viem'

/** Costs of one chain, read before anything is sent. */
export type ChainCosts = {
  readonly chain: string
  /** Price of the native coin, of 18 digits. */
  readonly microUsdPerCoin: bigint
  /** No transaction offers more for a unit of gas. */
  readonly gasPriceMaxWei: bigint
  /** Maximum fee of a rollup for a transaction beside its gas, in wei; 0 elsewhere. */
  readonly dataFeeMaxWei: bigint
  /** Units of gas that a transfer to the fill wallet takes at most. */
  readonly transferGasMax: bigint
  /** To deploy what is missing, in wei; 0 where nothing is. */
  readonly deployMaxWei: bigint
}

export type StepKind =
  | 'read'
  | 'deploy'
  | 'lend'
  | 'start'
  | 'quote'
  | 'deposit'
  | 'fill'
  | 'attest'
  | 'compare'

export type Step = {
  readonly kind: StepKind
  /** The chain that pays; absent: what is about no chain. */
  readonly chain?: string
  /** Destination chain of a payment. */
  readonly to?: string
  /** Maximum spending of the funded account, in wei of `chain`. */
  readonly maxWei: bigint
  readonly maxMicroUsd: bigint
}

/** Output of each payment. */
export const outputMicroUsd = 500_000n
/** Maximum fees of a quote beside the output and the gas of its fill. */
const quotedFeesMaxMicroUsd = 100_000n
/** Before anything is quoted; a deposit that is quoted is measured. */
const plannedDepositGas = 200_000n
const fillGasMax = 300_000n
/** A wallet that would be nearly empty afterwards sells nothing. */
const outputsLent = 4n
const weiPerCoin = 10n ** 18n

/** Value of `wei` in microUSD, rounded up; a gain is negative. */
export function microUsdOf(wei: bigint, microUsdPerCoin: bigint): bigint {
  return wei < 0n ? (wei * microUsdPerCoin) / weiPerCoin : divideUp(wei * microUsdPerCoin, weiPerCoin)
}

/** @returns wei, rounded up */
export function weiOf(microUsd: bigint, { microUsdPerCoin }: Pick<ChainCosts, 'microUsdPerCoin'>): bigint {
  return divideUp(microUsd * weiPerCoin, microUsdPerCoin)
}

/** Maximum fee of `gas` units, in wei. */
export function gasWei(gas: bigint, { gasPriceMaxWei, dataFeeMaxWei }: ChainCosts): bigint {
  return gas * gasPriceMaxWei + dataFeeMaxWei
}

/** A step that moves no money. */
export function freeStep(kind: StepKind, place: Pick<Step, 'chain' | 'to'> = {}): Step {
  return { kind, ...place, maxWei: 0n, maxMicroUsd: 0n }
}

export function paidStep(
  kind: StepKind,
  { chain, microUsdPerCoin }: ChainCosts,
  { maxWei, to }: { readonly maxWei: bigint; readonly to?: string },
): Step {
  const place = to === undefined ? { chain } : { chain, to }
  return { kind, ...place, maxWei, maxMicroUsd: microUsdOf(maxWei, microUsdPerCoin) }
}

/** Balance of the fill wallet on a chain for the fills of `payments` payments, in wei. */
export function inventoryWei(costs: ChainCosts, payments: number): bigint {
  return outputsLent * weiOf(outputMicroUsd, costs) + BigInt(payments) * gasWei(fillGasMax, costs)
}

/**
 * Every step after the chains were read, in its order: each chain pays each other one once.
 * @param args.isCompared another oracle is asked for the same facts
 */
export function planSteps(
  costs: readonly ChainCosts[],
  { isCompared }: { readonly isCompared: boolean },
): readonly Step[] {
  const pairs = costs.flatMap((from) => costs.filter((to) => to !== from).map((to) => ({ from, to })))
  return [
    ...costs
      .filter(({ deployMaxWei }) => deployMaxWei > 0n)
      .map((one) => paidStep('deploy', one, { maxWei: one.deployMaxWei })),
    ...costs.map((one) => {
      const lentWei = inventoryWei(one, costs.length - 1)
      return paidStep('lend', one, { maxWei: lentWei + gasWei(one.transferGasMax, one) })
    }),
    freeStep('start'),
    ...pairs.flatMap(({ from, to }) => {
      const place = { chain: from.chain, to: to.chain }
      return [
        freeStep('quote', place),
        paidStep('deposit', from, { maxWei: depositWei(from, to), to: to.chain }),
        freeStep('fill', place),
        freeStep('attest', place),
        ...(isCompared ? [freeStep('compare', place)] : []),
      ]
    }),
  ]
}

/** Before it is quoted. */
function depositWei(from: ChainCosts, to: ChainCosts): bigint {
  const fillMicroUsd = microUsdOf(gasWei(fillGasMax, to), to.microUsdPerCoin)
  return weiOf(outputMicroUsd + quotedFeesMaxMicroUsd + fillMicroUsd, from) + gasWei(plannedDepositGas, from)
}

/**
 * True where a step may be taken: all that left the funded account until now and all that the step may spend are within
 * the sum. What was lent counts as spent until it is back.
 */
export function isWithin(
  step: Pick<Step, 'maxMicroUsd'>,
  { outlayMicroUsd, sumMicroUsd }: { readonly outlayMicroUsd: bigint; readonly sumMicroUsd: bigint },
): boolean {
  return step.maxMicroUsd === 0n || outlayMicroUsd + step.maxMicroUsd <= sumMicroUsd
}

/** The first step that a sum would not reach for, if each before it took its most. */
export function firstAbove(steps: readonly Step[], sumMicroUsd: bigint): Step | undefined {
  let outlayMicroUsd = 0n
  return steps.find((step) => {
    if (!isWithin(step, { outlayMicroUsd, sumMicroUsd })) return true
    outlayMicroUsd += step.maxMicroUsd
    return false
  })
}

/** Maximum spending of all of a chain's steps, in wei. */
export function neededWei(steps: readonly Step[], chain: string): bigint {
  return steps.reduce((sum, step) => (step.chain === chain ? sum + step.maxWei : sum), 0n)
}

export const usdText = (microUsd: bigint): string => `${formatUnits(microUsd, 6)} USD`

/** E.g. `deposit sepolia to base-sepolia`. */
export function nameOf({ kind, chain, to }: Pick<Step, 'kind' | 'chain' | 'to'>): string {
  return [kind, ...(chain === undefined ? [] : [chain]), ...(to === undefined ? [] : ['to', to])].join(' ')
}

/** Announcement before a step. */
export function announce(step: Step): string {
  const { chain, maxWei, maxMicroUsd } = step
  if (maxWei === 0n) return `${nameOf(step)}: spends nothing`
  return `${nameOf(step)}: spends at most ${usdText(maxMicroUsd)} (${formatUnits(maxWei, 18)} coins on ${chain})`
}
