import { z } from 'zod'
import { bps, decimalInteger, evmAddress } from './scalars.ts'

/** Solver's markup on the expected cost of a transaction. */
const markupBps = bps.default(1_000)

/** EVM chains, whose transactions pay for gas; on rollups also for the data that goes to the parent chain. */
const gasModelSchema = z.object({
  kind: z.enum(['eip1559', 'op-stack', 'arbitrum']),
  /** `eth_feeHistory` depth and percentile for the tip. */
  historyBlocks: z.number().int().min(1).max(100).default(10),
  rewardPercentile: z.number().int().min(0).max(100).default(20),
  minPriorityFeeWei: decimalInteger.default(1n),
  /** Number of recent blocks, empty ones included, over which the median gas price is taken. */
  ceilingBlocks: z.number().int().min(10).max(1_024).default(100),
  /** Nothing is quoted at a gas price above this many times the median. */
  ceilingFactor: z.number().int().min(2).max(100).default(4),
  /** A gas price below this is never refused, because the median of a quiet chain is next to nothing. */
  ceilingFromWei: decimalInteger.default(100_000_000n),
  /** `maxFeePerGas` covers so many blocks that each raise the base fee by 12.5 %. */
  inclusionBlocks: z.number().int().min(1).max(20).default(6),
  unitsTimesMax: z
    .number()
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Largest ratio of the gas that the network asks for a plain transaction to the gas that this release assumes: up to it prices follow the network, above it the chain stops until a larger number stands here. Absent: 10',
    ),
  markupBps,
  gasPriceOracle: evmAddress
    .optional()
    .describe(
      'Prices the data that a rollup writes to its parent: the predeploy GasPriceOracle of op-stack, the precompile ArbGasInfo of arbitrum',
    ),
})

/** Chains whose transactions bid for compute units. */
const priorityFeeModelSchema = z.object({
  kind: z.literal('priority-fee'),
  percentile: z
    .number()
    .int()
    .min(0)
    .max(100)
    .default(60)
    .describe('Percentile of the prices that recent blocks accepted, which is the price'),
  minMicroLamportsPerUnit: decimalInteger
    .default(1_000n)
    .describe('Floor, and the price while too few endpoints estimate one'),
  maxMicroLamportsPerUnit: decimalInteger
    .default(5_000_000n)
    .describe('While the price is above this, nothing is quoted'),
  markupBps,
})

/** Chains whose transactions pay for their size. */
const feerateModelSchema = z.object({
  kind: z.literal('feerate'),
  targetBlocks: z
    .number()
    .int()
    .min(1)
    .max(1_008)
    .default(2)
    .describe('Blocks within which a transaction is to be mined: endpoints estimate the price for it'),
  minSatPerKvb: decimalInteger
    .default(1_000n)
    .describe('Floor, and the price while too few endpoints estimate one'),
  maxSatPerKvb: decimalInteger.default(500_000n).describe('While the price is above this, nothing is quoted'),
  leastOutputSat: decimalInteger
    .default(10_000n)
    .describe('Outputs of users below this are not spent unless the user asks for it'),
  markupBps,
})

/** Chains whose transactions pay for energy and bytes at prices set by vote. */
const energyModelSchema = z.object({
  kind: z.literal('energy'),
  maxSunPerEnergy: decimalInteger.default(500n).describe('While energy costs more, nothing is quoted'),
  markupBps,
})

/** Exchanges, which take a fee of their own for each transfer. */
const flatModelSchema = z.object({
  kind: z.literal('flat'),
  transferFee: decimalInteger
    .default(0n)
    .describe(
      'Fee of a transfer that counts while endpoints do not tell theirs, in smallest units of the native currency; 0: transfers are free',
    ),
  maxTransferFee: decimalInteger
    .default(10_000_000n)
    .describe('While the fee of a transfer is above this, nothing is quoted'),
  markupBps,
})

export const feeModelSchema = z.discriminatedUnion('kind', [
  gasModelSchema,
  priorityFeeModelSchema,
  feerateModelSchema,
  energyModelSchema,
  flatModelSchema,
])

type FeeModel = z.infer<typeof feeModelSchema>
export type GasModel = z.infer<typeof gasModelSchema>
export type PriorityFeeModel = z.infer<typeof priorityFeeModelSchema>
export type FeerateModel = z.infer<typeof feerateModelSchema>
export type EnergyModel = z.infer<typeof energyModelSchema>
export type FlatModel = z.infer<typeof flatModelSchema>

/** Class of a chain's fee model: all kinds that pay for gas are one. */
export function feeModelClass({ kind }: FeeModel): 'gas' | 'priority-fee' | 'feerate' | 'energy' | 'flat' {
  switch (kind) {
    case 'priority-fee':
    case 'feerate':
    case 'energy':
    case 'flat':
      return kind
    case 'eip1559':
    case 'op-stack':
    case 'arbitrum':
      return 'gas'
  }
}

/** True for a chain that charges for data but has no configured oracle for the price. */
export function lacksGasPriceOracle(feeModel: FeeModel): feeModel is GasModel {
  if (feeModel.kind !== 'op-stack' && feeModel.kind !== 'arbitrum') return false
  return feeModel.gasPriceOracle === undefined
}
