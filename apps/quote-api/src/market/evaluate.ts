import { chainChangesAtMs, chainState } from './chainState.ts'
import type { PricePlan } from './plan.ts'
import { aggregate } from './prices/aggregate.ts'
import { classGuards } from './prices/guards.ts'
import { type JumpState, settleJump } from './prices/jump.ts'
import { readSources, type SourceFacts } from './prices/readSources.ts'
import { isFresh, type SourceReading } from './prices/source.ts'
import type { ChainMarket, ChainRefusal, PriceRefusal, UsdPrice } from './snapshot.ts'

/** One price with what it was made of. */
export type PriceEvaluation = {
  readonly price: UsdPrice | PriceRefusal
  readonly readings: readonly SourceReading[]
}

/** Everything that follows from the facts at one moment. */
export type Evaluation = {
  readonly prices: ReadonlyMap<string, PriceEvaluation>
  /** By chain id; chains that are only read for their feeds are absent. */
  readonly chains: ReadonlyMap<number, ChainMarket | ChainRefusal>
  readonly jumps: ReadonlyMap<string, JumpState>
  /** Until this moment the same facts give the same values. */
  readonly changesAtMs: number
}

/** Pure: the same facts, jump states and moment give the same evaluation. */
export function evaluate(facts: SourceFacts, jumps: ReadonlyMap<string, JumpState>): Evaluation {
  const { plan, limits, nowMs } = facts
  const readings = readSources(facts)
  const verdicts = plan.prices.map((price) =>
    evaluatePrice(price, {
      readings: readings.get(price.key) ?? [],
      state: jumps.get(price.key) ?? {},
      facts,
    }),
  )
  const chains = plan.chains.filter(({ quotable }) => quotable)
  const changes = [
    ...verdicts.map(({ changesAtMs }) => changesAtMs),
    ...plan.chains.flatMap(({ chainKey, config }) => {
      const chainFacts = facts.chains.get(chainKey)
      return chainFacts === undefined ? [] : chainChangesAtMs(chainFacts, config, limits)
    }),
  ]
  return {
    prices: new Map(verdicts.map(({ key, price, readings }) => [key, { price, readings }])),
    chains: new Map(
      chains.map(({ chainKey, config }) => [
        config.chainId,
        chainState({ facts: facts.chains.get(chainKey), config, limits, nowMs }),
      ]),
    ),
    jumps: new Map(verdicts.map(({ key, state }) => [key, state])),
    changesAtMs: Math.min(...changes.filter((atMs) => atMs > nowMs)),
  }
}

type PriceVerdict = PriceEvaluation & {
  readonly key: string
  readonly state: JumpState
  readonly changesAtMs: number
}

function evaluatePrice(
  { key, assetClass }: PricePlan,
  args: {
    readonly readings: readonly SourceReading[]
    readonly state: JumpState
    readonly facts: SourceFacts
  },
): PriceVerdict {
  const { readings, state, facts } = args
  const { nowMs, limits } = facts
  const fresh = readings.filter((reading) => isFresh(reading, nowMs))
  const expiresAtMs = Math.min(...fresh.map(({ result }) => result.freshUntilMs + 1))
  const candidate = aggregate({ readings, assetClass, nowMs })
  if ('reason' in candidate) return { key, readings, price: candidate, state, changesAtMs: expiresAtMs }

  const { jumpBps } = classGuards[assetClass]
  const { priceHoldMaxMs: holdMaxMs } = limits
  const verdict = settleJump({ state, candidate, readings: fresh, jumpBps, holdMaxMs, nowMs })
  const { published, pending } = verdict.state
  const holdEndsAtMs =
    published === undefined || pending === undefined ? Infinity : published.readAtMs + holdMaxMs + 1
  const changesAtMs = holdEndsAtMs > nowMs ? Math.min(expiresAtMs, holdEndsAtMs) : expiresAtMs
  return { key, readings, price: verdict.price, state: verdict.state, changesAtMs }
}
