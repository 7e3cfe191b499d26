import { expect, test } from 'vitest'
import { timeLimitsCheck } from './timeLimits.ts'

const problems = (text: string, path = 'apps/a/src/a.ts') => timeLimitsCheck.find([{ path, text }]).length

test('time limits that may never fire are refused', () => {
  const call = ['AbortSignal', 'any([signal, AbortSignal.timeout(5)])'].join('.')
  expect(problems(`fetch(url, { signal: ${call} })`)).toBe(1)
  expect(problems(call, 'packages/core/src/a.ts')).toBe(1)
  expect(problems(call, 'docs/page.md')).toBe(0)
  // Of controllers that are held.
  expect(problems(call, 'packages/localnet/src/a.ts')).toBe(0)
  expect(problems('fetch(url, { signal: AbortSignal.timeout(5) })')).toBe(0)
})
