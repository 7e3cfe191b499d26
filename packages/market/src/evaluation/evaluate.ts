import { isDeepStrictEqual } from 'node:util'
import type { PoolState } from '@causeway/core'
import { chainChangesAtMs, chainState } from '../chain/chainState.ts'
import type { ChainPlan } from '../plan.ts'
import { aggregate } from '../prices/aggregate.ts'
import { classGuards } from '../prices/guards.ts'
import { type JumpState, settleJump } from '../prices/jump.ts'
import type { PricePlan } from '../prices/pricePlan.ts'
import { isFresh, type SourceReading } from '../prices/source.ts'
import type { ChainMarket, ChainRefusal, PriceRefusal, UsdPrice } from '../snapshot.ts'
import { createSourceReader, type MarketFacts, type SourceReader } from './readSources.ts'

/** One price, the readings that it was made of, and the state that its next evaluation needs. */
export type PriceEvaluation = {
  readonly price: UsdPrice | PriceRefusal
  readonly readings: readonly SourceReading[]
  readonly jump: JumpState
  /** Until this moment the same facts give the same price. */
  readonly changesAtMs: number
}

export type ChainEvaluation = {
  readonly state: ChainMarket | ChainRefusal
  /** Until this moment the same facts give the same state. */
  readonly changesAtMs: number
}

/** Everything that follows from the facts at one moment. */
export type Evaluation = {
  /** By price key. */
  readonly prices: ReadonlyMap<string, PriceEvaluation>
  /** By chain key. */
  readonly chains: ReadonlyMap<string, ChainEvaluation>
  readonly changesAtMs: number
}

/** Keys of prices and chains that are evaluated anew; all others are taken over from the evaluation before. */
export type Scope = { readonly prices: readonly string[]; readonly chains: readonly string[] }

/**
 * Derives prices and chain states from the facts. `marketState.ts` calls it for each new reading and when age alone
 * changes something. Pure. A value that did not change keeps its object, so that `===` tells what is new.
 */
export function evaluate(facts: MarketFacts, before?: Evaluation, scope?: Scope): Evaluation {
  const { plan } = facts
  const readSourcesOf = createSourceReader(facts)
  const prices = new Map(before?.prices)
  for (const [key, price] of plan.priceByKey) {
    if (scope?.prices.includes(key) === false) continue
    prices.set(key, evaluatePrice(price, { facts, readSourcesOf, before: before?.prices.get(key) }))
  }
  const chains = new Map(before?.chains)
  for (const [key, chain] of plan.chainByKey) {
    if (scope?.chains.includes(key) === false) continue
    chains.set(key, evaluateChain(chain, facts, before?.chains.get(key)))
  }
  let changesAtMs = Number.POSITIVE_INFINITY
  for (const price of prices.values()) changesAtMs = Math.min(changesAtMs, price.changesAtMs)
  for (const chain of chains.values()) changesAtMs = Math.min(changesAtMs, chain.changesAtMs)
  return { prices, chains, changesAtMs }
}

/**
 * Evaluates one price: all its readings give a candidate or a refusal, and `settleJump` then compares the
 * candidate with the last published price. A refused candidate leaves the state of jumps as it was.
 */
function evaluatePrice(
  plan: PricePlan,
  context: {
    readonly facts: MarketFacts
    readonly readSourcesOf: SourceReader
    readonly before: PriceEvaluation | undefined
  },
): PriceEvaluation {
  const { before, facts } = context
  const { nowMs, limits } = facts
  const { assetClass, hostsOf, secondSource } = plan
  const sourceRule = { hostsOf, secondSource }
  const readings = context.readSourcesOf(plan)
  const fresh = readings.filter((reading) => isFresh(reading, nowMs))
  // A value is still fresh at its last moment, so it changes one millisecond later.
  const expiries = fresh.map(({ result }) => result.freshUntilMs + 1)
  const candidate = aggregate({ ...sourceRule, readings, assetClass, nowMs })
  const jump = before?.jump ?? {}
  if ('reason' in candidate) {
    return { price: keep(before, candidate), readings, jump, changesAtMs: soonest(expiries, nowMs) }
  }
  const { jumpBps } = classGuards[assetClass]
  const verdict = settleJump({
    ...sourceRule,
    state: jump,
    candidate,
    readings: fresh,
    jumpBps,
    holdMaxMs: limits.priceHoldMaxMs,
    nowMs,
  })
  const changesAtMs = soonest([...expiries, verdict.changesAtMs], nowMs)
  return { price: keep(before, verdict.price), readings, jump: verdict.state, changesAtMs }
}

/** The earlier object where the price did not change. */
function keep(before: PriceEvaluation | undefined, next: UsdPrice | PriceRefusal): UsdPrice | PriceRefusal {
  return before !== undefined && isDeepStrictEqual(before.price, next) ? before.price : next
}

function evaluateChain(
  { chainKey, config }: ChainPlan,
  { chains, limits, nowMs }: MarketFacts,
  before: ChainEvaluation | undefined,
): ChainEvaluation {
  const facts = chains.get(chainKey)
  const next = chainState({ facts, config, limits, nowMs })
  const state = before !== undefined && sameChain(before.state, next) ? before.state : next
  return {
    state,
    changesAtMs: facts === undefined ? Infinity : soonest(chainChangesAtMs(facts, config, limits), nowMs),
  }
}

/** The earliest of the moments in the future; `Infinity` without any. */
function soonest(moments: readonly number[], nowMs: number): number {
  return Math.min(...moments.filter((atMs) => atMs > nowMs))
}

/** True if both are equal apart from the time of their last reading. */
function sameChain(a: ChainMarket | ChainRefusal, b: ChainMarket | ChainRefusal): boolean {
  if ('reason' in a || 'reason' in b) return isDeepStrictEqual(a, b)
  return (
    a.head.hash === b.head.hash &&
    a.head.number === b.head.number &&
    a.head.timestampSeconds === b.head.timestampSeconds &&
    a.fees.equals(b.fees) &&
    isDeepStrictEqual(a.inventory, b.inventory) &&
    isDeepStrictEqual(a.pools.map(poolVersion), b.pools.map(poolVersion))
  )
}

/** A pool's state is fixed by its address and the block it was read at. */
const poolVersion = ({ address, blockHash }: PoolState): string => `${address} ${blockHash}`
