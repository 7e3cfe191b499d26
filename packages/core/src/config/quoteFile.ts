import { z } from 'zod'
import { keylessPerMinuteSchema, openRewardsSchema } from './openQuoteLimits.ts'
import { quoteChainSchema } from './quoteChain.ts'
import { assetSchema, guardianSetSchema, priceSchema } from './quotePrices.ts'
import { bps, chainKey, decimalInteger, environmentName, evmAddress } from './scalars.ts'

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
 * @source docs/operating/configuration.md, Files
 */
export const quoteFileSchema = z.object({
  environment: environmentName,
  servers: z.array(z.object({ url: z.string(), description: z.string() })),
  /** Account whose inventory fills orders. A placeholder in `local`, where keys are generated. */
  fillWallet: evmAddress.optional(),
  schedule: z.object({
    /** Fixed fee of the operator on every quote. */
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
  /** Swaps with a greater price impact are refused, unless the request overrides that. */
  swapImpactMaxBps: bps,
  ceilings: ceilingsSchema,
  /** Most requests of a key, and of an address that sends none; 0: no limit. */
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
