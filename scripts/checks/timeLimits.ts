import type { Check } from './finding.ts'

const shipped = /^(apps|packages(?!\/localnet))\/.*\.ts$/

/**
 * What is shipped ends its calls in time, which a signal of `AbortSignal.any` may not: see `startDeadline`
 * of core.
 */
export const timeLimitsCheck: Check = {
  name: 'time limits',
  find: (files) =>
    files
      .filter(({ path, text }) => shipped.test(path) && /\bAbortSignal\s*\.any\(/.test(text))
      .map(({ path }) => ({ file: path, problem: 'AbortSignal.any may never fire; use startDeadline' })),
}
