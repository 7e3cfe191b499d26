// Goal: a price depends on what chains say, never on when they say it. Adversary: a chain whose answers come in any order,
// while others are there at once. Method: random markets, requests and facts of accounts; each is priced with all facts in
// memory, which needs no wait, and with each fact after some turns of its own.
import { setImmediate as turn } from 'node:timers/promises'
import { DomainError, type MaybePromise } from '@causeway/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  pricingOf,
  randomMarket,
  randomRequest,
  steppingClock,
  toRequest,
} from '../../test/fixtures/randomMarkets.ts'
import { priceToJson } from '../http/wire/priceResponse.ts'
import { noReward } from './openQuotes/rewardLimit.ts'
import { type PricedRequest, priceRequest } from './priceRequest.ts'
import type { PricingDependencies } from './pricingDependencies.ts'

const randomFacts = fc.record({
  balance: fc.option(fc.bigInt({ min: 0n, max: 10n ** 24n }), { nil: undefined }),
  allowance: fc.option(fc.constantFrom(0n, 10n ** 30n), { nil: undefined }),
  hasCode: fc.constantFrom(false, false, true, undefined),
  isKnown: fc.constantFrom(true, true, true, true, false),
  refusal: fc.constantFrom(undefined, undefined, undefined, undefined, 'cannot be paid'),
  units: fc.option(fc.bigInt({ min: 21_000n, max: 900_000n }), { nil: undefined }),
  callUnits: fc.bigInt({ min: 0n, max: 900_000n }),
})
type Facts = typeof randomFacts extends fc.Arbitrary<infer T> ? T : never
type Ports = Pick<PricingDependencies, 'userFacts' | 'hasCode' | 'lackOf' | 'tryPayment' | 'tryFill'>

function portsAtOnce({ balance, allowance, hasCode, isKnown, refusal, units, callUnits }: Facts): Ports {
  return {
    userFacts: () => ({
      ...(balance !== undefined && { balance }),
      ...(allowance !== undefined && { allowance }),
    }),
    hasCode: () => hasCode,
    lackOf: () => (isKnown ? {} : undefined),
    // Code may take more for a larger amount.
    tryPayment: ({ amount }) => ({
      refusal,
      ...(units !== undefined && { units: units + (amount % 1_000n) }),
    }),
    tryFill: () => callUnits,
  }
}

/** The same ports, each of whose answers comes after some turns of the event loop. */
function portsLater(ports: Ports, turns: readonly number[]): Ports {
  let asked = 0
  const later =
    <Question, Answer>(port: (question: Question) => MaybePromise<Answer>) =>
    async (question: Question): Promise<Answer> => {
      const wait = turns[asked % turns.length] ?? 1
      asked += 1
      for (let passed = 0; passed < wait; passed += 1) await turn()
      return port(question)
    }
  return {
    userFacts: later(ports.userFacts),
    hasCode: later(ports.hasCode),
    lackOf: later(ports.lackOf),
    tryPayment: later(ports.tryPayment),
    tryFill: later(ports.tryFill),
  }
}

const shown = ({ solver, refundAccounts, transactions, ...priced }: PricedRequest) => ({
  json: priceToJson({ solver, refundAccounts, transactions, ...priced }),
  solver,
  refundAccounts,
  transactions,
})

async function outcomeOf(price: () => unknown): Promise<unknown> {
  try {
    return await price()
  } catch (error) {
    if (error instanceof DomainError) return { code: error.code, message: error.message, data: error.data }
    throw error
  }
}

test('Q-180: is the same at once and after waits', async () => {
  const seen = { priced: 0, refused: 0 }
  const turnsOfChains = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(
      randomMarket,
      randomRequest,
      randomFacts,
      turnsOfChains,
      async (market, random, facts, turns) => {
        const request = toRequest(market, random)
        const parts = { ...pricingOf(market), reactionMsOf: () => undefined }
        const priceBy = (ports: Ports) =>
          priceRequest({ ...parts, ...ports, clock: steppingClock() }, request, { rewards: noReward })
        const ports = portsAtOnce(facts)
        const atOnce = await outcomeOf(() => {
          const priced = priceBy(ports)
          if (priced instanceof Promise) throw new Error('it waits although all is in memory')
          return shown(priced)
        })
        const later = await outcomeOf(async () => shown(await priceBy(portsLater(ports, turns))))
        expect(later).toEqual(atOnce)
        seen[typeof atOnce === 'object' && atOnce !== null && 'json' in atOnce ? 'priced' : 'refused'] += 1
      },
    ),
    { numRuns: 500, endOnFailure: true },
  )
  const fewer = Math.min(seen.priced, seen.refused)
  expect(fewer / (seen.priced + seen.refused)).toBeGreaterThan(0.05)
})
