import { z } from 'zod'
import type { Hex } from '../hex.ts'
import { feeModelClass, feeModelSchema, type GasModel } from './feeModels.ts'
import { keylessPerMinuteSchema, openRewardsSchema } from './openQuoteLimits.ts'
import { depthProblem, pinPolicySchema } from './pinPolicy.ts'
import { bps, chainKey, decimalInteger, environmentName, evmAddress, hash32 } from './scalars.ts'
import { seenOn, seenSchema } from './seenFacts.ts'

const assetId = z.string().regex(/^[a-z0-9-]{1,32}$/)
/** Names a USD price, e.g. `ETH/USD`. */
const priceKey = z.string().regex(/^[A-Z0-9.]{1,16}\/USD$/)

/** Rewards and limits for moves of the solver inventory of one asset. @source rule Q-40 */
const inventorySchema = z.object({
  /** κ of the potential, in bps of the moved value at a skew of one target. */
  kappaBps: bps,
  /** Largest reward, as bps of the moved value (a rate: an absolute cap is evaded by splitting). */
  rewardCapBps: bps,
  /** A move whose potential rises by more than this is refused. */
  maxSkewBps: bps,
  /** Part of a balance that is never quoted away. */
  reserveBps: bps,
})

/** Currencies that are worth the same by construction, and how their price is guarded. */
const assetSchema = z.object({
  id: assetId,
  class: z.enum(['stable', 'major', 'longtail']),
  priceKey,
  inventory: inventorySchema.optional(),
})

const feedSchema = z.object({
  chain: chainKey,
  address: evmAddress,
  /** Checked at start against `description()` and `decimals()`. */
  description: z.string(),
  decimals: z.number().int().min(0).max(36),
  heartbeatSeconds: z.number().int().positive(),
  /** Source of the address. */
  source: z.string(),
})

/** Sources of one USD price. Feeds are primary, pools and HTTP adapters the second source. */
const priceSchema = z.object({
  key: priceKey,
  class: z.enum(['stable', 'major', 'longtail']),
  feeds: z.array(feedSchema),
  /** Pool mid price against another priced currency. */
  pools: z.array(z.object({ chain: chainKey, pool: evmAddress, token: evmAddress })).default([]),
  /** Optional HTTP adapters, by name; enabled by their own variables. */
  http: z
    .array(
      z.object({
        adapter: z.enum(['hermes', 'defillama', 'coingecko']),
        id: z.string(),
        source: z.string().optional().describe('Where the id comes from'),
      }),
    )
    .default([]),
})

/** Number of signatures that a price needs from a set of so many guardians: more than half. @source F-30 */
export function guardianQuorum(guardians: number): number {
  return Math.floor(guardians / 2) + 1
}

/** One guardian set of Pyth: the keys that sign its prices. */
const guardianSetSchema = z.object({
  index: z.number().int().min(0).max(0xffff_ffff),
  addresses: z
    .array(evmAddress)
    .min(1)
    .max(255)
    .refine((addresses) => new Set(addresses).size === addresses.length, 'a guardian is listed twice')
    .describe('In the order of the set; more than half of them must have signed'),
  /** Source of the addresses. */
  source: z.string(),
  seen: seenOn.optional().describe('Day on which they were read there'),
  contract: z
    .object({ chain: chainKey, address: evmAddress, source: z.string() })
    .optional()
    .describe(
      "Pyth's own contract on a chain: `config check --against-chain` asks whose signatures it takes",
    ),
})

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

/** Ceiling of a cost that does not grow with the amount: the larger of the two. */
const costCeiling = (maxBps: number, orMicroUsd: bigint) =>
  z
    .object({
      maxBps: bps.describe('Part of the amount'),
      orMicroUsd: decimalInteger.describe('What is allowed at any amount, in micro-USD'),
    })
    .default({ maxBps, orMicroUsd })

/** Limits of a quote that no price source and no fee history can exceed. @source rule Q-176 */
const ceilingsSchema = z
  .object({
    relayerGas: costCeiling(200, 25_000_000n).describe(
      'Destination gas of any quote, without a gas top-up; above both it is refused',
    ),
    sponsorGas: costCeiling(100, 10_000_000n).describe('Execution fees that a sponsor pays'),
    sponsorImpact: costCeiling(50, 1_000_000n).describe('Inventory impact that a sponsor pays'),
    sponsorSpread: z
      .object({
        maxBps: bps.describe('Part of the amount'),
        maxMicroUsd: decimalInteger.describe('In micro-USD; the smaller of the two counts'),
      })
      .default({ maxBps: 30, maxMicroUsd: 50_000_000n })
      .describe('What a sponsor pays of the disagreement of price sources'),
  })
  .prefault({})

