import { z } from 'zod'
import { bps, chainKey, evmAddress } from './scalars.ts'
import { seenOn } from './seenFacts.ts'

export const assetId = z.string().regex(/^[a-z0-9-]{1,32}$/)
/** Names a USD price, e.g. `ETH/USD`. */
const priceKey = z.string().regex(/^[A-Z0-9.]{1,16}\/USD$/)

/** Rewards and limits for moves of the solver inventory of one asset. @source rule Q-40 */
const inventorySchema = z.object({
  /**
   * κ weighs the potential, which measures how far balances are from their targets. A move pays its rise in
   * potential as skew: κ bps of the moved value where a chain is one whole target off.
   */
  kappaBps: bps,
  /** Largest reward, as bps of the moved value (a rate: an absolute cap is evaded by splitting). */
  rewardCapBps: bps,
  /** A move whose skew is above this part of its value is refused. */
  maxSkewBps: bps,
  /** Part of a balance that is never quoted away. */
  reserveBps: bps,
})

/** Currencies that are worth the same by construction, and how their price is guarded. */
export const assetSchema = z.object({
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
export const priceSchema = z.object({
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
export const guardianSetSchema = z.object({
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

export type QuoteAsset = z.infer<typeof assetSchema>
export type QuotePrice = z.infer<typeof priceSchema>
export type PriceFeed = z.infer<typeof feedSchema>
export type GuardianSet = z.infer<typeof guardianSetSchema>
