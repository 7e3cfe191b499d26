import { z } from 'zod'
import type { Hex } from '../hex.ts'
import { feeModelClass, feeModelSchema, type GasModel } from './feeModels.ts'
import { depthProblem, pinPolicySchema } from './pinPolicy.ts'
import { assetId } from './quotePrices.ts'
import { bps, decimalInteger, evmAddress, hash32 } from './scalars.ts'
import { seenSchema } from './seenFacts.ts'

/** URL that answers show to every caller, so it must hold no credentials; empty: none. */
export const publicUrl = (protocol: RegExp) =>
  z
    .union([z.literal(''), z.url({ protocol })])
    .refine((text) => !text.includes('@'), { error: 'must hold no credentials' })
    .default('')

const currencySchema = z.object({
  address: z.string(),
  symbol: z.string().min(1).max(16),
  name: z.string().min(1).max(64),
  decimals: z.number().int().min(0).max(36),
  asset: assetId,
  logoUri: publicUrl(/^(https?|data)$/).describe('Picture that answers name; empty: none'),
  /** True when the solver keeps inventory of it on this chain. */
  solver: z.boolean().default(false),
  /** Share of the asset's inventory that belongs here; the shares of one asset add up to 10 000. */
  targetShareBps: bps.optional(),
  permit: z.enum(['eip3009', 'eip2612', 'none']).default('none'),
  tokenProgram: z
    .string()
    .optional()
    .describe("Program that keeps the mint, in families where several do; absent: the family's own"),
  /** The token demands that an allowance is reset to zero before it changes. */
  resetsAllowance: z.boolean().default(false),
  /** Source of these facts. */
  source: z.string(),
})

const poolSchema = z.object({
  address: evmAddress,
  token0: evmAddress,
  token1: evmAddress,
  /** Hundredths of a basis point, as Uniswap V3 has it. */
  feePips: z.number().int().min(1).max(1_000_000),
  tickSpacing: z.number().int().min(1),
})

const uniswapV3Schema = z.object({
  factory: evmAddress,
  quoterV2: evmAddress,
  swapRouter: evmAddress.optional(),
  pools: z.array(poolSchema).default([]),
  fallbackFeeTiers: z
    .array(z.number().int().min(1).max(999_999))
    .max(8)
    .default([])
    .describe('Fees of pools that `useFallbacks` asks the quoter for, in hundredths of a basis point'),
  source: z.string(),
})

