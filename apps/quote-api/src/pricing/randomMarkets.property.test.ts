// Goal: over random markets (prices, decimals 0 to 24, pools, gas), amounts from 1 unit to 2^128 and all
// trade types, an accepted price satisfies the sum of rule Q-150 to the last unit, and never promises
// what its legs do not give. Refusals are typed.
import { DomainError } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen } from '../../test/fixtures/leastSeen.ts'
import {
  attempt,
  checkPriced,
  randomMarket,
  randomRequest,
  steppingClock,
  toRequest,
} from '../../test/fixtures/randomMarkets.ts'
import { tradeTypes } from './request.ts'

describe('accepted prices over random markets', () => {
  test('Q-150: satisfy the identity, for every path and trade type, often enough to mean something', async () => {
    const accepted = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(randomMarket, randomRequest, async (m, r) => {
        const asked = toRequest(m, r)
        const outcome = await attempt(m, asked, undefined, steppingClock())
        if (outcome instanceof DomainError) return
        checkPriced(outcome, asked)
        const kind = `${r.path} ${r.tradeType}`
        accepted.set(kind, (accepted.get(kind) ?? 0) + 1)
      }),
      { numRuns: 3_000, endOnFailure: true },
    )
    for (const path of ['direct', 'swap-in', 'swap-out', 'both']) {
      for (const tradeType of tradeTypes) {
        expect(accepted.get(`${path} ${tradeType}`) ?? 0, `${path} ${tradeType}`).toBeGreaterThanOrEqual(
          leastSeen(15, 3_000),
        )
      }
    }
  })

  test('Q-151: an exact input priced back as an exact output never costs more', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(randomMarket, randomRequest, async (m, r) => {
        const forward = toRequest(m, { ...r, tradeType: 'EXACT_INPUT', path: 'direct' })
        const out = await attempt(m, forward)
        if (out instanceof DomainError) return
        const back = await attempt(m, { ...forward, tradeType: 'EXACT_OUTPUT', amount: out.amountOut })
        if (back instanceof DomainError) return
        compared += 1
        expect(back.amountIn).toBeLessThanOrEqual(forward.amount)
      }),
      { numRuns: 500, endOnFailure: true },
    )
    expect(compared).toBeGreaterThanOrEqual(leastSeen(50, 500))
  })
})
