import { DomainError, formatAmount } from '@causeway/core'
import { z } from 'zod'
import { agreedKinds } from './chain/chainReading.ts'
import type { ChainFacts } from './chain/chainState.ts'
import type { AgreementOf } from './evaluation/buildSnapshot.ts'
import type { Evaluation } from './evaluation/evaluate.ts'
import type { ChainPlan, MarketPlan } from './plan.ts'
import type { PricePlan } from './prices/pricePlan.ts'
import { secondSourceRules } from './prices/secondSource.ts'
import { isFresh, type SourceReading, sourceKinds } from './prices/source.ts'
import type { RefreshReading } from './refreshedValue.ts'
import type { PriceRefusal } from './snapshot.ts'

/** Health of one chain's refreshes. */
export type RefreshHealth = {
  readonly state: RefreshReading<unknown>['state']
  readonly consecutiveFailures: number
  readonly lastError: unknown
}

/** Input of `describeMarket`; `version` is that of the snapshot. */
export type HealthFacts = {
  readonly version: number
  readonly plan: MarketPlan
  readonly evaluation: Evaluation
  readonly chainFacts: (chainKey: string) => ChainFacts | undefined
  readonly refreshHealth: (chainKey: string) => RefreshHealth
  readonly agreementOf: AgreementOf
  readonly nowMs: number
}

const usd = z.string().describe('USD per whole token, exact decimal')
const ageMs = z.number().int().describe('Milliseconds')
const wei = z.string()

const sourceSchema = z.object({
  source: z.string().describe('Where the value comes from, e.g. "feed base 0x…"'),
  kind: z.enum(sourceKinds).describe('"signed": an HTTP price whose guardians\' signatures were checked'),
  state: z.enum(['fresh', 'stale', 'faulty']),
  usd: usd.optional(),
  fault: z.string().optional().describe('Why the source does not count'),
  ageMs: ageMs.optional().describe('Age of the value, by the source itself'),
  readAgeMs: ageMs.optional().describe('Time since the source last answered'),
  block: z.string().optional().describe('Block at which it was read'),
})

const priceSchema = z.object({
  key: z.string(),
  class: z.enum(['stable', 'major', 'longtail']),
  secondSource: z
    .enum(secondSourceRules)
    .describe('"required": refused without two sources on hosts apart; "single": one is configured'),
  usd: usd.optional(),
  confidence: z.enum(['fresh', 'degraded', 'refused']),
  refusal: z.string().optional().describe('Why there is no price'),
  spreadBps: z.string().optional().describe('How far fresh sources lie apart'),
  depegBps: z.string().optional().describe('Distance of a stablecoin from 1 USD, when notable'),
  sources: z.array(sourceSchema),
})

const gasSchema = z.object({
  expectedWei: wei,
  maxFeePerGasWei: wei,
  maxPriorityFeePerGasWei: wei,
  ceilingWei: wei.describe('Above this nothing is quoted: a multiple of the median of recent blocks'),
  tipFrom: z
    .enum(['agreed', 'median', 'configured'])
    .describe('"agreed" like the base fee, the "median" of estimates, or "configured"'),
})

const priorityFeeSchema = z.object({
  microLamportsPerUnit: z.string(),
  ceilingMicroLamportsPerUnit: z.string(),
  priceFrom: z.enum(['median', 'configured']),
})

const feerateSchema = z.object({
  satPerKvb: z.string(),
  ceilingSatPerKvb: z.string(),
  priceFrom: z.enum(['median', 'configured']),
})

const energyPriceSchema = z.object({
  sunPerEnergy: z.string(),
  sunPerByte: z.string(),
  ceilingSunPerEnergy: z.string(),
  energyFrom: z.enum(['median', 'configured']),
})

const transferFeeSchema = z.object({
  transferFee: z.string(),
  ceilingTransferFee: z.string(),
  feeFrom: z.enum(['agreed', 'configured']),
})

const chainSchema = z.object({
  chain: z.string(),
  chainId: z.number().int(),
  quotable: z.boolean().describe('False for a chain that is only read for its feeds'),
  state: z.enum([
    'ok',
    'no_data',
    'stale_head',
    'stale_gas',
    'gas_disputed',
    'gas_above_ceiling',
    'priority_fee_above_ceiling',
    'feerate_above_ceiling',
    'energy_price_above_ceiling',
    'transfer_fee_above_ceiling',
  ]),
  head: z
    .object({
      number: z.string(),
      hash: z.string().optional(),
      ageMs: ageMs.describe('Negative when the chain runs ahead of the clock'),
    })
    .optional(),
  gas: z
    .union([gasSchema, priorityFeeSchema, feerateSchema, energyPriceSchema, transferFeeSchema])
    .optional()
    .describe(
      'Wei per gas, millionths of a lamport per compute unit, satoshi per thousand virtual bytes, sun per energy and byte, or smallest units for each transfer',
    ),
  agreement: z
    .array(
      z.object({
        on: z.enum(agreedKinds),
        agreed: z.number().int().describe('Endpoint hosts that said the same'),
        required: z.number().int().describe('Hosts that must'),
        configured: z.number().int(),
        dissenting: z.number().int().describe('Endpoints that said something else about the same block'),
      }),
    )
    .describe('How many endpoints agreed on what was read last; with one configured nothing is agreed'),
  pools: z.object({
    state: z
      .enum(['live', 'unavailable'])
      .describe('"unavailable" when pools could not be read for the head'),
    configured: z.number().int(),
    mirrored: z.number().int(),
    leftOut: z.array(z.object({ pool: z.string(), reason: z.string() })),
  }),
  readAgeMs: ageMs.optional().describe('Time since the last successful refresh'),
  refresh: z
    .enum(['fresh', 'stale', 'expired', 'empty'])
    .describe('"stale" when refreshing fails for longer than three intervals'),
  consecutiveFailures: z.number().int(),
  lastError: z.string().optional().describe('Code of the last failure, while refreshing fails'),
})

