// Goal: what a sponsor pays for a word is what the answer shows under the members that the word stands for, and the
// words together are what is paid without any. Attack: a word that buys less than its member of `fees` says, so that
// an integrator promises its users what they pay themselves; one that buys more, at the sponsor's cost; an app fee or
// the user's own gas drawn from a sponsor. Method: random markets with costs and rewards, requests without a cap.
import { DomainError, feesByComponent, type SponsoredWord, sponsoredWords } from '@causeway/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen } from '../../../test/fixtures/leastSeen.ts'
import { attempt, randomMarket, randomRequest, toRequest } from '../../../test/fixtures/randomMarkets.ts'
import { toSponsorshipRequest } from '../../http/wire/quoteBody.ts'
import type { FeeSplit } from '../fees/solve.ts'
import { sponsorshipTerms } from './sponsorshipTerms.ts'
import { subsidyRule } from './subsidyRule.ts'

const usdc = { asset: { id: 'usdc' }, usdX18: 10n ** 18n }

/** No market here has rent; `rent` has rows of its own in the decision table. */
const bought: Readonly<Record<SponsoredWord, (split: FeeSplit) => bigint>> = {
  gas: ({ relayerGas }) => relayerGas,
  // A reward offsets nothing, and what an exact output leaves over is no cost.
  relayer: ({ relayer, parts }) => relayer + rewardOf(parts) - parts.surplus,
  execution: ({ parts }) => feesByComponent(parts).execution,
  swap: ({ parts }) => feesByComponent(parts).swap + rewardOf(parts),
  relay: ({ parts }) => feesByComponent(parts).relay - parts.surplus,
  app: () => 0n,
  rent: () => 0n,
}

function rewardOf({ skew }: FeeSplit['parts']): bigint {
  return skew < 0n ? -skew : 0n
}

/** The rule of a request with these words, or without any. */
function ruleOf(words: readonly SponsoredWord[] | undefined) {
  const sponsorship = toSponsorshipRequest({
    ...bodyOfNobody,
    subsidizeFees: true,
    ...(words && { sponsoredFeeComponents: [...words] }),
  })
  if (sponsorship === undefined) throw new Error('it asks for a sponsor')
  const caller = { keyId: 'key', wallet: `0x${'5'.repeat(40)}` } as const
  const terms = sponsorshipTerms(sponsorship, caller, { useDepositAddress: false })
  if ('reason' in terms) throw new Error(terms.reason)
  return subsidyRule(terms, usdc)
}

const bodyOfNobody = {
  user: '',
  originChainId: 1,
  originCurrency: '',
  destinationChainId: 1,
  destinationCurrency: '',
  amount: '1',
  tradeType: 'EXACT_INPUT' as const,
}

test('Q-30: each word buys what its member of the answer holds, over markets, paths and trade types', async () => {
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  await fc.assert(
    fc.asyncProperty(randomMarket, randomRequest, fc.constantFrom(...sponsoredWords), async (m, r, word) => {
      const priced = await attempt(m, toRequest(m, r), ruleOf([word]))
      if (priced instanceof DomainError) return
      const { split } = priced
      expect(split.subsidized, word).toBe(bought[word](split))
      const { execution, swap, relay, rent } = feesByComponent(split.parts)
      expect(execution + swap + relay + rent).toBe(split.relayer)
      expect(split.parts.surplus).toBeLessThan(10n)
      count(word)
      if (split.app > 0n) count('with app fees')
      if (split.parts.skew < 0n) count('rewarded')
    }),
    { numRuns: 400, endOnFailure: true },
  )
  for (const what of [...sponsoredWords, 'with app fees', 'rewarded'])
    expect(seen.get(what) ?? 0, what).toBeGreaterThanOrEqual(leastSeen(8, 400))
})

test('Q-31: the words together buy what subsidizeFees alone does, which is all that relayer buys', async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(randomMarket, randomRequest, async (m, r) => {
      // With an input given, all of these have the same fees.
      const asked = toRequest(m, { ...r, tradeType: 'EXACT_INPUT' })
      const paid = async (named: readonly SponsoredWord[] | undefined) => {
        const priced = await attempt(m, asked, ruleOf(named))
        return priced instanceof DomainError ? undefined : priced.split.subsidized
      }
      const apart = [await paid(['execution']), await paid(['swap']), await paid(['relay'])]
      if (apart.includes(undefined)) return
      compared += 1
      const together = apart.reduce((sum: bigint, part = 0n) => sum + part, 0n)
      for (const named of [undefined, ['execution', 'swap', 'relay'], ['relayer'], sponsoredWords] as const)
        expect(await paid(named)).toBe(together)
    }),
    { numRuns: 300, endOnFailure: true },
  )
  expect(compared).toBeGreaterThanOrEqual(leastSeen(30, 300))
})