/** One chain of the quote file: contracts, fee model, depths and currencies. */
export const quoteChainSchema = z
  .object({
    chainId: z.number().int().positive(),
    name: z.string(),
    displayName: z.string(),
    explorerUrl: publicUrl(/^https?$/).describe('Block explorer that GET /chains names'),
    explorerName: z.string().max(64).default(''),
    publicRpcUrl: publicUrl(/^https?$/).describe(
      'Endpoint that browsers may use, published in GET /chains: never one of the operator that holds a key',
    ),
    publicWebsocketUrl: publicUrl(/^wss?$/).describe(
      'Endpoint for subscriptions that browsers may use, published in GET /chains',
    ),
    iconUrl: publicUrl(/^(https?|data)$/).describe('Picture of the chain that GET /chains names'),
    enabled: z.boolean().default(true),
    seen: seenSchema
      .optional()
      .describe('When its facts were compared; the network of a chain that has this is watched'),
    blockTimeMs: z.number().int().positive(),
    /** A head older than this makes the chain unusable for pricing. */
    headMaxAgeMs: z.number().int().positive(),
    multicall3: evmAddress.optional().describe('Contract Multicall3: EVM chains need it'),
    wrappedNative: evmAddress
      .optional()
      .describe('Contract of the wrapped native currency: EVM chains need it'),
    sequencerUptimeFeed: evmAddress
      .optional()
      .describe(
        'Feed that says whether the sequencer is up: price feeds of the chain count only while it is, and not in its first hour',
      ),
    fillWallet: z
      .string()
      .optional()
      .describe("Account whose inventory fills orders on this chain; absent: the file's"),
    /** Executes fills; named in orders as extra data. */
    fillContract: evmAddress.optional(),
    /** Hands on what calls of orders leave at it; published to callers. Absent: none on this chain. */
    cleanupRouter: evmAddress.optional(),
    /** Swaps and deposits the result, or pays it out, in one transaction; absent: users swap nothing there. */
    depositRouter: evmAddress.optional(),
    /** Makes and empties deposit addresses; absent: none on this chain. */
    depositAddresses: z
      .object({
        contract: evmAddress,
        /** `SWEEP_CODE_HASH` of the contract, a part of every address; compared at start. */
        sweepCodeHash: hash32,
      })
      .optional(),
    depositAddressProgram: z
      .string()
      .optional()
      .describe(
        'Program that makes and empties deposit addresses, in families of programs; absent: none on this chain',
      ),
    depositAddressKey: z
      .templateLiteral(['0x', z.string().regex(/0[23][0-9a-f]{64}/)], {
        error: 'expected a compressed public key: 0x02 or 0x03 and 64 hex digits in lower case',
      })
      .optional()
      .describe(
        'Public key of the fill wallet, which empties deposit addresses where scripts make them; absent: none on this chain',
      ),
    /** Turns signed permits into deposits; absent: no permits on this chain. */
    permitRouter: z
      .object({
        contract: evmAddress,
        /** `DEPOSIT_CODE_HASH` of the contract, a part of every spender; compared at start. */
        depositCodeHash: hash32,
      })
      .optional(),
    /** Spender of Permit2 signatures, for tokens without permits of their own; absent: none on this chain. */
    permit2Router: evmAddress.optional(),
    feeModel: feeModelSchema,
    transactionGasMax: decimalInteger
      .default(10_000_000n)
      .describe(
        'Most gas, or energy, that a payment with calls or to an account with code may take in its trial for a quote. Keep it at least a quarter below `transactionGasMax` of the solver file',
      ),
    uniswapV3: uniswapV3Schema.optional(),
    pinPolicy: pinPolicySchema,
    currencies: z.array(currencySchema),
  })
  .superRefine(({ feeModel, pinPolicy }, context) => {
    // Chains that are paid by the size of transactions (`feerate`) are those with proof of work.
    for (const [index, row] of pinPolicy.entries()) {
      const message = depthProblem(row, feeModelClass(feeModel) === 'feerate')
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['pinPolicy', index], message })
    }
  })
  .superRefine(({ feeModel, multicall3, wrappedNative }, context) => {
    if (feeModelClass(feeModel) !== 'gas') return
    for (const [name, value] of Object.entries({ multicall3, wrappedNative })) {
      if (value === undefined)
        context.addIssue({ code: 'custom', path: [name], message: `needed by ${feeModel.kind}` })
    }
  })

export type QuoteChain = z.infer<typeof quoteChainSchema>
export type QuoteCurrency = z.infer<typeof currencySchema>
export type PoolConfig = z.infer<typeof poolSchema>

/** Shortest block time that repeated reads of a chain assume, in milliseconds. */
const fastestPaceMs = 2_000

/**
 * Block time from which the intervals between reads are derived: at least two seconds. Depths and estimates use
 * `blockTimeMs`, the real one. @source F-41
 */
export function paceMs({ blockTimeMs }: Pick<QuoteChain, 'blockTimeMs'>): number {
  return Math.max(blockTimeMs, fastestPaceMs)
}

/**
 * Minimum time between two reads of state or links on chains whose blocks come faster than `fastestPaceMs`. It is a
 * little less than that pace, because the clocks of readers and blocks differ. @source F-106
 */
export const leastBetweenReadsMs = fastestPaceMs - 250

/** Number of real blocks in the time that `blocks` take at `paceMs`. @source F-41 */
export function blocksAtPace(chain: Pick<QuoteChain, 'blockTimeMs'>, blocks: bigint): bigint {
  return blocks * BigInt(Math.ceil(paceMs(chain) / chain.blockTimeMs))
}

/** A chain that is read by contract calls and whose transactions pay for gas. */
export type ContractChain = QuoteChain & {
  readonly feeModel: GasModel
  readonly multicall3: Hex
  readonly wrappedNative: Hex
}

export function isContractChain(chain: QuoteChain): chain is ContractChain {
  return (
    feeModelClass(chain.feeModel) === 'gas' &&
    chain.multicall3 !== undefined &&
    chain.wrappedNative !== undefined
  )
}

/** Narrows a chain for code of families with contracts. @throws Error for a chain of another family: a caller's bug */
export function contractChain(chain: QuoteChain): ContractChain {
  if (isContractChain(chain)) return chain
  throw new Error(`chain ${chain.chainId} is not read by contract calls`)
}