/** Operators' view of a service's market: quote-api at `GET /prices/health`. */
export const marketHealthSchema = z.object({
  status: z.enum(['ok', 'degraded']).describe('"ok" when every price and every quotable chain is usable'),
  version: z.number().int().describe('Version of the market snapshot'),
  prices: z.array(priceSchema),
  chains: z.array(chainSchema),
})

export type MarketHealth = z.infer<typeof marketHealthSchema>

/** Provenance of every price and the state of every chain. Names no endpoint and no balance. */
export function describeMarket(facts: HealthFacts): MarketHealth {
  const prices = facts.plan.prices.map((price) => describePrice(price, facts))
  const chains = facts.plan.chains.map((chain) => describeChain(chain, facts))
  const usable =
    prices.every(({ confidence }) => confidence !== 'refused') &&
    chains.every(({ state, quotable }) => state === 'ok' || !quotable)
  return { status: usable ? 'ok' : 'degraded', version: facts.version, prices, chains }
}

const noSource: PriceRefusal = { reason: 'no_source' }

function describePrice(plan: PricePlan, { evaluation, nowMs }: HealthFacts): MarketHealth['prices'][number] {
  const { price, readings } = evaluation.prices.get(plan.key) ?? { price: noSource, readings: [] }
  const common = {
    key: plan.key,
    class: plan.assetClass,
    secondSource: plan.secondSource,
    sources: readings.map((reading) => describeSource(reading, nowMs)),
  }
  if ('reason' in price) return { ...common, confidence: 'refused', refusal: price.reason }
  return {
    ...common,
    usd: formatAmount(price.usdX18, 18),
    confidence: price.confidence,
    spreadBps: price.spreadBps.toString(),
    ...(price.depegBps !== undefined && { depegBps: price.depegBps.toString() }),
  }
}

function describeSource(
  reading: SourceReading,
  nowMs: number,
): MarketHealth['prices'][number]['sources'][number] {
  const { source, kind, readAtMs, block, result } = reading
  const common = {
    source,
    kind,
    ...(readAtMs !== undefined && { readAgeMs: nowMs - readAtMs }),
    ...(block !== undefined && { block: block.toString() }),
  }
  if ('fault' in result) return { ...common, state: 'faulty', fault: result.fault }
  return {
    ...common,
    state: isFresh(reading, nowMs) ? 'fresh' : 'stale',
    usd: formatAmount(result.usdX18, 18),
    ageMs: nowMs - result.updatedAtMs,
  }
}

function describeChain(plan: ChainPlan, facts: HealthFacts): MarketHealth['chains'][number] {
  const { chainKey, config, quotable } = plan
  const { nowMs } = facts
  const chainFacts = facts.chainFacts(chainKey)
  const state = facts.evaluation.chains.get(chainKey)?.state ?? { reason: 'no_data' as const }
  const { state: refresh, consecutiveFailures, lastError } = facts.refreshHealth(chainKey)
  return {
    chain: chainKey,
    chainId: config.chainId,
    quotable,
    state: 'reason' in state ? state.reason : 'ok',
    ...(chainFacts !== undefined && describeReading(chainFacts, nowMs)),
    agreement: [...(facts.agreementOf(chainKey) ?? [])].map(([on, { dissenting, ...report }]) => {
      return { on, ...report, dissenting: dissenting.length }
    }),
    pools: describePools(plan, chainFacts),
    refresh,
    consecutiveFailures,
    ...(consecutiveFailures > 0 && { lastError: errorCode(lastError) }),
  }
}

function describePools(
  { pools }: ChainPlan,
  facts: ChainFacts | undefined,
): MarketHealth['chains'][number]['pools'] {
  const leftOut = [...(facts?.reading.poolProblems ?? [])].map(([pool, reason]) => ({ pool, reason }))
  return {
    state: facts?.reading.poolsLive === true ? 'live' : 'unavailable',
    configured: pools.length,
    mirrored: facts?.reading.pools.length ?? 0,
    leftOut,
  }
}

function describeReading(
  { reading, readAtMs }: ChainFacts,
  nowMs: number,
): Pick<MarketHealth['chains'][number], 'head' | 'gas' | 'readAgeMs'> {
  const { number, hash, timestampSeconds } = reading.head
  const { shown: gas } = reading.fees
  return {
    head: {
      number: number.toString(),
      ...(hash !== undefined && { hash }),
      ageMs: nowMs - timestampSeconds * 1_000,
    },
    ...(gas !== undefined && { gas }),
    readAgeMs: nowMs - readAtMs,
  }
}

/** The code of an expected failure. Any other error is a bug, whose text is not shown to callers. */
function errorCode(error: unknown): string {
  return error instanceof DomainError ? error.code : 'INTERNAL'
}
