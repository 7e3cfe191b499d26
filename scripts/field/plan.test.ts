// Goal: whoever lends a key and a sum loses no more than the sum. Attacks: a step that costs more than is left, money that
// is lent on a machine that is lost, a rounding that gives a step away, words that promise less than is spent.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  announce,
  type ChainCosts,
  firstAbove,
  freeStep,
  isWithin,
  microUsdOf,
  neededWei,
  planSteps,
  weiOf,
} from './plan.ts'
import { renderPlan } from './report.ts'

const sepolia: ChainCosts = {
  chain: 'sepolia',
  microUsdPerCoin: 3_000_000_000n,
  gasPriceMaxWei: 4_000_000_000n,
  dataFeeMaxWei: 0n,
  transferGasMax: 60_000n,
  deployMaxWei: 10_000_000_000_000_000n,
}
const base: ChainCosts = {
  chain: 'base',
  microUsdPerCoin: 3_000_000_000n,
  gasPriceMaxWei: 10_000_000n,
  dataFeeMaxWei: 1_000_000_000n,
  transferGasMax: 60_000n,
  deployMaxWei: 0n,
}

test('O-110: a plan has every step in its order, and pays each chain from each other one', () => {
  const kinds = planSteps([sepolia, base], { isCompared: true }).map(({ kind, chain, to }) =>
    [kind, chain, to].filter(Boolean).join(' '),
  )
  expect(kinds).toEqual([
    ...['deploy sepolia', 'lend sepolia', 'lend base', 'start'],
    ...['quote', 'deposit', 'fill', 'attest', 'compare'].map((kind) => `${kind} sepolia base`),
    ...['quote', 'deposit', 'fill', 'attest', 'compare'].map((kind) => `${kind} base sepolia`),
  ])
  const alone = planSteps([sepolia, base], { isCompared: false })
  expect(alone.some(({ kind }) => kind === 'compare')).toBe(false)
})

test('O-110: each step is said with the most that it may spend, before anything is sent', () => {
  const [deploy] = planSteps([sepolia, base], { isCompared: false })
  expect(deploy && announce(deploy)).toBe('deploy sepolia: spends at most 30 USD (0.01 coins on sepolia)')
  expect(announce(freeStep('fill', { chain: 'base', to: 'sepolia' }))).toBe(
    'fill base to sepolia: spends nothing',
  )
  const steps = planSteps([sepolia, base], { isCompared: false })
  const above = firstAbove(steps, 20_000_000n)
  expect(above?.kind).toBe('deploy')
  expect(renderPlan(steps, { sumMicroUsd: 20_000_000n, above }).at(-1)).toContain('deploy sepolia')
  expect(firstAbove(steps, 1_000_000_000n)).toBeUndefined()
})

const costs = (chain: string) =>
  fc.record({
    chain: fc.constant(chain),
    microUsdPerCoin: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    gasPriceMaxWei: fc.bigInt({ min: 1n, max: 10n ** 13n }),
    dataFeeMaxWei: fc.bigInt({ min: 0n, max: 10n ** 16n }),
    transferGasMax: fc.bigInt({ min: 21_000n, max: 10n ** 6n }),
    deployMaxWei: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  })

test('O-110: whatever chains cost and steps take of their most, no more than the sum ever leaves the account', () => {
  const chains = fc.tuple(costs('one'), costs('two'), costs('three'))
  const shares = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(chains, fc.bigInt({ min: 0n, max: 10n ** 9n }), shares, (all, sumMicroUsd, parts) => {
      const leftWei = new Map<string, bigint>()
      const outlay = () =>
        all.reduce((sum, one) => sum + microUsdOf(leftWei.get(one.chain) ?? 0n, one.microUsdPerCoin), 0n)
      for (const [index, step] of planSteps(all, { isCompared: true }).entries()) {
        if (!isWithin(step, { outlayMicroUsd: outlay(), sumMicroUsd })) break
        const spent = (step.maxWei * BigInt(parts[index % parts.length] ?? 100)) / 100n
        leftWei.set(step.chain ?? '', (leftWei.get(step.chain ?? '') ?? 0n) + spent)
        if (step.maxWei > 0n) expect(outlay()).toBeLessThanOrEqual(sumMicroUsd)
      }
    }),
  )
})

test('O-110: a coin is never said to be worth less than it is, nor a USD to be fewer coins', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 24n }),
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      (wei, microUsdPerCoin) => {
        const microUsd = microUsdOf(wei, microUsdPerCoin)
        expect(microUsd * 10n ** 18n).toBeGreaterThanOrEqual(wei * microUsdPerCoin)
        expect(microUsdOf(weiOf(microUsd, { microUsdPerCoin }), microUsdPerCoin)).toBeGreaterThanOrEqual(
          microUsd,
        )
        // A gain is rounded down.
        expect(microUsdOf(-wei, microUsdPerCoin) * 10n ** 18n).toBeGreaterThanOrEqual(-wei * microUsdPerCoin)
      },
    ),
  )
})

test('O-110: an account is told what all steps of a chain may need of its coin', () => {
  const steps = planSteps([sepolia, base], { isCompared: false })
  const paid = steps.filter(({ chain, maxWei }) => chain === 'sepolia' && maxWei > 0n)
  expect(paid.map(({ kind }) => kind)).toEqual(['deploy', 'lend', 'deposit'])
  expect(neededWei(steps, 'sepolia')).toBe(paid.reduce((sum, { maxWei }) => sum + maxWei, 0n))
})