const quoteChainSchema = z
  .object({
    chainId: z.number().int().positive(),
    name: z.string(),
    displayName: z.string(),
    explorerUrl: publicUrl(/^https?$/).describe('Block explorer that GET /chains names'),
    explorerName: z.string().max(64).default(''),
    publicRpcUrl: publicUrl(/^https?$/).describe(
      'Endpoint that browsers may use, published in GET /chains: never one of the operator that holds a key',
    ),
    publicWebsocketUrl: publicUrl(/^wss?$/).describe('The same for subscriptions'),
    iconUrl: publicUrl(/^(https?|data)$/).describe('Picture of the chain that GET /chains names'),
    enabled: z.boolean().default(true),
    seen: seenSchema
      .optional()
      .describe('When its facts were compared; the network of a chain that has this is watched'),
    blockTimeMs: z.number().int().positive(),
    /** A head older than this makes the chain unusable for pricing. */
    headMaxAgeMs: z.number().int().positive(),
    multicall3: evmAddress.optional().describe('Needed by chains that are read by contract calls'),
    wrappedNative: evmAddress.optional().describe('Needed as multicall3'),
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
        'Gas, or energy, that a payment with calls or to an account with code may take when it is tried for a quote: three quarters of what the solver file lets a transaction have at most',
      ),
    uniswapV3: uniswapV3Schema.optional(),
    pinPolicy: pinPolicySchema,
    currencies: z.array(currencySchema),
  })
  .superRefine(({ feeModel, pinPolicy }, context) => {
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

/**
 * Limits on `EXTERNAL_LIQUIDITY_URL`, which adds amounts that the solver lacks, for requests with
 * `useExternalLiquidity`.
 */
const externalLiquiditySchema = z
  .object({
    maxFeeBps: bps.default(50).describe('An offer that costs more is not counted on'),
    maxReadySeconds: z
      .number()
      .int()
      .min(1)
      .max(3_600)
      .default(240)
      .describe('An offer that takes longer is not counted on; below `orderLifetimeSeconds`'),
    timeoutMs: z.number().int().min(50).max(1_000).default(400),
  })
  .prefault({})

export type ExternalLiquiditySettings = z.infer<typeof externalLiquiditySchema>

/** Deposits that are mined after the price of their quote ended. @source rule L-60 */
const lateDepositsSchema = z
  .object({
    toleranceBps: bps
      .default(30)
      .describe('How much less the solver may get than it quoted for, by the prices of now'),
    marketWaitSeconds: z
      .number()
      .int()
      .min(0)
      .max(3_600)
      .default(300)
      .describe('How long such a deposit waits for a market that cannot be read, before it is refunded'),
  })
  .prefault({})

/**
 * `configs/quote.<ENVIRONMENT>.json`: what quote-api may price, keyed by the chain's string id.
 * @source design.md 7.4
 */
export const quoteFileSchema = z.object({
  environment: environmentName,
  servers: z.array(z.object({ url: z.string(), description: z.string() })),
  /** Account whose inventory fills orders. A placeholder in `local`, where keys are generated. */
  fillWallet: evmAddress.optional(),
  schedule: z.object({
    flatMicroUsd: decimalInteger,
    /** Platform fee by the dearer class of the two currencies; the same asset pays `sameAssetBps`. */
    sameAssetBps: bps,
    stableBps: bps,
    majorBps: bps,
    longtailBps: bps,
  }),
  orderLifetimeSeconds: z
    .number()
    .int()
    .positive()
    .describe(
      'How long orders may begin to be paid; their deadline is later by what a payment needs on its chain',
    ),
  quoteLifetimeSeconds: z.number().int().positive().describe('How long a price binds: `expiresAt` of quotes'),
  lateDeposits: lateDepositsSchema,
  externalLiquidity: externalLiquiditySchema,
  openQuotesPerUserBps: bps
    .default(10_000)
    .describe(
      'What the open quotes of one user may promise, of what the solver can pay in that asset on that chain; 0 = off',
    ),
  openRewards: openRewardsSchema,
  keylessPerMinute: keylessPerMinuteSchema,
  swapImpactMaxBps: bps,
  ceilings: ceilingsSchema,
  rateLimits: z.object({
    perKeyPerSecond: z.number().int().min(0),
    perIpPerSecond: z.number().int().min(0),
  }),
  assets: z.array(assetSchema),
  prices: z.array(priceSchema),
  guardianSets: z
    .array(guardianSetSchema)
    .refine(
      (sets) => new Set(sets.map(({ index }) => index)).size === sets.length,
      'a guardian set is listed twice',
    )
    .default([])
    .describe(
      'Needed by HERMES_URL: the guardian sets of Pyth that count, the present one and at a handover the next',
    ),
  chains: z.record(chainKey, quoteChainSchema),
})

export type QuoteFile = z.infer<typeof quoteFileSchema>
export type QuoteCeilings = QuoteFile['ceilings']
export type QuoteChain = z.infer<typeof quoteChainSchema>
export type QuoteCurrency = z.infer<typeof currencySchema>
export type QuoteAsset = z.infer<typeof assetSchema>
export type QuotePrice = z.infer<typeof priceSchema>
export type PriceFeed = z.infer<typeof feedSchema>
export type GuardianSet = z.infer<typeof guardianSetSchema>
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
