// Goal: a payment is attested when enough oracles signed it, refused when so many refuse it that the others are too few,
// and open in between; one oracle that lies or is silent decides nothing. And nothing is sold where little room is left.
import { type ExposureLimits, exposureLimitsOf } from '@causeway/core/config'
import { expect, test } from 'vitest'
import { chainExposures, type Figures, fullChains } from '../wallet/exposure.ts'
import { judgeAnswers } from './attestations.ts'

const signed = { said: 'signed', signer: `0x${'11'.repeat(20)}`, signature: '0x' } as const
const denied = { said: 'denied', code: 'INSUFFICIENT_FILL' } as const
const silent = { said: 'nothing', code: 'TRANSACTION_NOT_FINAL' } as const

test.each([
  ['two of three sign', [signed, denied, signed], 'attested'],
  ['one refuses and one is silent', [signed, denied, silent], 'open'],
  ['two of three refuse', [denied, signed, denied], 'refused'],
  ['all are silent', [silent, silent, silent], 'open'],
] as const)('L-20, L-22: %s', (_what, answers, kind) => {
  const answer = judgeAnswers(answers, 2)
  expect(answer.kind).toBe(kind)
  if (answer.kind === 'refused') expect(answer.code).toBe('INSUFFICIENT_FILL')
})

const limits: ExposureLimits = { chainMicroUsd: 100n, allMicroUsd: 150n, refusedMicroUsd: 1n }
const chains = [1, 2].map((chainId) => ({ chainId, limits }))
const sums = (...payments: readonly bigint[]): Figures =>
  new Map(
    payments.map((sum, index) => [index + 1, { payments: sum, claims: 999n, others: 999n, refused: 999n }]),
  )

test.each([
  ['nothing is open', sums(), []],
  ['less than four fifths', sums(79n, 0n), []],
  ['four fifths of one chain', sums(80n, 0n), [1]],
  ['four fifths of all together', sums(60n, 60n), [1, 2]],
] as const)('L-21: nothing is sold where there is little room: %s', (_what, figures, full) => {
  expect(fullChains(figures, chains)).toEqual(full)
})

test('Q-136: what is told of each chain and of all is what payments count, against its own cap', () => {
  expect(chainExposures(sums(80n), chains)).toEqual([
    { chainId: 0, paidMicroUsd: 80n, maxMicroUsd: 150n },
    { chainId: 1, paidMicroUsd: 80n, maxMicroUsd: 100n },
    { chainId: 2, paidMicroUsd: 0n, maxMicroUsd: 100n },
  ])
  expect(chainExposures(sums(), [])).toEqual([])
})

test('L-21: a file without limits has those that its page names', () => {
  expect(exposureLimitsOf({}, {})).toEqual({
    chainMicroUsd: 500_000_000_000n,
    allMicroUsd: 2_000_000_000_000n,
    refusedMicroUsd: 100_000_000n,
  })
  const own = { unattestedMaxMicroUsd: 7n }
  expect(exposureLimitsOf({ ...own, refusedMaxMicroUsd: 0n }, { unattestedMaxMicroUsd: 5n })).toEqual({
    chainMicroUsd: 5n,
    allMicroUsd: 7n,
    refusedMicroUsd: 0n,
  })
})
